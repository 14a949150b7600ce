"""`classifier.tokens` against real tokenizers, on texts of every kind that people and attackers send.

    python -m dev.tokens [--write]

Installs the tokenizers of dev/tokens/requirements.txt into .local/tokens, once. Each "model" is one
tokenizer that says its counts; the ratios are learnt from `texts.LEARNT_FROM` and checked on other
texts, `texts.CHECKED`. Prints, by kind of text and tokenizer, the tokens and by what factor the
estimates exceed them; `--write` puts it into docs/tokens.md. The last line is one JSON object.
Exit: 0, or 1 for an under-count, or for more than twice too high on people's writing once learnt.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from classifier.tokens import CALIBRATION_TEXTS, Counting, count, fitting_tokenizer, learn
from dev.errors import DevError
from dev.tokens.real import Tokenizer, load_tokenizers
from dev.tokens.texts import CHECKED, LEARNT_FROM, NATURAL

PAGE = Path("docs/tokens.md")
ROUNDS = 3  # a model sees more than one text of a kind
FRAME = 37  # what a chat template might add, for the fitting
MARK = "<!-- below is written by make tokens -->\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    options = parser.parse_args()
    try:
        tokenizers = load_tokenizers()
    except DevError as error:
        sys.stderr.write(f"tokens: {error}\n")
        return 1
    table, found = measure(tokenizers)
    print(table)
    if options.write:
        head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
        PAGE.write_text(f"{head}{MARK}\n{table}\n", encoding="utf-8")
    print(json.dumps(found))
    return 0 if found["passed"] else 1


def measure(tokenizers: Mapping[str, Tokenizer]) -> tuple[str, dict[str, object]]:
    """The table as Markdown, and the summary. A cell is the range over the kind's texts."""
    learnt = {name: Counting(ratios=_learnt(real)) for name, real in tokenizers.items()}
    lines = [
        "| text | " + " | ".join(tokenizers) + " |",
        "|---" * (len(tokenizers) + 1) + "|",
    ]
    under_cold = under_learnt = 0
    worst = 0.0
    for kind, texts in CHECKED.items():
        cells = []
        for name, real in tokenizers.items():
            counts = [real(text) for text in texts]
            cold = [
                count(text, Counting()) / max(n, 1) for text, n in zip(texts, counts, strict=True)
            ]
            warm = [
                count(text, learnt[name]) / max(n, 1) for text, n in zip(texts, counts, strict=True)
            ]
            under_cold += sum(each < 1 for each in cold)
            under_learnt += sum(each < 1 for each in warm)
            if kind in NATURAL:
                worst = max(worst, *warm)
            cells.append(f"{sum(counts)}: {_range(cold)}, {_range(warm)}")
        natural = "" if kind in NATURAL else " *"
        lines.append(f"| {kind}{natural} | " + " | ".join(cells) + " |")
    fitting = {
        name: fitting_tokenizer([(text, real(text) + FRAME) for text in CALIBRATION_TEXTS])
        for name, real in tokenizers.items()
    }
    lines += ["", f"Recognised by its counts: {_named(fitting)}."]
    found = {
        "tokenizers": len(tokenizers),
        "texts": sum(map(len, CHECKED.values())),
        "under_cold": under_cold,
        "under_learnt": under_learnt,
        "worst_over_learnt_natural": round(worst, 2),
        "fitting": fitting,
        "passed": not under_cold and not under_learnt and worst <= 2,
    }
    return "\n".join(lines), found


def _learnt(real: Tokenizer) -> dict[str, float]:
    ratios: dict[str, float] = {}
    for _round in range(ROUNDS):
        for texts in LEARNT_FROM.values():
            for text in texts:
                ratios = learn(ratios, text=text, tokens=real(text))
    return ratios


def _range(factors: list[float]) -> str:
    low, high = min(factors), max(factors)
    return f"{low:.2f}" if high - low < 0.05 else f"{low:.2f}-{high:.2f}"


def _named(fitting: Mapping[str, str]) -> str:
    return "; ".join(f"{name} as {fit or 'none of the package'}" for name, fit in fitting.items())


if __name__ == "__main__":
    sys.exit(main())
