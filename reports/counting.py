"""Counts on pages: exact up to a bound, so that a list of a million costs no more than one of ten."""

COUNTED_AT_MOST = 10_000


def bounded(count: int) -> str:
    """A count as people read it: 1,204, or 10,000+ for one that stopped beyond the bound."""
    return f"{COUNTED_AT_MOST:,}+" if count > COUNTED_AT_MOST else f"{count:,}"
