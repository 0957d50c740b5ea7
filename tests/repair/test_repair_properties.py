"""Properties of every text: nothing is raised, no line is lost, what Python reads is left alone."""

from __future__ import annotations

import ast
import time
import warnings

import pytest
import snippets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapeviz.repair import missing_imports, repair

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
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
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


LONG = 4_000
HOSTILE = {
    "prompts": ">>> x = 1\n" * LONG,
    "training loops": snippets.flush_left(snippets.TRAINING) * (LONG // 11),
    "sentences": "This sentence tells you nothing at all.\nx = 1\n" * (LONG // 2),
    "open brackets": "x = (1,\n" * LONG,
    "open quotes": "x = '''\ny = \"\"\"\n" * (LONG // 2),
    "headers": "if x:\n" * LONG,
    "tapes": "with tf.GradientTape() as g:\n" * LONG,
    "staircase": "\n".join(" " * (i % 97) + "x = 1" for i in range(LONG)),
    "deep": "(" * LONG,
    "one line": "x = 1 + " * LONG,
    "quotes in one line": "“a' " * LONG,
    "clauses": "else:\n" * LONG,
    "rows": "[[1. 2. 3.]\n" * LONG,
    "tensors": "<tf.Tensor: shape=(2,), numpy=\n" * LONG,
    "tracebacks": "Traceback (most recent call last):\n" * LONG,
    "words": "a b c d e f " * LONG,
    "spaces": "x = 1" + " " * LONG + "y\n" * 100,
    "backslashes": "x = 1 \\\n" * LONG,
    "numbers": "\n".join(f"{i} x = {i}" for i in range(LONG)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_long_texts_take_little_time(name: str) -> None:
    start = time.process_time()
    repair(HOSTILE[name])
    assert time.process_time() - start < 4, "4,000 lines are to take less than a second"
