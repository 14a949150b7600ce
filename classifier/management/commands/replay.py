from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from classifier.management.operation import Operation, active_policy
from classifier.models import Job
from classifier.replay import Plan, Selection, execute_replay, plan_replay
from reports.models import Sender
from reports.waiting import Waiting

REASONS = (*Job.Reason.values, Waiting.WAITING_FOR_WORKER.value)


class Command(Operation):
    help = (
        "Give pending reports new attempts, parked ones included. Without --execute it prints the "
        "plan and changes nothing. Twice changes nothing: a classified report is not asked again."
    )
    where = {
        "sender": lambda name: Sender.objects.filter(name=name).exists(),
        "reason": REASONS.__contains__,
    }
    where_help = f"Reasons: {', '.join(REASONS)}."

    def operate(self, narrowed: dict[str, Any], options: dict[str, Any]) -> None:
        selection, policy = Selection(**narrowed), active_policy()
        plan = plan_replay(selection, policy=policy)
        self.tell("plan", _facts(plan), _words(plan))
        if self.is_dry_run(options):
            return
        chunks = execute_replay(
            plan, selection=selection, policy=policy, actor_name="command replay"
        )
        done = self.count(chunks, of=len(plan.report_ids))
        skipped = len(plan.report_ids) - done
        words = [f"{done} reports have new attempts."]
        if skipped:
            words.append(f"{skipped} were left alone: a model is reading them, or has by now.")
        self.tell("done", {"renewed": done, "skipped": skipped}, words)


def _facts(plan: Plan) -> dict[str, Any]:
    facts = asdict(plan)
    return facts | {"reports": len(facts.pop("report_ids"))}


def _words(plan: Plan) -> Iterator[str]:
    yield (
        f"{len(plan.report_ids)} pending reports under policy version {plan.version}, "
        f"model {plan.model}"
    )
    if plan.report_ids:
        yield f"received from {plan.oldest} to {plan.newest}"
    for reason, count in sorted(plan.by_reason.items()):
        todo = Job.Reason(reason).for_operations if reason in Job.Reason.values else ""
        yield f"  {count:>8}  {reason}  {todo}".rstrip()
    if plan.never:
        yield (
            f"{plan.never} more were refused by the model or a filter: a person decides them, "
            "they are never asked again."
        )
