from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from reports.foreign_text import name_controls
from reports.models.sender import Sender
from reports.models.severity import Severity


class Item(models.Model):
    """The reported thing, identity only, and the reviewer's unit: one card for all its reports.

    `list`, `rank`, `since`, `due_at` and `resolved_at` follow from the item's reports;
    `reports.lifecycle` alone writes them.
    """

    class List(models.TextChoices):
        PENDING = "pending", _("pending")
        NEEDS_REVIEW = "needs_review", _("needs review")
        JUDGED_SAFE = "judged_safe", _("judged safe")
        RESOLVED = "resolved", _("resolved")

    sender = models.ForeignKey(Sender, models.PROTECT, verbose_name=_("sender"))
    type = models.CharField(_("type"), max_length=255)
    external_id = models.CharField(_("id at the sender"), max_length=255)
    list = models.CharField(
        _("list"), max_length=16, choices=List, default=List.PENDING, editable=False
    )
    rank = models.SmallIntegerField(
        _("rank"), choices=Severity, default=Severity.NONE, editable=False
    )
    since = models.DateTimeField(_("waiting since"), db_default=Now(), editable=False)
    due_at = models.DateTimeField(_("due"), null=True, editable=False)
    """When the first of its pending reports is due; null where none is pending."""
    resolved_at = models.DateTimeField(_("resolved"), null=True, editable=False)

    class Meta:
        verbose_name = _("item")
        verbose_name_plural = _("items")
        constraints = [
            models.UniqueConstraint(
                name="one_item_per_sender_type_and_id", fields=["sender", "type", "external_id"]
            ),
            models.CheckConstraint(
                name="item_list_is_known",
                condition=models.Q(list__in=["pending", "needs_review", "judged_safe", "resolved"]),
            ),
            models.CheckConstraint(
                name="item_rank_is_a_severity", condition=models.Q(rank__range=(0, 4))
            ),
        ]
        indexes = [
            # Read by the lists of open items and by who takes the next: most severe first, then oldest.
            models.Index(
                fields=["list", "-rank", "since", "id"],
                name="item_open_in_list_order",
                condition=~models.Q(list="resolved"),
            ),
            # Counted in the navigation: items whose pending reports are overdue.
            models.Index(
                fields=["due_at"], name="item_pending_by_due", condition=models.Q(list="pending")
            ),
            # Read by the list of resolved items: the latest first.
            models.Index(
                fields=["-resolved_at", "-id"],
                name="item_resolved_latest",
                condition=models.Q(list="resolved"),
            ),
            # Read by the search for an exact id, whoever sent it.
            models.Index(fields=["external_id", "id"], name="item_by_external_id"),
        ]

    def is_overdue(self) -> bool:
        return self.due_at is not None and self.due_at < timezone.now()

    def __str__(self) -> str:
        return name_controls(f"{self.type} {self.external_id}")
