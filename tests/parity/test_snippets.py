"""Snippets that look out for an observer find none.

``TAPEVIZ_PYTHON=…/bin/python pytest tests/parity/test_snippets.py`` runs them with another
interpreter and its TensorFlow, plainly and recorded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .comparing import check_same
from .corpus import corpus
from .function_snippets import FUNCTION_SNIPPETS
from .plain_runs import PlainRuns
from .recombining import check_recombines
from .recorded_runs import recorded
from .snippets import SNIPPETS, Snippet

if TYPE_CHECKING:
    from tapeviz.recording import Recorder

INTERPRETER = os.environ.get("TAPEVIZ_PYTHON", sys.executable)
_AT_ONCE = 2

pytestmark = pytest.mark.timeout(300)  # several run at once, and the first waits for all it needs


@pytest.fixture(scope="module")
def checks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Future[None]]]:
    """The snippets that are asked for, several at once."""
    from tapeviz.kernel import KernelPool, choose_interpreter
    from tapeviz.recording import Recorder

    chosen = [one.callspec.params["each"] for one in request.session.items if _is_here(one)]
    plain = PlainRuns(INTERPRETER)
    with (
        KernelPool(choose_interpreter(INTERPRETER), reserve=_AT_ONCE) as pool,
        ThreadPoolExecutor(_AT_ONCE) as threads,
    ):
        pool.warm()
        yield {
            each.name: threads.submit(
                check, each, plain, Recorder(pool), tmp_path_factory.mktemp("snippet")
            )
            for each in chosen
        }
        threads.shutdown(cancel_futures=True)
    plain.close()


def _is_here(item: pytest.Item) -> bool:
    return item.path == Path(__file__) and isinstance(item, pytest.Function)


def check(each: Snippet, plain: PlainRuns, recorder: Recorder, folder: Path) -> None:
    """Run a snippet plainly, then recorded, as a file in the same folder, empty both times."""
    expected = plain.run_untouched(each.text, _only(each, folder), argv=each.arguments)
    with recorded(recorder, each.text, each.arguments, _only(each, folder)) as run:
        check_same(expected, run, lambda: plain.run(each.text, argv=each.arguments).calls)
        check_recombines(run)


def _only(each: Snippet, folder: Path) -> Path:
    """A folder in ``folder`` that holds the snippet and nothing else."""
    here = folder / "here"
    if here.exists():
        here.rename(folder / "before")
    here.mkdir()
    (here / "snippet.py").write_text(each.text, encoding="utf-8")
    return here


@pytest.mark.parametrize(
    "each", [*SNIPPETS, *FUNCTION_SNIPPETS, *corpus()], ids=lambda each: each.name
)
def test_snippet(each: Snippet, checks: Mapping[str, Future[None]]) -> None:
    checks[each.name].result()
