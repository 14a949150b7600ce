"""How tests invalidate all reports of one reporter."""

from reports.invalidation import Scope, begin_invalidation, carry_out, plan_invalidation
from reports.models import Invalidation, Report


def invalidate(report: Report, scope: Scope | None = None) -> Invalidation:
    """Everything in the scope by the reporter of this report."""
    scope = scope or Scope()
    pseudonym = report.reporter_pseudonym
    plan = plan_invalidation(sender=report.sender, pseudonym=pseudonym, scope=scope)
    begun = begin_invalidation(
        sender=report.sender,
        pseudonym=pseudonym,
        scope=scope,
        plan=plan,
        reason="a campaign",
        actor_name="test",
    )
    assert sum(carry_out(invalidation=begun, scope=scope, plan=plan)) == plan.reports
    return begun
