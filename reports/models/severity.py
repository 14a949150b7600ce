from django.db import models
from django.utils.translation import gettext_lazy as _


class Severity(models.IntegerChoices):
    """How bad it is; also the rank in the lists, where the higher stands first."""

    NONE = 0, _("none")
    LOW = 1, _("low")
    MEDIUM = 2, _("medium")
    HIGH = 3, _("high")
    CRITICAL = 4, _("critical")
