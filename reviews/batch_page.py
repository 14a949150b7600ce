"""What the page of a batch shows beside its progress: categories by name, and where reports went."""

from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import get_language_bidi, gettext

from classifier.batches.flow_picture import FlowPicture, Kind, draw_flows
from classifier.batches.progress import Progress
from classifier.models import PolicyVersion
from reports.foreign_text import name_controls
from reviews.words import category_name


@dataclass(frozen=True)
class Flow:
    """A line of the table, a band of the picture."""

    before: Kind
    after: Kind
    reports: int

    @property
    def changed(self) -> bool:
        return bool(self.before.id) and self.before.id != self.after.id


class BatchPage:
    """The flows of a batch in words; `mirrored` by the reader's language."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.kinds = _kinds()
        self.flows = [
            Flow(self._kind(flow.before), self._kind(flow.after), flow.reports)
            for flow in progress.flows
        ]

    @cached_property
    def picture(self) -> FlowPicture | None:
        return draw_flows(
            ((flow.before, flow.after, flow.reports) for flow in self.flows),
            mirrored=get_language_bidi(),
        )

    @property
    def outcomes(self) -> list[tuple[Kind, int]]:
        return [(self._kind(each), reports) for each, reports in self.progress.outcomes.items()]

    @property
    def recorded(self) -> int:
        return sum(flow.reports for flow in self.flows)

    @property
    def changed(self) -> int:
        return sum(flow.reports for flow in self.flows if flow.changed)

    @property
    def first(self) -> int:
        """Reports that no model had judged before."""
        return sum(flow.reports for flow in self.flows if not flow.before.id)

    def _kind(self, category: str) -> Kind:
        if not category:
            return Kind("", gettext("not judged before"))
        return self.kinds.get(category) or Kind(category, name_controls(category_name(category)))


def _kinds() -> dict[str, Kind]:
    """Every category of any version; the newest version that has it names it."""
    kinds: dict[str, Kind] = {}
    for version in PolicyVersion.objects.order_by("number").only("number", "categories"):
        for each in version.categories:
            name = name_controls(category_name(each["id"], version))
            kinds[each["id"]] = Kind(each["id"], name, each["severity"])
    return kinds
