"""The model that a command's argument names."""

from django.conf import settings
from django.core.management.base import CommandError

from classifier.management.operation import Exit
from classifier.models import PolicyVersion, ProviderModel


def named_model(name: str) -> ProviderModel:
    """The row at the configured provider; a policy's model may have none yet."""
    row = ProviderModel.objects.filter(base_url=settings.OPENAI_BASE_URL, name=name).first()
    if row is not None:
        return row
    policy = PolicyVersion.objects.filter(model=name).first()
    if policy is None:
        raise CommandError(
            f"No policy version names the model {name}, and it was never asked; see `models`.",
            returncode=Exit.USAGE,
        )
    return ProviderModel.objects.of_policy(policy)
