from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # built beside people who decide
    dependencies = [("reviews", "0006_what_decisions_may_say")]
    operations = [
        # A build that was stopped leaves an index that is not valid.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS decision_of_reviewer", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "decision", models.Index(fields=["reviewer", "-id"], name="decision_of_reviewer")
        ),
    ]
