"""Reports that people decided before `upheld_at` was there get it from their newest decision.

One statement for all: it reads what people decided and writes to the reports that they upheld, which
are few beside those that came. It locks no other row and waits for no reader; a decision about one
of these reports waits until it is done.
"""

from django.db import migrations

# Locked in the order in which decisions lock them. What is right already is not written again.
FORWARD = """
WITH newest AS (
    SELECT DISTINCT ON (decided.report_id) decided.report_id, decision.action, decision.created_at
    FROM reviews_decidedreport AS decided
    JOIN reviews_decision AS decision ON decision.id = decided.decision_id
    ORDER BY decided.report_id, decision.id DESC
), locked AS (
    SELECT report.id, newest.created_at
    FROM reports_report AS report JOIN newest ON newest.report_id = report.id
    WHERE newest.action IN ('warn', 'remove', 'suspend')
        AND report.upheld_at IS DISTINCT FROM newest.created_at
    ORDER BY report.id FOR NO KEY UPDATE OF report
)
UPDATE reports_report AS report SET upheld_at = locked.created_at
FROM locked WHERE locked.id = report.id
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_status_agrees"), ("reports", "0003_signals")]
    operations = [migrations.RunSQL(FORWARD, migrations.RunSQL.noop)]
