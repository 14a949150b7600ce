"""How a model counts: a few small questions, of which only the number of tokens read matters."""

import logging
from collections.abc import Callable

from classifier.cooldown import RESTS_AT_ONCE
from classifier.models import ProviderModel, WaitingReason
from classifier.prompt import Prompt
from classifier.provider import ProviderError
from classifier.reader import UnreadableReplyError
from classifier.tokenizers import CALIBRATION_TEXTS, fitting_tokenizer
from classifier.tokens import learn

log = logging.getLogger(__name__)

# A word of one or two tokens: what is read beyond it is the chat template's frame and the system's.
_WORD, _WORD_TOKENS = "OK", 1
# Writing it again is not worth a row's version for less.
WORTH_WRITING = 0.005


def calibrate(model: ProviderModel, tokens_read: Callable[[str], int | None]) -> None:
    """Ask about texts of several scripts, and record what they teach; harmless where it fails.

    A server that tells no count, or counts oddly, is counted by bytes.
    """
    try:
        frame = tokens_read(_WORD)
        if frame is None:
            return
        read = {text: tokens_read(text) for text in CALIBRATION_TEXTS}
    except (ProviderError, UnreadableReplyError) as error:
        if isinstance(error, ProviderError) and (
            error.retry_after is not None or WaitingReason(error.fault) in RESTS_AT_ONCE
        ):
            raise
        log.info("model %s: its tokens are counted by bytes (%s)", model.name, error)
        return
    seen = [(text, tokens) for text, tokens in read.items() if tokens is not None]
    ratios = dict(model.token_ratios)
    for text, tokens in seen:
        ratios = learn(ratios, text=text, tokens=tokens - frame + _WORD_TOKENS)
    tokenizer = fitting_tokenizer([(_WORD, frame), *seen])
    ProviderModel.objects.filter(pk=model.pk).update(
        token_ratios=ratios, frame_tokens=frame, tokenizer=tokenizer
    )
    log.info("model %s: counted by %s", model.name, tokenizer or "bytes")


def learn_from_prompt(model: ProviderModel, *, prompt: Prompt, tokens: int | None) -> None:
    """What a real call's count teaches, of the script that dominates it."""
    if tokens is None or model.frame_tokens is None:
        return
    text = f"{prompt.system}\n{prompt.user}"
    ratios = learn(model.token_ratios, text=text, tokens=tokens - model.frame_tokens)
    before = model.token_ratios
    if any(
        abs(ratio - before.get(script, 0)) > WORTH_WRITING * ratio
        for script, ratio in ratios.items()
    ):
        ProviderModel.objects.filter(pk=model.pk).update(token_ratios=ratios)
