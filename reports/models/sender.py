from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Sender(models.Model):
    """A platform that delivers reports. Everything it sends and reads is scoped to it."""

    name = models.SlugField(_("name"), max_length=64, unique=True)
    is_active = models.BooleanField(
        _("active"), default=True, help_text=_("An inactive sender's keys answer 403.")
    )
    latency_budget = models.DurationField(
        _("latency budget"),
        default=timedelta(minutes=5),
        help_text=_("After this a report without a verdict is shown as overdue."),
    )
    returns_from = models.PositiveSmallIntegerField(
        _("reporters that bring back"),
        default=3,
        db_default=3,
        help_text=_("So many different people bring back what was judged safe or resolved."),
    )
    returns_within = models.DurationField(
        _("within"),
        default=timedelta(hours=24),
        db_default=timedelta(hours=24),
        help_text=_("The time in which they are counted."),
    )
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)

    is_authenticated: ClassVar[bool] = True  # what DRF's permission asks of a request's principal

    class Meta:
        verbose_name = _("sender")
        verbose_name_plural = _("senders")
        constraints = [
            models.CheckConstraint(
                name="sender_latency_budget_is_positive",
                condition=models.Q(latency_budget__gt=timedelta(0)),
            ),
            models.CheckConstraint(
                name="sender_returns_by_several_within_a_time",
                condition=models.Q(returns_from__gte=2, returns_within__gt=timedelta(0)),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A sender's key. Only the digest of its secret is stored; the key is shown once."""

    sender = models.ForeignKey(
        Sender, models.PROTECT, related_name="api_keys", verbose_name=_("sender")
    )
    prefix = models.CharField(_("prefix"), max_length=12, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")

    def __str__(self) -> str:
        return f"{self.prefix}…"
