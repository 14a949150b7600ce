from typing import Any

from django import template

from classifier.models import PolicyVersion, WaitingReason, active_policy_with_rest

register = template.Library()


@register.inclusion_tag("classifier/resting_model.html", takes_context=True)
def resting_model(context: template.Context, policy: PolicyVersion | None = None) -> dict[str, Any]:
    """Why the model is being left alone, and how long: for the pages of those who wait for it.

    `policy` comes from `active_policy_with_rest`; without one it is read here.
    """
    user = context["request"].user
    told: Any = policy or active_policy_with_rest()
    if told is None or told.rest_id is None:
        return {}
    return {
        "rest": told,
        "reason": WaitingReason(told.rest_reason),
        "may_mend": user.is_staff and user.has_perm("classifier.change_providermodel"),
    }
