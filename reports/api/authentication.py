"""Which sender is this? `Authorization: Bearer <key>`."""

import secrets
from typing import cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from reports.models import ApiKey, Sender
from reports.senders import digest_secret


class ApiKeyAuthentication(BaseAuthentication):
    """Answers 401 for a missing, unknown or revoked key, 403 for an inactive sender."""

    def authenticate(self, request: Request) -> tuple[Sender, ApiKey]:
        scheme, _, credentials = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer" or not credentials:
            raise AuthenticationFailed("Send your key as `Authorization: Bearer <key>`.")
        prefix, _, secret = credentials.strip().decode("latin-1").partition(".")
        key = (
            ApiKey.objects.select_related("sender")
            .filter(prefix=prefix[:12], revoked_at=None)
            .first()
            if prefix.isalnum() and prefix.isascii()
            else None
        )
        if key is None or not secrets.compare_digest(key.digest, digest_secret(secret)):
            raise AuthenticationFailed("This key is unknown or was revoked.")
        if not key.sender.is_active:
            raise PermissionDenied("This sender is not active.")
        return key.sender, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        return 'Bearer realm="reports"'


def sender_of(request: Request) -> Sender:
    """The authenticated sender of a request."""
    return cast("ApiKey", request.auth).sender


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped base
    """How the OpenAPI document names the authentication."""

    target_class = ApiKeyAuthentication
    name = "ApiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer"}
