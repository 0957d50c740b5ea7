"""Which rows of long tables of snippets the suite runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def sampled(rows: Iterable[T], one_in: int) -> list[T]:
    """The first of every ``one_in`` rows; all of them with ``TAPEVIZ_CORPUS=all``."""
    listed = list(rows)
    return listed if os.environ.get("TAPEVIZ_CORPUS") == "all" else listed[::one_in]
