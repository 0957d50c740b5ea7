"""Properties of every text: nothing is raised, no line is lost, what Python reads is left alone."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable

import pytest
import snippets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapeviz.repair import missing_imports, repair
from tests.sampling import IS_WHOLE

PIECES = [
    *(line for code in snippets.ALL.values() for line in code.splitlines()),
    ">>> x = 1", "... y = 2", "In [3]: z", "Out[3]:", "```python", "```", "Copy code",
    "%matplotlib inline", "!pip install tensorflow", "12 x = 1", "13 y = 2", "说明文字。", "“x” =",
    "This is how you do it:", "x = (", "]", "'''", '"""', "\\", "x = 1 \\  ", "\tx = 1", "  y",
    "&gt;&gt;&gt; x", "else:", "return 1", "@wraps", "class A:", "def f(self):", "case 1:",
    "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>", "[[1. 2.]", " [3. 4.]]", "Traceback (most",
    "match x:", "async def f():", "lambda: (yield)", "f'{x!r:>{w}}'", "\x0c", "\ufeff", "\u2028",
]  # fmt: skip
anything = st.text(max_size=300)
lines = st.lists(
    st.tuples(
        st.sampled_from(["", "", "    ", "\t", "  ", "        ", "\u3000"]), st.sampled_from(PIECES)
    ),
    max_size=25,
).map(lambda pairs: "\n".join(margin + text for margin, text in pairs))
texts = st.one_of(anything, lines, st.tuples(lines, anything).map("\n".join))
patient = settings(
    max_examples=150 if IS_WHOLE else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


def parses(text: str) -> bool:
    if "In [" in text or "Out[" in text:  # these parse by accident
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return False
    return True


@patient
@given(texts)
def test_a_repair_keeps_every_line_and_is_done_once(text: str) -> None:
    found = repair(text)
    assert found.text.count("\n") == text.count("\n")
    assert len(found.text.splitlines()) == len(text.splitlines())
    again = repair(found.text)
    assert (again.text, again.repairs) == (found.text, ())
    if parses(text):
        assert (found.text, found.repairs) == (text, ())
    elif found.error:
        assert (found.text, found.repairs) == (text, ())
        assert 1 <= found.error.line <= text.count("\n") + text.count("\r") + 1
        assert found.error.column >= 1
        assert found.error.message
    else:
        ast.parse(found.text)
        before, after = text.split("\n"), found.text.split("\n")
        if "\r" not in text:
            changed = {
                i for i, pair in enumerate(zip(before, after, strict=True), 1) if len(set(pair)) > 1
            }
            left_out = {
                line for part in found.skipped for line in range(part.line, part.last_line + 1)
            }
            assert changed - left_out == {repair.line for repair in found.repairs} - left_out
            assert all(after[line - 1].strip()[:1] in ("#", "") for line in changed & left_out)


@patient
@given(texts)
def test_missing_imports_never_raises(text: str) -> None:
    assert missing_imports(text) <= {"tf", "np", "keras"}


@pytest.mark.parametrize("name", snippets.ALL)
def test_line_ends_of_windows_are_kept(name: str) -> None:
    text = snippets.prompted(snippets.ALL[name]).replace("\n", "\r\n")
    found = repair(text)
    assert found.error is None
    assert found.text.count("\r\n") == text.count("\r\n") == found.text.count("\n")


FEW = 500
HOSTILE: dict[str, Callable[[int], str]] = {
    "prompts": lambda n: ">>> x = 1\n" * n,
    "training loops": lambda n: snippets.flush_left(snippets.TRAINING) * (n // 11),
    "sentences": lambda n: "This sentence tells you nothing at all.\nx = 1\n" * (n // 2),
    "open brackets": lambda n: "x = (1,\n" * n,
    "open quotes": lambda n: "x = '''\ny = \"\"\"\n" * (n // 2),
    "headers": lambda n: "if x:\n" * n,
    "tapes": lambda n: "with tf.GradientTape() as g:\n" * n,
    "staircase": lambda n: "\n".join(" " * (i % 97) + "x = 1" for i in range(n)),
    "deep": lambda n: "(" * (4 * n),
    "one line": lambda n: "x = 1 + " * n,
    "quotes in one line": lambda n: "“a' " * n,
    "clauses": lambda n: "else:\n" * n,
    "rows": lambda n: "[[1. 2. 3.]\n" * n,
    "tensors": lambda n: "<tf.Tensor: shape=(2,), numpy=\n" * n,
    "tracebacks": lambda n: "Traceback (most recent call last):\n" * n,
    "words": lambda n: "a b c d e f " * n,
    "spaces": lambda n: "x = 1" + " " * n + "y\n" * 100,
    "backslashes": lambda n: "x = 1 \\\n" * n,
    "numbers": lambda n: "\n".join(f"{i} x = {i}" for i in range(n)),
}


def calls_to_repair(text: str) -> int:
    """How many functions are called and left, those of C too."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        repair(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_length_of_the_text(name: str) -> None:
    text = HOSTILE[name]
    assert calls_to_repair(text(2 * FEW)) < 2.5 * calls_to_repair(text(FEW))
