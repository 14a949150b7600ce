"""The admin of accounts and groups: who may do what is a state, and each change of it is audited."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator

from reports.admin import AnyModelAdmin, person
from reports.admin.evidence import BoundedPaginator
from reports.audit import write_audit

if TYPE_CHECKING:  # generic for the type checker only
    AnyUserAdmin = UserAdmin[User]
else:
    AnyUserAdmin = UserAdmin

admin.site.unregister([User, Group])


class Audited(AnyModelAdmin):
    """Writes the product's audit where Django writes its log: once for each change, in its transaction."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001
        if form.changed_data or not change:
            super().save_model(request, obj, form, change)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._audit(request, obj, "added", _fields(message))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        if fields := _fields(message):
            self._audit(request, obj, "changed", fields)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for each in queryset:
            self._audit(request, each, "deleted", [])
        return super().log_deletions(request, queryset)

    def _audit(self, request: HttpRequest, obj: Any, what: str, fields: list[str]) -> None:
        write_audit(
            action=f"{obj._meta.model_name}_{what}",
            of=obj,
            actor=person(request),
            detail={"fields": fields, **self.rights_of(obj)},
        )

    def rights_of(self, obj: Any) -> dict[str, Any]:
        """What the account or group may do after the change."""
        raise NotImplementedError


@admin.register(User)
class AccountAdmin(Audited, AnyUserAdmin):
    """An account is never deleted, for what its person did bears its name: it is made inactive."""

    actions: Any = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def rights_of(self, obj: User) -> dict[str, Any]:
        return {
            "active": obj.is_active,
            "staff": obj.is_staff,
            "superuser": obj.is_superuser,
            "groups": sorted(obj.groups.values_list("name", flat=True)),
            "permissions": _names(obj.user_permissions.all()),
        }

    # Django's own saves and logs without a transaction around both.
    @method_decorator(transaction.atomic)
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        return super().user_change_password(request, id, form_url)


@admin.register(Group)
class RoleAdmin(Audited, GroupAdmin):
    # One at a time, in a transaction with its audit.
    actions: Any = None

    def rights_of(self, obj: Group) -> dict[str, Any]:
        return {"name": obj.name, "permissions": _names(obj.permissions.all())}


@transaction.atomic
def change_own_password(request: HttpRequest) -> HttpResponse:
    """Django's page, with an audit row where it changed the password."""
    answer = admin.site.password_change(request)
    if request.method == "POST" and answer.status_code == HTTPStatus.FOUND:
        write_audit(action="password_changed", of=person(request), actor=person(request))
    return answer


def _names(permissions: QuerySet[Permission]) -> list[str]:
    rows = permissions.order_by("content_type__app_label", "codename")
    return [
        f"{app}.{name}" for app, name in rows.values_list("content_type__app_label", "codename")
    ]


def _fields(message: Any) -> list[str]:
    """The names of the fields in Django's message of a change, as the form calls them in English."""
    return [str(name) for each in message for name in each.get("changed", {}).get("fields", [])]
