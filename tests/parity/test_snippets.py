"""Snippets that look out for an observer find none.

``TAPEVIZ_PYTHON=…/bin/python pytest tests/parity/test_snippets.py`` runs them with another
interpreter and its TensorFlow, plainly and recorded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..sampling import sampled
from .comparing import check_same
from .corpus import corpus
from .function_snippets import FUNCTION_SNIPPETS
from .plain_runs import PlainRuns
from .recombining import check_recombines
from .recorded_runs import recorded
from .snippets import SNIPPETS, Snippet

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder


@pytest.mark.parametrize(
    "each", [*sampled([*SNIPPETS, *FUNCTION_SNIPPETS], 7), *corpus()], ids=lambda each: each.name
)
def test_snippet(each: Snippet, plain: PlainRuns, recorder: Recorder, tmp_path: Path) -> None:
    """Run a snippet plainly, then recorded, as a file in the same folder, empty both times."""
    expected = plain.run_untouched(each.text, _only(each, tmp_path), argv=each.arguments)
    with recorded(recorder, each.text, each.arguments, _only(each, tmp_path)) as run:
        check_same(expected, run, lambda: plain.run(each.text, argv=each.arguments).calls)
        if not each.merges_sums:
            check_recombines(run)


def _only(each: Snippet, folder: Path) -> Path:
    """A folder in ``folder`` that holds the snippet and nothing else."""
    here = folder / "here"
    if here.exists():
        here.rename(folder / "before")
    here.mkdir()
    (here / "snippet.py").write_text(each.text, encoding="utf-8")
    return here
