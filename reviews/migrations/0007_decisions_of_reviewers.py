import django.db.models.deletion
from django.conf import settings
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
        migrations.AlterField(
            "decision",
            "reviewer",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="reviewer",
            ),
        ),
    ]
