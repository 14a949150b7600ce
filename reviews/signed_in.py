"""Who is signed in, with their preferences and permissions: one statement each a request."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User


class SignedIn(ModelBackend):
    """Django's own, which would ask for what a person may do, and then for what their groups may."""

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.select_related("review_preferences").filter(pk=user_id).first()
        return user if user and self.user_can_authenticate(user) else None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if user_obj.is_superuser or not user_obj.is_active or user_obj.is_anonymous or obj:
            return super().get_all_permissions(user_obj, obj)
        # Under the name that Django's own keeps them by.
        if not hasattr(user_obj, "_perm_cache"):
            through_groups = Permission.objects.filter(group__user=user_obj)
            every = user_obj.user_permissions.order_by().union(through_groups.order_by())
            names = every.values_list("content_type__app_label", "codename")
            user_obj._perm_cache = {f"{app}.{codename}" for app, codename in names}  # noqa: SLF001
        return set(user_obj._perm_cache)  # noqa: SLF001
