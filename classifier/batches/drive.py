"""Drive batches from their row to their end: what is next for each, one step after the other.

Every step is written before the next, so whoever takes over goes on where the last one died. Only
one process does this at a time (`manage.py reconcile`).
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models.functions import Now
from django.utils import timezone

from classifier import cooldown
from classifier.batches import ending, remote
from classifier.batches.carry import carry_over
from classifier.batches.collect import clean_up, download, put_off, record
from classifier.batches.cut import choose_lines, write_file
from classifier.batches.forked import PartDiedError
from classifier.batches.plan import route
from classifier.batches.poll import poll
from classifier.batches.refusals import stop_at_refusals
from classifier.batches.send import create, upload
from classifier.batches.sizes import was_refused
from classifier.batches.write_jobs import write_jobs
from classifier.capabilities import learn_batches
from classifier.models import Batch, Job, ProviderBatch, ProviderModel
from classifier.probing import find_out
from classifier.provider import Fault, ProviderError
from classifier.questions import PolicyTooLongError, UnknownLimitError
from reports.failpoints import Point, hit

log = logging.getLogger(__name__)

State = ProviderBatch.State
# Files that the provider may have at once: the next one is on its way while one is answered.
MOST_OUT = 4
AGAIN_SECONDS = 30.0
# Whatever a server asks for: a cancel must be heard, and one call in a while hurts nobody.
LONGEST_WAIT_SECONDS = 600.0
ASKED_AGAIN_AFTER = timedelta(days=1)
# Of the day or of our key, not of the request: the same is tried again.
_PASSING = frozenset({Fault.RATE_LIMITED, Fault.QUOTA, Fault.CREDENTIALS})
# Whoever runs this waits for it and begins anew.
_OF_THE_DATABASE = (OperationalError, InterfaceError)

Between = Callable[[], object]


def drive(*, between: Between) -> bool:
    """One round over all batches; whether anything was done. Errors of one batch are its own.

    `between` is called between small pieces of work: to let others go first, or to be interrupted.
    """
    did = False
    for batch in Batch.objects.unfinished().select_related("policy_version").order_by("id"):
        did |= _guarded(batch, _advance, between)
        between()
    due = ProviderBatch.objects.unfinished().filter(next_step_at__lte=Now())
    for provider_batch in due.select_related("batch__policy_version").order_by("next_step_at"):
        did = True
        _step(provider_batch, between)
        between()
    return did


def _guarded(batch: Batch, advance: Callable[[Batch, Between], bool], between: Between) -> bool:
    try:
        return advance(batch, between)
    except ProviderError as error:
        log.warning("batch %s: %s", batch.pk, error)
    except _OF_THE_DATABASE:
        raise
    except Exception:  # the other batches go on
        log.exception("batch %s", batch.pk)
    return False


def _advance(batch: Batch, between: Between) -> bool:
    match batch.state:
        case Batch.State.PLANNING:
            return _plan(batch, between)
        case Batch.State.RUNNING:
            return _run(batch)
        case Batch.State.CANCELLING:
            return ending.cancel_rest(batch, between)
    return False


def _plan(batch: Batch, between: Between) -> bool:
    """Its jobs, then what can be carried over; and it runs."""
    through = _route(batch)
    if through is None:
        return False
    while not write_jobs(batch_id=batch.pk, through=through):
        hit(Point.BATCH_AFTER_JOBS)
        between()
    hit(Point.BATCH_AFTER_JOBS)
    carry_over(batch_id=batch.pk, between=between)
    Batch.objects.filter(pk=batch.pk, state=Batch.State.PLANNING).update(state=Batch.State.RUNNING)
    return True


def _route(batch: Batch) -> Job.Through | None:
    """How its reports are asked; None where the provider does not say whether it takes batches."""
    model = ProviderModel.objects.of_policy(batch.policy_version)
    seen = model.batches_seen_at
    if settings.BATCH_API and (seen is None or timezone.now() - seen > ASKED_AGAIN_AFTER):
        offers = remote.offers_batches()
        if offers is None:
            _note(batch, "the provider does not say whether it takes batches")
            return None
        _note(batch, "")
        learn_batches(model, offered=offers)
    return Job.Through(route(model))


def _note(batch: Batch, why: str) -> None:
    """Why it does not go on yet; blank: it does."""
    if batch.note != why:
        log.warning("batch %s: %s", batch.pk, why or "goes on")
        Batch.objects.filter(pk=batch.pk, state=Batch.State.PLANNING).update(note=why)


def _run(batch: Batch) -> bool:
    """The next files for the provider; or its end, or its stop, at its cost or by refusals."""
    if ending.end(batch) or ending.stop_at_cost(batch) or stop_at_refusals(batch):
        return True
    did = False
    while _room_for_more(batch) and choose_lines(batch_id=batch.pk) is not None:
        did = True
    return did


def _room_for_more(batch: Batch) -> bool:
    """One at a time where its cost is limited and that of the last is not known yet.

    And where the provider found one too large lately.
    """
    out = batch.provider_batches.out()
    if batch.max_cost is not None and out.filter(input_sha256="").exists():
        return False
    return out.count() < (1 if was_refused(batch) else MOST_OUT)


def _step(provider_batch: ProviderBatch, between: Between) -> None:
    """The next step of a provider batch; a fault puts it off, or ends it where it is for good."""
    try:
        _next_step(provider_batch, between)
    except ProviderError as error:
        log.warning("batch %s at the provider: %s", provider_batch, error)
        if _is_final(provider_batch, error):
            ending.refused(provider_batch, error)
        else:
            asked = min(error.retry_after or AGAIN_SECONDS, LONGEST_WAIT_SECONDS)
            put_off(provider_batch, seconds=asked, error=error.fault)
    except (UnknownLimitError, PolicyTooLongError, PartDiedError) as error:
        log.warning("batch %s at the provider: %s: %s", provider_batch, type(error).__name__, error)
        put_off(provider_batch, seconds=AGAIN_SECONDS, error=type(error).__name__)
    except OSError as error:
        log.exception("batch %s at the provider: its file", provider_batch)
        put_off(provider_batch, seconds=AGAIN_SECONDS, error=error.strerror or "file")
    except _OF_THE_DATABASE:
        raise
    except Exception as error:  # the other batches go on
        log.exception("batch %s at the provider", provider_batch)
        put_off(provider_batch, seconds=AGAIN_SECONDS, error=type(error).__name__)


def _is_final(provider_batch: ProviderBatch, error: ProviderError) -> bool:
    """Whether the same request will never be taken.

    While a request's fate is unknown the error is of the lists that were searched for it.
    """
    sending = provider_batch.state in {State.PLANNED, State.UPLOADED}
    sending = sending and provider_batch.asked_at is None
    return sending and not remote.may_have_happened(error) and error.fault not in _PASSING


def _next_step(provider_batch: ProviderBatch, between: Between) -> None:
    batch = provider_batch.batch
    batch.refresh_from_db()  # a person may have called it in since the round began
    policy = batch.policy_version
    model = ProviderModel.objects.of_policy(policy)
    cancelling = batch.state == Batch.State.CANCELLING
    wanted = batch.state == Batch.State.RUNNING
    not_sent = provider_batch.state in {State.PLANNED, State.UPLOADED}
    if not_sent and batch.state == Batch.State.STOPPED and provider_batch.asked_at is None:
        put_off(provider_batch, seconds=AGAIN_SECONDS, error="")
        return
    match provider_batch.state:
        case State.PLANNED | State.UPLOADED if cancelling and provider_batch.asked_at is None:
            ending.take_back(provider_batch)
        case State.PLANNED if not provider_batch.input_sha256:
            if _may_ask(provider_batch, model):
                write_file(
                    provider_batch=provider_batch, policy=policy, model=model, between=between
                )
        case State.PLANNED:
            upload(provider_batch, wanted=wanted)
        case State.UPLOADED:
            create(provider_batch, wanted=wanted)
        case State.SUBMITTED:
            poll(provider_batch, cancel=cancelling)
        case State.ENDED:
            download(provider_batch)
            record(provider_batch, policy=policy, model=model, between=between)
        case State.RECORDED:
            clean_up(provider_batch)


def _may_ask(provider_batch: ProviderBatch, model: ProviderModel) -> bool:
    """Whether the model may be asked, and how is known; else the step is put off."""
    turn = cooldown.take_turn(model)
    if turn.holds:
        policy = provider_batch.batch.policy_version
        turn = find_out(model, policy, turn, at_each_call=lambda: None)
        model.refresh_from_db()
    if not turn.granted:
        put_off(provider_batch, seconds=turn.wait, error=turn.reason or "")
    return turn.granted
