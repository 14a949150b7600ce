"""The lists' order is indexed for open items alone: what is resolved grows for ever, and has its own."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # built beside running intake
    dependencies = [("reports", "0005_search")]
    operations = [
        # A build that was stopped leaves an index that is not valid.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS item_open_in_list_order", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "item",
            models.Index(
                fields=["list", "-rank", "since", "id"],
                name="item_open_in_list_order",
                condition=~models.Q(list="resolved"),
            ),
        ),
        RemoveIndexConcurrently("item", "item_in_list_order"),
    ]
