from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class AuditEntry(models.Model):
    """Who changed what, and when. Append-only: a trigger refuses change and deletion.

    `actor` is the person, `actor_name` what stood there at the time ("dana", "command replay").
    `detail` is JSON without personal text.
    """

    at = models.DateTimeField(_("at"), db_default=Now(), editable=False)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("actor"),
    )
    actor_name = models.CharField(_("who"), max_length=150)
    action = models.CharField(_("what"), max_length=64)
    object_type = models.CharField(_("object"), max_length=64)
    object_id = models.CharField(_("object id"), max_length=64)
    detail = models.JSONField(_("detail"), default=dict)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        indexes = [
            # Read by the history of one object.
            models.Index(fields=["object_type", "object_id", "id"], name="audit_by_object"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name}: {self.action} {self.object_type} {self.object_id}"
