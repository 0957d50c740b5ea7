"""Values in the JSON report: exact, and always JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tapeviz.analysis.run_words import ending_words, plain_message
from tapeviz.cli.report import elements
from tapeviz.trace.model import Ending
from tests.document.sample import make_trace


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_come_back_bit_for_bit(dtype: str) -> None:
    value = np.random.default_rng(0).normal(size=(3, 4)).astype(dtype)
    back = np.array(json.loads(json.dumps(elements(value))), dtype)
    assert back.tobytes() == value.tobytes()


def test_what_json_cannot_say_comes_as_strings() -> None:
    assert elements(np.array([[1.0, np.nan], [np.inf, -np.inf]])) == [
        [1.0, "NaN"],
        ["Infinity", "-Infinity"],
    ]
    assert elements(np.array(1 + 2j)) == "(1+2j)"
    assert elements(np.array([True, False])) == [True, False]


def test_where_a_run_was_stopped_and_after_how_many_steps() -> None:
    stopped = replace(make_trace(), ending=Ending("interrupted", 1.0, "line 5"))
    assert ending_words(stopped) == "stopped at line 5"
    many = replace(stopped, calls=stopped.calls * 1200)
    assert ending_words(many) == "stopped at line 5, after 1,200 steps"
    late = replace(stopped, ending=Ending("timeout", 3.0, "stopped after the time limit of 3 s"))
    assert ending_words(late) == "stopped after the time limit of 3 s"
    assert ending_words(make_trace()) == ""
    assert ending_words(replace(stopped, ending=Ending("exit", 1.0, "2"))) == "exit: 2"


def test_what_autograph_puts_around_a_message_goes_but_for_the_line_of_the_snippet() -> None:
    raised = (
        'in user code:\n\n    File "/home/a.py", line 12, in train  *\n        opt.apply(grads)\n'
        '    File "/lib/keras/optimizer.py", line 462, in apply_gradients  **\n'
        "        self.apply(grads, trainable_variables)\n\n"
        "    ValueError: No gradients:\n    none at all.\n"
    )
    assert plain_message(raised) == (
        "No gradients:\nnone at all.\n(line 12, in train: opt.apply(grads))"
    )
    assert plain_message("{{function_node __wrapped__MatMul}} Matrix size") == "Matrix size"
    assert plain_message("too few [Op:MatMul] name: ") == "too few [Op:MatMul]"
    assert plain_message("\x1b[1mNo attribute\x1b[0m, \x1b[38;5;34mDense\x1b[0m") == (
        "No attribute, Dense"
    )
    assert plain_message("too few [Op:MatMul] name: mine") == "too few [Op:MatMul] name: mine"
    assert plain_message("in user code: no, of the user") == "in user code: no, of the user"


def test_lines_of_numbers_and_frames_in_packages_are_left_out_of_a_message() -> None:
    numbers = "".join(f"       [0.{line}, -1e-3],\n" for line in range(5))
    frame = '    File "/lib/site-packages/tensorflow/ops.py", line {}, in f\n'
    own = '    File "/home/site.py", line 5, in f\n'
    raised = f"input array([[1.0, 2.0],\n{numbers}       [3.0]]) does not fit\n"
    assert plain_message(raised) == "input array([[1.0, 2.0],\n    …\n       [3.0]]) does not fit"
    defined = "defined here:\n" + own + frame.format(1) + frame.format(2) + own + "out of scope"
    assert plain_message(defined) == f"defined here:\n{own}    …\n{own}out of scope"
    code = "        return f(x)\n               ^^^^\n\n"
    called = f"raised\n{frame.format(1)}{code}{frame.format(2)}{code}ValueError: no"
    assert plain_message(called) == "raised\n    …\nValueError: no"
    for kept in ("shapes\n[2, 3]\n[3]", "Indices:\n[[0]\n [1]\n [2]]\nof x", "a\n\n\n\n\nb"):
        assert plain_message(kept) == kept
    deep = frame.format(1) + f"{' ' * 40}x\n" * 30  # ways to split its spaces would multiply
    assert plain_message(f"raised\n{deep}ValueError: no") == f"raised\n{deep}ValueError: no"
