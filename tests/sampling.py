"""How much of its long tables of snippets, and of its random examples, the suite runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

IS_WHOLE = os.environ.get("TAPEVIZ_CORPUS") == "all"


def sampled(rows: Iterable[T], one_in: int) -> list[T]:
    """The first of every ``one_in`` rows; all of them with ``TAPEVIZ_CORPUS=all``."""
    return list(rows) if IS_WHOLE else list(rows)[::one_in]


def parametrize_sampled(one_in: int, names: str | tuple[str, ...], rows: Iterable[Any]) -> Any:
    """``pytest.mark.parametrize`` with a sample of the rows."""
    return pytest.mark.parametrize(names, sampled(rows, one_in))
