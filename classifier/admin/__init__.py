"""The classifier's side of the admin, a file for each thing that is shown."""

from classifier.admin import disagreements, policy_versions, provider_models

__all__ = ["disagreements", "policy_versions", "provider_models"]
