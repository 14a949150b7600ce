"""What people do with items: who has one in hand, and what they decided."""

from reviews.models.claim import Claim
from reviews.models.decision import DecidedReport, Decision

__all__ = ["Claim", "DecidedReport", "Decision"]
