"""Policy versions: what they hold, how they are read from files, and each step of their life."""

from classifier.policies.content import PolicyContent, code_revisions
from classifier.policies.files import FIRST_POLICY, PolicyFileError, read_policy_file
from classifier.policies.versions import load_policy, lock_the_line

__all__ = [
    "FIRST_POLICY",
    "PolicyContent",
    "PolicyFileError",
    "code_revisions",
    "load_policy",
    "lock_the_line",
    "read_policy_file",
]
