from typing import TypedDict

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Category(TypedDict):
    """One category of a policy version, as its JSON column holds it."""

    id: str
    name: str
    severity: int
    safe: bool
    guidance: str


class PolicyVersionQuerySet(models.QuerySet["PolicyVersion"]):
    def active(self) -> "PolicyVersion | None":
        """The one version that new reports are judged under; None before the first activation."""
        return self.filter(state=PolicyVersion.State.ACTIVE).first()

    def standing(self, content_hash: str) -> "PolicyVersion | None":
        """The version that has this content and need not be made again: the active or the newest."""
        newest = self.exclude(state=PolicyVersion.State.RETIRED).order_by("-number").first()
        for version in (self.active(), newest):
            if version and version.content_hash == content_hash:
                return version
        return None

    def saying_the_same(self, version: "PolicyVersion") -> "PolicyVersionQuerySet":
        """The other versions of this content, oldest first."""
        same = self.filter(content_hash=version.content_hash).exclude(pk=version.pk)
        return same.order_by("number")


class PolicyVersion(models.Model):
    """One numbered set of rules: categories, threshold, prompt, model. Immutable from candidate on.

    Another model is another version. `classifier.policies` makes them and moves them on.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        CANDIDATE = "candidate", _("candidate")
        ACTIVE = "active", _("active")
        RETIRED = "retired", _("retired")

    number = models.PositiveIntegerField(_("number"), primary_key=True)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.DRAFT)
    title = models.CharField(_("title"), max_length=200)
    model = models.CharField(_("model"), max_length=200)
    prompt = models.TextField(_("prompt"))
    categories: "models.JSONField[list[Category], list[Category]]" = models.JSONField(
        _("categories")
    )
    safe_threshold = models.FloatField(
        _("threshold for safe"),
        help_text=_("A safe category below this confidence goes to people."),
    )
    revisions: "models.JSONField[dict[str, int], dict[str, int]]" = models.JSONField(
        _("revisions of our rules"),
        default=dict,
        help_text=_(
            "Each rule of the application, and the prompt's frame, as this version means them."
        ),
    )
    content_hash = models.CharField(_("content hash"), max_length=64, editable=False)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    activated_at = models.DateTimeField(_("activated"), null=True, editable=False)

    objects = PolicyVersionQuerySet.as_manager()

    class Meta:
        verbose_name = _("policy version")
        verbose_name_plural = _("policy versions")
        constraints = [
            models.UniqueConstraint(
                name="one_active_policy_version",
                fields=["state"],
                condition=models.Q(state="active"),
            ),
            models.CheckConstraint(
                name="policy_state_is_known",
                condition=models.Q(state__in=["draft", "candidate", "active", "retired"]),
            ),
            models.CheckConstraint(
                name="policy_safe_threshold_is_a_probability",
                condition=models.Q(safe_threshold__gte=0, safe_threshold__lte=1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"

    def category(self, category_id: str) -> Category:
        """The category with this id; `KeyError` where the version has none."""
        for each in self.categories:
            if each["id"] == category_id:
                return each
        raise KeyError(category_id)
