"""Who is logged in, read in two statements a page rather than four."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User
from django.db.models import Q

_CACHE = "_perm_cache"  # Django's own name


class Accounts(ModelBackend):
    """Django's accounts. The person comes with their preferences, their permissions all at once."""

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.select_related("review_preferences").filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if user_obj.is_superuser or not user_obj.is_active or obj is not None:
            return super().get_all_permissions(user_obj, obj)
        cached: set[str] | None = vars(user_obj).get(_CACHE)
        if cached is None:
            own, groups = (
                Permission.objects.filter(**{path: user_obj}) for path in ("user", "group__user")
            )
            held = Permission.objects.filter(Q(pk__in=own) | Q(pk__in=groups)).order_by()
            names = held.values_list("content_type__app_label", "codename")
            cached = vars(user_obj)[_CACHE] = {f"{app}.{codename}" for app, codename in names}
        return cached
