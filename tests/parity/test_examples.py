"""Each example of the gallery runs the same with tapeviz and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tapeviz.examples import Example, examples

from .comparing import check_same
from .plain_runs import PlainRuns
from .recombining import check_recombines
from .recorded_runs import recorded

if TYPE_CHECKING:
    from tapeviz.recording import Recorder


@pytest.mark.parametrize("each", examples(), ids=lambda each: each.name)
def test_example(each: Example, plain: PlainRuns, recorder: Recorder) -> None:
    expected = plain.run(each.text)
    with recorded(recorder, each.text) as run:
        check_same(expected, run)
        check_recombines(run)
