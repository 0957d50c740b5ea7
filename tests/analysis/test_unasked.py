"""Why a run asked for no gradient, from its text."""

from __future__ import annotations

import pytest

from tapeviz.analysis.unasked import LONG, unasked_words

STEP = """\
def step(x, y, rate=0.1):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * y)
    return tape.gradient(loss, x)
"""
TRAINER = """\
class Trainer:
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = x * x
        return tape.gradient(loss, x)
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y = tf.square(3.0)\n", "neither gradient nor jacobian"),
        ("y = np.gradient([1.0, 4.0])\n", "neither gradient nor jacobian"),
        ("y = (\n", "neither gradient nor jacobian"),
        (STEP, "line 4 asks for one, but nothing calls step, in which it stands"),
        (STEP, "Add a line that does:  step(x, y)"),
        (f"@tf.function\n{STEP}print('end')\n", "nothing calls step"),
        (TRAINER, "nothing makes Trainer"),
        (f"{STEP}for x in []:\n    step(x, x)\n", "the run did not come to line 4"),
        (f"{TRAINER}Trainer()\n", "the run did not come to line 5"),
        ("if False:\n    tape.gradient(y, x)\n", "the run did not come to line 2"),
    ],
)
def test_the_reason_is_read_from_the_text(text: str, words: str) -> None:
    assert words in unasked_words(text)


def test_a_function_that_calls_itself_is_called_by_nothing() -> None:
    assert "nothing calls step" in unasked_words(f"{STEP}    step(x, y)\n")


def test_of_a_long_text_no_line_is_named() -> None:
    long = f"# {'x' * LONG}\n"
    assert unasked_words(f"{long}{STEP}") == "No gradient was asked for."
    assert "neither gradient nor jacobian" in unasked_words(long)
