"""Text that cannot be repaired is reported on its line, and the text comes back whole."""

from __future__ import annotations

import ast
import random

import pytest
import snippets

from tapeviz.repair import repair

KEYS = "abcdefghijklmnopqrstuvwxyz ()[]:=.,"

CASES = {
    "a bracket left open": ("y = tf.square(x\nz = y\n", 1, "never closed"),
    "a bracket left open in a header": (
        "x = 1\nwith tf.GradientTape(True as tape:\n    y = x\n",
        2,
        "( is still open",
    ),
    "the wrong bracket": ("x = 1\ny = [1, (2, 3]\n", 2, "does not match"),
    "a bracket too many": ("x = 1)\n", 1, "unmatched"),
    "an open quote": ("x = 'one\ny = 2\n", 1, "unterminated string"),
    "a colon left out": ("with tf.GradientTape() as tape\n    y = x\n", 1, "expected ':'"),
    "a keyword misspelt": ("def f(x):\n    retrun x\n", 2, "“return”"),
    "a clause misspelt": ("if x:\n    y = 1\nesle:\n    y = 2\n", 3, "“else”"),
    "Python 2": ("x = 1\nprint x\n", 2, "print(...)"),
    "an assignment for a comparison": ("if x = 3:\n    y = 1\n", 1, "=="),
    "a remark without its sign": ("y = x * x 平方\n", 1, "#"),
    "words after code": ("loss = y is what we want to minimise here\n", 1, ""),
    "two names in a row": ("from tensorflow import keras layers\n", 1, ""),
    "an operator that the page took for markup": ("x = 3.0\ny = x 2\n", 2, "between “x” and “2”"),
    "several statements on a line": ("import tensorflow as tf x = 1\n", 1, "line of its own"),
    "a block on the line of another": (
        "x = tf.Variable(1.0) with tf.GradientTape() as t: y = x\n",
        1,
        "begins at “with”",
    ),
    "an operator twice": ("x = 2 * / 3\n", 1, ""),
    "return at the top": ("x = 1\nreturn x\n", 2, "outside function"),
    "the first of two": ("x = = 1\ny = 'open\n", 1, ""),
    "among sentences": ("This is how to do it:\ny = x x\nDone and dusted!\n", 2, ""),
    "behind a prompt": (">>> x = 1\n>>> y = (x\n>>> z = 2\n", 2, "never closed"),
    "in a body that stands flush": (
        "with tf.GradientTape() as t:\ny = x *\nz = t.gradient(y, x)\n",
        2,
        "",
    ),
    "half a surrogate pair": ("x = 1\ny = \ud800\n", 2, "U+D800"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_slip_is_told_on_its_line(name: str) -> None:
    text, line, words = CASES[name]
    found = repair(text)
    assert found.text == text
    assert found.repairs == ()
    assert found.error is not None
    assert found.error.line == line
    assert words in found.error.message
    assert "\n" not in found.error.message


def test_the_column_is_the_one_of_the_pasted_line() -> None:
    text = ">>> y = tf.square(x\n"
    problem = repair(text).error
    assert problem is not None
    assert text[problem.column - 1] == "("


@pytest.mark.parametrize(
    "line",
    [
        "pritn(x) y",
        "y = x x",
        "for i in rnage(3) print(i)",
        "lamda x: x",
        "imoprt numpy",
        "x =",
        "del x y",
    ],
)
def test_a_mistyped_line_is_never_taken_for_a_sentence(line: str) -> None:
    text = f"Here is what I tried so far:\n\nx = 1\n{line}\n\n为什么不行?\n"
    found = repair(text)
    assert found.error is not None
    assert found.error.line == 4


def mistype(line: str, chance: random.Random) -> str:
    """The line with one slip of a finger: a key left out, swapped, added or missed."""
    at = chance.randrange(len(line))
    key = chance.choice(KEYS)
    return chance.choice(
        [
            line[:at] + line[at + 1 :],
            line[:at] + line[at + 1 : at + 2] + line[at] + line[at + 2 :],
            line[:at] + key + line[at:],
            line[:at] + key + line[at + 1 :],
        ]
    )


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def test_a_slip_of_the_finger_does_not_lose_its_line() -> None:
    chance = random.Random(20)
    slips = lost = on_line = refused = 0
    for code in list(snippets.ALL.values()) * 60:
        lines = code.splitlines()
        at = chance.choice([index for index, line in enumerate(lines) if line.strip()])
        lines[at] = mistype(lines[at], chance)
        text = "\n".join(["Is there anything wrong with this code?", "", *lines])
        if parses("\n".join(lines)):
            continue
        slips += 1
        found = repair(text)
        if found.error is None:
            line = found.text.split("\n")[at + 2].strip()
            lost += not line or line.startswith("#")
        else:
            refused += 1
            on_line += found.error.line == at + 3
    assert slips > 150
    assert lost <= slips * 0.01
    assert on_line > refused * 0.85  # Python sees some slips only later
