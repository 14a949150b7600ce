"""The classifier's side of the admin, a file for each thing that is shown."""

from classifier.admin import (
    classifications,
    disagreements,
    evaluation,
    jobs,
    policy_versions,
    provider_models,
    rules,
)

__all__ = [
    "classifications",
    "disagreements",
    "evaluation",
    "jobs",
    "policy_versions",
    "provider_models",
    "rules",
]
