from django.contrib.postgres.indexes import BrinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False  # built beside workers that record
    dependencies = [("classifier", "0006_evaluation")]
    operations = [
        # A build that was stopped leaves an index that is not valid.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS classification_by_time", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "classification", BrinIndex(fields=["created_at"], name="classification_by_time")
        ),
    ]
