"""Snippets that look out for an observer find none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .comparing import check_same
from .function_snippets import FUNCTION_SNIPPETS
from .plain_runs import PlainRuns
from .recombining import check_recombines
from .recorded_runs import recorded
from .snippets import SNIPPETS, Snippet

if TYPE_CHECKING:
    from tapeviz.recording import Recorder


@pytest.mark.parametrize("each", [*SNIPPETS, *FUNCTION_SNIPPETS], ids=lambda each: each.name)
def test_snippet(each: Snippet, plain: PlainRuns, recorder: Recorder) -> None:
    expected = plain.run(each.text, argv=each.arguments)
    with recorded(recorder, each.text, each.arguments) as run:
        check_same(expected, run)
        check_recombines(run)
