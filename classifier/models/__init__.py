from classifier.models.batch import Batch, BatchFlow
from classifier.models.classification import Classification
from classifier.models.disagreement import Disagreement
from classifier.models.evaluation import EvaluationCase, EvaluationSet
from classifier.models.heartbeat import Heartbeat
from classifier.models.job import Job, WaitingReason
from classifier.models.policy import Category, PolicyVersion
from classifier.models.provider_batch import BatchLine, ProviderBatch
from classifier.models.provider_model import ProviderModel, active_policy_with_rest

__all__ = [
    "Batch",
    "BatchFlow",
    "BatchLine",
    "Category",
    "Classification",
    "Disagreement",
    "EvaluationCase",
    "EvaluationSet",
    "Heartbeat",
    "Job",
    "PolicyVersion",
    "ProviderBatch",
    "ProviderModel",
    "WaitingReason",
    "active_policy_with_rest",
]
