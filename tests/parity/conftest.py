"""Fixtures of the proofs: plain runs beside recorded ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.register_assert_rewrite("tests.parity.comparing", "tests.parity.recombining")

from ..conftest import INTERPRETER  # noqa: E402
from .plain_runs import PlainRuns  # noqa: E402

if TYPE_CHECKING:
    from tapeviz.kernel import KernelPool
    from tapeviz.recording.live import Recorder


@pytest.fixture(scope="session")
def plain() -> Iterator[PlainRuns]:
    """Runs snippets without tapeviz, each in a process of its own."""
    runs = PlainRuns(INTERPRETER)
    yield runs
    runs.close()


@pytest.fixture(scope="session")
def recorder(kernels: KernelPool) -> Recorder:
    """Records snippets in real kernels, each in a fresh process, as the application does."""
    from tapeviz.recording.live import Recorder

    return Recorder(kernels)
