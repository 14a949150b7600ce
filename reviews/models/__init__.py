"""What people do with items: who has one in hand, what they decided, and how they like to work."""

from reviews.models.action import Action
from reviews.models.claim import LONGEST_CLAIM, Claim, Skip
from reviews.models.decision import DecidedReport, Decision
from reviews.models.double_review import DoubleReview
from reviews.models.draft import Draft
from reviews.models.hold import Hold
from reviews.models.preferences import Preferences
from reviews.models.sampling import BlindAudit, Draw, SamplingRate, Stratum
from reviews.models.saved_view import SavedView

__all__ = [
    "LONGEST_CLAIM",
    "Action",
    "BlindAudit",
    "Claim",
    "DecidedReport",
    "Decision",
    "DoubleReview",
    "Draft",
    "Draw",
    "Hold",
    "Preferences",
    "SamplingRate",
    "SavedView",
    "Skip",
    "Stratum",
]
