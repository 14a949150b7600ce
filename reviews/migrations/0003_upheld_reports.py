"""Reports that people decided before `upheld_at` was there get it from their newest decision."""

from django.db import migrations

FORWARD = """
UPDATE reports_report AS report SET upheld_at = newest.created_at
FROM (
    SELECT DISTINCT ON (decided.report_id) decided.report_id, decision.action, decision.created_at
    FROM reviews_decidedreport AS decided
    JOIN reviews_decision AS decision ON decision.id = decided.decision_id
    ORDER BY decided.report_id, decision.id DESC
) AS newest
WHERE newest.report_id = report.id AND newest.action IN ('warn', 'remove', 'suspend')
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_status_agrees"), ("reports", "0003_signals")]
    operations = [migrations.RunSQL(FORWARD, migrations.RunSQL.noop)]
