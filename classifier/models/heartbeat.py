from django.db import models
from django.utils.translation import gettext_lazy as _


class Heartbeat(models.Model):
    """When a process that nobody calls was last seen at work."""

    SWEEP = "sweep"
    RECONCILE = "reconcile"

    name = models.CharField(max_length=32, primary_key=True)
    at = models.DateTimeField()

    class Meta:
        verbose_name = _("heartbeat")
        verbose_name_plural = _("heartbeats")

    def __str__(self) -> str:
        return self.name
