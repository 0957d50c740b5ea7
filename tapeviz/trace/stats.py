"""Statistics of a tensor's elements."""

from __future__ import annotations

from typing import Any

import msgspec
from numpy.typing import NDArray

Array = NDArray[Any]


class Stats(msgspec.Struct, frozen=True, gc=False):
    """Statistics over the finite elements, in float64; ``None`` where there is none.

    The recorder computes only the norm of a large tensor of finite elements: min, max and mean are
    ``None`` until somebody looks at it (:attr:`has_range`). ``is_estimate``: that norm is one of a
    sample of the elements; that all are finite is certain, and that not all are zero.
    """

    min: float | None
    max: float | None
    mean: float | None
    norm: float | None
    nan: int
    inf: int
    is_estimate: bool = False

    @property
    def nonfinite(self) -> int:
        return self.nan + self.inf

    @property
    def has_range(self) -> bool:
        """Whether min, max and mean are known, or known not to be there."""
        return self.min is not None or self.norm is None

    @property
    def norm_words(self) -> str:
        """``norm 52.43``, ``norm ≈ 52.43`` or, where it is not known, nothing."""
        if self.norm is None:
            return ""
        return f"norm {'≈ ' if self.is_estimate else ''}{self.norm:.4g}"
