"""Fixtures of the sweep: each recording read once, and an application for the painters."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.recordings.invariants")

from tapeviz.analysis import diagnose  # noqa: E402
from tapeviz.analysis.model import Diagnosis  # noqa: E402
from tapeviz.recording.kept import KeptRecording  # noqa: E402
from tapeviz.trace.model import Trace  # noqa: E402
from tapeviz.trace.stored.file import load  # noqa: E402
from tests.sampling import sampled  # noqa: E402

FOLDER = Path(__file__).resolve().parent
RECORDINGS = sorted(FOLDER.glob("*.tape"))


@dataclass(frozen=True)
class Read:
    """A recording as far as no picture is involved."""

    name: str
    trace: Trace
    diagnosis: Diagnosis


@functools.cache
def read(name: str) -> Read:
    trace = KeptRecording(load(FOLDER / f"{name}.tape")).wait()
    return Read(name, trace, diagnose(trace))


@pytest.fixture(params=sampled([path.stem for path in RECORDINGS], 4))
def recording(request: pytest.FixtureRequest) -> Read:
    return read(request.param)


@pytest.fixture(autouse=True)
def application(qapp: Any) -> Any:
    """pytest-qt's, made before a painter makes its own."""
    return qapp
