from classifier.models.classification import Classification
from classifier.models.heartbeat import Heartbeat
from classifier.models.job import Job, WaitingReason
from classifier.models.policy import Category, PolicyVersion
from classifier.models.provider_model import ProviderModel, active_policy_with_rest

__all__ = [
    "Category",
    "Classification",
    "Heartbeat",
    "Job",
    "PolicyVersion",
    "ProviderModel",
    "WaitingReason",
    "active_policy_with_rest",
]
