"""A person's permissions, their own and their groups', in one statement instead of Django's two."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Permission
from django.db.models import Q

_KEPT = "_every_permission"  # for as long as the request's user lives


class OneStatementBackend(ModelBackend):
    """As `ModelBackend`; every page asks this, so a statement less is one less on each."""

    def get_all_permissions(
        self, user_obj: AbstractBaseUser | AnonymousUser, obj: Any = None
    ) -> set[str]:
        if not user_obj.is_active or user_obj.is_anonymous or obj is not None:
            return set()
        found: set[str] | None = getattr(user_obj, _KEPT, None)
        if found is None:
            held = Permission.objects.order_by()
            if not getattr(user_obj, "is_superuser", False):
                held = held.filter(
                    Q(pk__in=Permission.objects.filter(user=user_obj.pk).values("pk"))
                    | Q(pk__in=Permission.objects.filter(group__user=user_obj.pk).values("pk"))
                )
            named = held.values_list("content_type__app_label", "codename")
            found = {f"{app}.{codename}" for app, codename in named}
            setattr(user_obj, _KEPT, found)
        return found
