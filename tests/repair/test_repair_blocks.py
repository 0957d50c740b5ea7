"""Pages with several blocks of code: those that cannot run are left out, the others run."""

from __future__ import annotations

import ast

import pytest

from tapeviz.repair import repair

GOOD = "x = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = x * x\ntape.gradient(y, x)\n"


def code_of(text: str) -> list[str]:
    found = repair(text)
    assert found.error is None, found.error
    return ast.unparse(ast.parse(found.text)).splitlines()


def left_out(text: str) -> list[tuple[int, int, str]]:
    return [(part.line, part.last_line, part.why) for part in repair(text).skipped]


def test_a_block_that_does_not_parse_is_left_out() -> None:
    broken = "z = tf.exp((x\nw = 3\n"
    text = f"This one works:\n\n{GOOD}\nBut this one does not, as you can see:\n\n{broken}"
    assert code_of(text) == GOOD.splitlines()
    ((first, last, why),) = left_out(text)
    assert (first, last) == (10, 11)
    assert why.startswith("line 10: ")
    assert "never closed" in why
    assert repair(text).blocks == 2
    page = repair(text)
    assert page.blocks - len(page.skipped) == 1
    assert repair(text).text.split("\n")[9:11] == ["# z = tf.exp((x", "# w = 3"]


def test_of_a_block_only_the_statement_that_does_not_parse_is_left_out() -> None:
    broken = GOOD + "print(tape.gradient(y, x)\nwith tape:\n    z = (2\n    w = 3\nlast = 4\n"
    text = f"Some words before it:\n\nfirst = 1\n\nAnd this is what I ran:\n\n{broken}"
    assert code_of(text) == ["first = 1", *GOOD.splitlines(), "last = 4"]
    begin = 7 + GOOD.count("\n")
    assert [(first, last) for first, last, _ in left_out(text)] == [
        (begin, begin),
        (begin + 1, begin + 3),
    ]


def test_a_block_is_left_out_from_the_first_undefined_name_on() -> None:
    text = f"My real code:\n\nn = 3\nout = model(batch)\nm = 4\n\nA small example of it:\n\n{GOOD}"
    assert code_of(text) == ["n = 3", *GOOD.splitlines()]
    assert left_out(text) == [(4, 5, "model is defined nowhere before it")]


def test_what_a_left_out_block_would_have_bound_is_undefined_as_well() -> None:
    text = (
        "First of all this:\n\nout = model(\n\nThen I do this with it:\n\nloss = out + 1\n\n"
        f"This is fine:\n\n{GOOD}"
    )
    assert code_of(text) == GOOD.splitlines()
    assert [(first, last) for first, last, _ in left_out(text)] == [(3, 3), (7, 7)]


@pytest.mark.parametrize(
    "code",
    [
        "squares = [k * k for k in range(3)]",
        "if (n := 3) > 2:\n    pass",
        "def f(a, b=2):\n    return a + b + later\nlater = 1\nf(1)",
        "try:\n    unknown\nexcept NameError:\n    unknown = 0",
        "for k in range(3):\n    total = k",
        "def g():\n    global counter\n    counter = 1\ng()\ncounter",
        "class A:\n    size = 3\n    double = size * 2",
        "print(__name__, len([1]))",
        "key = lambda q: q + 1",
    ],
)
def test_names_that_python_would_find_leave_nothing_out(code: str) -> None:
    text = f"I wrote this part first:\n\n{code}\n\nAnd after that I wrote this:\n\n{GOOD}"
    assert left_out(text) == []


@pytest.mark.parametrize("binder", ["from math import *", "exec('q = 1')", "globals()['q'] = 1"])
def test_names_may_be_bound_unseen(binder: str) -> None:
    text = f"I wrote this part first:\n\n{binder}\n\nAnd after that I wrote this:\n\nq + 1\n"
    assert left_out(text) == []


@pytest.mark.parametrize(
    "program",
    ["y = model(3)\n", "y = tf.exp((3\n", "The loss is None, why is that?\n\ny = model(3)\n"],
)
def test_one_program_is_never_split(program: str) -> None:
    found = repair(program)
    assert found.skipped == ()
    assert found.blocks == 1


def test_a_session_is_one_program() -> None:
    session = ">>> a = 1\n>>> a\n1\n>>> missing\nNameError: name 'missing' is not defined\n"
    assert left_out(session) == []


def test_when_no_block_can_run_nothing_is_left_out() -> None:
    text = "My first try was this:\n\ny = model(3)\n\nMy second try was this:\n\nz = network(3)\n"
    assert left_out(text) == []


def test_code_goes_on_behind_a_sentence_in_its_body() -> None:
    text = (
        "This is what I have so far:\n\ndef f(x):\n    y = x * x\n\n"
        "and here it goes on like this:\n\n    return y\n\nThen I call it like this:\n\nf(2))\n"
    )
    assert code_of(text) == ["def f(x):", "    y = x * x", "    return y"]


def test_the_label_of_a_fence_does_not_decide() -> None:
    text = f"Code:\n\n```shell\n{GOOD}```\n\nOutput:\n\n```shell\n$ python run.py\nNone\n```\n"
    assert code_of(text) == GOOD.splitlines()
    bash = f"```bash\ncd models\nls -la\nexport A=1\n```\n\n```python\n{GOOD}```\n"
    assert code_of(bash) == GOOD.splitlines()


@pytest.mark.parametrize("count", [10, 1000])
def test_many_broken_blocks(count: int) -> None:
    text = "".join(f"Try number {i} looked like this:\n\nx{i} = ((\n\n" for i in range(count))
    found = repair(text + "In the end this worked fine:\n\ny = 1\n")
    assert len(found.skipped) == count
    assert found.blocks == count + 1
