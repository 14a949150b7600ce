from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ReviewsConfig(AppConfig):
    name = "reviews"
    verbose_name = _("Reviews")

    def ready(self) -> None:
        from reviews.actions import complete_actions  # noqa: PLC0415 - models are loaded by now
        from reviews.quality.rates import complete_rates  # noqa: PLC0415
        from reviews.roles import complete_roles  # noqa: PLC0415

        # Permissions come into being after `migrate`, not in a migration; Django's own
        # receiver makes those of all apps before this one runs, for this app comes last.
        post_migrate.connect(complete_roles, sender=self, dispatch_uid="reviews.roles")
        # Emptied tables (`flush`) get the first actions and rates again; where they stand it does
        # nothing.
        post_migrate.connect(complete_actions, sender=self, dispatch_uid="reviews.actions")
        post_migrate.connect(complete_rates, sender=self, dispatch_uid="reviews.rates")
