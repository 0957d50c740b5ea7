"""Functions in; their lines before and after they are put on one, out."""

from __future__ import annotations

import sys
import traceback

import pytest

from tapeviz.kernel.inside.line_tables import put_callers_on_one_line, put_on_one_line

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="line numbers cost nothing there"
)
_WALK = """
import sys
frame, long = sys._getframe().f_back, []
while frame is not None:
    code = frame.f_code
    lines = {line for start, _, line in code.co_lines() if start <= frame.f_lasti}
    long += [code.co_name] if len(lines) > 1 else []
    frame = frame.f_back
emit(kind='long', names=long)
"""


def _made(text: str):
    space = {}
    exec(text, space)
    return space["f"]


def test_a_function_on_one_line_runs_and_raises_as_before():
    long = "".join(f"    a{number} = [{number}, len('abc')]\n" for number in range(500))
    f = _made(f"def f(x):\n{long}    return a499[x]\n")
    put_on_one_line(f)
    assert f(0) == 499
    assert {line for _, _, line in f.__code__.co_lines()} == {1}
    try:
        f(2)
    except IndexError as error:
        told = traceback.TracebackException.from_exception(error)
        assert [frame.lineno for frame in told.stack][1:] == [1]
        assert list(told.format())


def test_builtin_functions_and_generators_are_taken_too():
    f = _made("def f(x):\n    for i in x:\n        yield 1 / i\n")
    put_on_one_line(f, len)
    assert list(f([1, 2])) == [1.0, 0.5]


def test_callers_are_functions_and_methods():
    class Base:
        def run(self):
            put_callers_on_one_line(sys._getframe())
            return 1

    class Kind(Base):
        pass

    assert Kind().run() == 1
    assert {line for _, _, line in Base.run.__code__.co_lines()} == {
        Base.run.__code__.co_firstlineno
    }


def test_below_a_snippet_few_functions_have_lines_to_be_searched(play):
    (told,) = play(_WALK).told("long")
    ours = {"serve", "_run", "_run_script", "_record"}
    of_ipython = {"run_code", "run_ast_nodes", "run_cell_async", "do_execute", "dispatch_shell"}
    assert (ours | of_ipython).isdisjoint(told["names"])
