"""Reports that came before authors had pseudonyms get theirs, from their content.

Chunks of ids by the primary key, each in a transaction of its own, so that no row stays locked while
the site works. The bodies, up to 1 MiB each, stay in PostgreSQL: the author's id alone is read.
Stopped half-way it goes on at its next start: what has a pseudonym is passed over.
"""

from typing import Any

from django.db import migrations

from reports.fingerprint import author_pseudonym

CHUNK = 1_000

# As `reports.signals.author_of`: whom the item names, else the one who wrote all that was reported
# (all messages where none is marked).
AUTHORS = """
SELECT report.id, report.sender_id, coalesce(
    content.body #>> '{item,author_id}',
    (
        SELECT min(message ->> 'author_id')
        FROM jsonb_path_query(content.body, CASE
            WHEN content.body @? '$.messages[*] ? (@.reported == true)'
            THEN '$.messages[*] ? (@.reported == true)'::jsonpath
            ELSE '$.messages[*]'::jsonpath
        END) AS message
        HAVING count(DISTINCT message ->> 'author_id') = 1
            AND count(message ->> 'author_id') = count(*)
    )
)
FROM reports_report AS report JOIN reports_content AS content ON content.report_id = report.id
WHERE report.id > %s AND report.author_pseudonym = ''
ORDER BY report.id LIMIT %s
"""

# Locked in the order in which decisions lock them.
NAME = """
WITH named AS (
    SELECT * FROM unnest(%s::bigint[], %s::text[]) AS named (id, pseudonym)
), locked AS (
    SELECT report.id FROM reports_report AS report JOIN named USING (id)
    WHERE report.author_pseudonym = '' ORDER BY report.id FOR NO KEY UPDATE OF report
)
UPDATE reports_report AS report SET author_pseudonym = named.pseudonym
FROM locked JOIN named USING (id)
WHERE report.id = locked.id
"""


def name_authors(_apps: Any, editor: Any) -> None:
    last = 0
    with editor.connection.cursor() as cursor:
        while True:
            cursor.execute(AUTHORS, [last, CHUNK])
            chunk = cursor.fetchall()
            if not chunk:
                break
            last = chunk[-1][0]
            pseudonyms = {
                report_id: author_pseudonym(sender_id=sender_id, author_id=author_id)
                for report_id, sender_id, author_id in chunk
                if author_id
            }
            cursor.execute(NAME, [list(pseudonyms), list(pseudonyms.values())])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reports", "0003_signals")]
    operations = [migrations.RunPython(name_authors, migrations.RunPython.noop)]
