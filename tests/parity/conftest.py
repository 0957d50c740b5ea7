"""Fixtures of the proofs: plain runs beside recorded ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.parity.comparing", "tests.parity.recombining")

from ..conftest import INTERPRETER  # noqa: E402
from .plain_runs import PlainRuns  # noqa: E402


@pytest.fixture(scope="session")
def plain() -> Iterator[PlainRuns]:
    """Runs snippets without tapeviz, each in a process of its own."""
    runs = PlainRuns(INTERPRETER)
    yield runs
    runs.close()
