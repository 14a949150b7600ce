"""Reports that came before authors had pseudonyms get theirs, from their content."""

from typing import Any

from django.db import migrations

from reports.fingerprint import author_pseudonym

CHUNK = 1_000


def name_authors(apps: Any, _editor: Any) -> None:
    report_model = apps.get_model("reports", "Report")
    content_model = apps.get_model("reports", "Content")
    waiting = content_model.objects.filter(report__author_pseudonym="").order_by("pk")
    last = 0
    while chunk := list(waiting.filter(pk__gt=last).select_related("report")[:CHUNK]):
        last = chunk[-1].pk
        for content in chunk:
            content.report.author_pseudonym = _author(content)
        report_model.objects.bulk_update(
            [each.report for each in chunk if each.report.author_pseudonym], ["author_pseudonym"]
        )


def _author(content: Any) -> str:
    item, messages = content.body.get("item") or {}, content.body.get("messages") or []
    author_id = item.get("author_id")
    if author_id is None:
        marked = [message for message in messages if message.get("reported")] or messages
        writers = {message.get("author_id") for message in marked}
        author_id = writers.pop() if len(writers) == 1 else None
    if not author_id:
        return ""
    return author_pseudonym(sender_id=content.report.sender_id, author_id=author_id)


class Migration(migrations.Migration):
    dependencies = [("reports", "0003_signals")]
    operations = [migrations.RunPython(name_authors, migrations.RunPython.noop)]
