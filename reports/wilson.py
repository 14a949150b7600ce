"""The interval of a share that was counted: Wilson's, which holds where few were counted too."""

from math import sqrt
from typing import NamedTuple

Z95 = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""


class Interval(NamedTuple):
    """Bounds of a share, both within 0 and 1."""

    low: float
    high: float


def wilson(*, found: int, of: int, z: float = Z95) -> Interval:
    """Where the share lies of which `found` were seen among `of`; of none, anywhere in 0 to 1.

    Raises `ValueError` where more were found than there are, or fewer than none.
    """
    if not 0 <= found <= of:
        raise ValueError(f"{found} of {of}")
    if not of:
        return Interval(0.0, 1.0)
    share, weight = found / of, z * z / of
    middle = (share + weight / 2) / (1 + weight)
    reach = z * sqrt(share * (1 - share) / of + weight / (4 * of)) / (1 + weight)
    low = 0.0 if found == 0 else max(0.0, middle - reach)
    high = 1.0 if found == of else min(1.0, middle + reach)
    return Interval(low, high)
