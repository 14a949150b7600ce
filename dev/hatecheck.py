"""Turn HateCheck (English) and Multilingual HateCheck (Arabic) into request bodies of the API.

    python -m dev.hatecheck DATA_DIR > reports.jsonl

The data stays outside the repository. Sources: Röttger et al., ACL 2021 and WOAH 2022, CC BY 4.0.
"""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# (language, file below DATA_DIR, column that numbers the cases)
SOURCES = (
    ("en", Path("hatecheck/test_suite_cases.csv"), "case_id"),
    ("ar", Path("multilingual-hatecheck/hatecheck_cases_final_arabic.csv"), "mhc_case_id"),
)


def hatecheck_reports(data_dir: Path) -> Iterator[dict[str, Any]]:
    """Request bodies of POST /api/v1/reports/, English first; 7,298 with the published files.

    Item ids are `hatecheck-en-<case>` and `hatecheck-ar-<case>`; the text is the case as published.
    Raises FileNotFoundError for a missing file before the first report.
    """
    for _, path, _ in SOURCES:
        if not (data_dir / path).is_file():
            raise FileNotFoundError(f"{data_dir / path} is missing; DATA_DIR must hold it.")
    for language, path, number_column in SOURCES:
        with (data_dir / path).open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                yield _report(row, language, row[number_column].removeprefix("arabic-"))


def _report(row: dict[str, str], language: str, number: str) -> dict[str, Any]:
    item_id = f"hatecheck-{language}-{number}"
    return {
        "item": {"type": "post", "id": item_id, "author_id": None, "url": None},
        # One reporter a case: a single one with 7,298 reports would be a signal of its own.
        "reporter": {"id": f"{item_id}-reporter"},
        "reason": "hate",
        "comment": "",
        "language": language,
        "messages": [
            {
                "id": item_id,
                "author_id": None,
                "sent_at": None,
                "text": row["test_case"],
                "reported": True,
            }
        ],
        "metadata": {"label_gold": row["label_gold"], "functionality": row["functionality"]},
    }


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("Usage: python -m dev.hatecheck DATA_DIR > reports.jsonl", file=sys.stderr)
        return 2
    count = 0
    try:
        for report in hatecheck_reports(Path(arguments[0])):
            print(json.dumps(report, ensure_ascii=False))
            count += 1
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{count} reports", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
