"""How much of its long tables of snippets, and of its random examples, the suite runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

IS_WHOLE = os.environ.get("TAPEVIZ_CORPUS") == "all"


def sampled(rows: Iterable[T], one_in: int) -> list[T]:
    """The first of every ``one_in`` rows; all of them with ``TAPEVIZ_CORPUS=all``."""
    return list(rows) if IS_WHOLE else list(rows)[::one_in]
