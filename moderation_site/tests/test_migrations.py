"""Each app's tables can be made alone, from nothing and back: no migration leans on luck."""

from moderation_site.tests.migrating import empty_database, migrate


def test_the_last_app_brings_all_that_it_needs_and_everything_can_be_undone() -> None:
    with empty_database() as address:
        migrate(address, "reviews")
        migrate(address, "reports", "zero")
        migrate(address)
