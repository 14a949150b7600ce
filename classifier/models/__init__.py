from classifier.models.classification import Classification
from classifier.models.heartbeat import Heartbeat
from classifier.models.job import Job, WaitingReason
from classifier.models.policy import Category, PolicyVersion

__all__ = [
    "Category",
    "Classification",
    "Heartbeat",
    "Job",
    "PolicyVersion",
    "WaitingReason",
]
