"""Places in a snippet, without a kernel: the tree of frames and their positions."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakSet

import pytest

import tapeviz

PATH = Path(tapeviz.__file__).parent / "recorder" / "sites.py"
NAME = "snippet.py"


def load_sites() -> ModuleType:
    """The module alone: its package imports TensorFlow."""
    spec = importlib.util.spec_from_file_location("sites_alone", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seen(source: str, **limits: int) -> tuple[list[Any], list[list[tuple[Any, ...]]]]:
    """The sites that are sent for ``op()``, and the frames that Python's traceback tells."""
    module = load_sites()
    vars(module).update(limits)
    sites = module.Sites(source, NAME, seen.__code__)
    stacks = []

    def op() -> int:
        frame = sys._getframe(1)
        stacks.append(
            [
                (above.name, above.lineno)
                for above in reversed(traceback.StackSummary.extract(traceback.walk_stack(frame)))
                if above.filename == NAME
            ]
        )
        numbers.append(sites.here(frame))
        return 0

    numbers: list[int] = []
    exec(compile(source, NAME, "exec"), {"op": op})
    sent = {number: (frame, caller) for number, frame, caller in sites.unsent()}
    chains = []
    for number in numbers:
        chain = []
        while number:
            frame, caller = sent[number]
            chain.append(tuple(frame))
            assert caller < number, "the caller is sent first"
            number = caller
        chains.append(chain)
    return chains, stacks


def test_frames_are_those_of_a_traceback_with_their_columns() -> None:
    source = """
def f(n):
    x = [op() for _ in 'ab'], 'é' and op()
    return f(n - 1) if n else (op() +
                               op())
class C:
    y = f(1)
op(); op()
"""
    chains, stacks = seen(source)
    assert len(chains) == 10
    for chain, frames in zip(chains, stacks, strict=True):
        assert len(chain) == len(frames)
        assert [frame[:2] for frame in chain] == frames[::-1]
    positions = {chain[0][1:] for chain in chains}
    if sys.version_info >= (3, 11):
        assert (3, 9, 3, 13) in positions
        assert (3, 38, 3, 42) in positions  # characters: é has two bytes
        assert (5, 31, 5, 35) in positions
        assert (8, 0, 8, 4) in positions
        assert (8, 6, 8, 10) in positions


def test_deep_stacks_are_told_once() -> None:
    depth = 400
    source = f"def f(n):\n    op()\n    if n: f(n - 1)\nf({depth})\n"
    sites = load_sites().Sites(source, NAME, seen.__code__)
    exec(compile(source, NAME, "exec"), {"op": lambda: sites.here(sys._getframe(1))})
    sent = sites.unsent()
    # The call in the module, and in each f the call of op and that of the next f.
    assert len(sent) == 1 + (depth + 1) + depth
    assert all(frame[0] in ("f", "<module>") for _, frame, _ in sent)


@pytest.mark.parametrize("limits", [{}, {"_DEEP": 2, "_BETWEEN": 1}], ids=["usual", "all marked"])
def test_deep_stacks_are_those_of_a_traceback(limits: dict[str, int]) -> None:
    """Only the frames of a deep stack below a mark are walked over."""
    source = """
def down(n):
    if n % 40 == 0:
        op()
    if n == 200:
        down(n - 1)
        down(n - 1); op()
    elif n == 150:
        resumed = turns(n)
        next(resumed), next(resumed)
        for _ in resumed:
            op()
    elif n:
        [down(n - 1) for _ in 'a']
    op() if n % 30 == 0 else 0
def turns(n):
    for _ in range(3):
        down(n - 1)
        yield
down(320)
op()
"""
    chains, stacks = seen(source, **limits)
    assert max(map(len, stacks)) > 2 * 128
    for chain, frames in zip(chains, stacks, strict=True):
        assert [frame[:2] for frame in chain] == frames[::-1]


def test_deep_stacks_of_generated_code_are_the_same_with_marks() -> None:
    """A function that calls itself is one place there, whichever of its frames is marked."""
    source = """
def even(n):
    return twice(even, odd, n - 1) if n in (147, 294) else odd(n - 1) if n else op()
def odd(n):
    op() if n % 40 == 1 else 0
    return itself(n - 1, 3)
def itself(n, again):
    op() if n % 50 == 0 else 0
    return itself(n, again - 1) if again else outside(n - 1) if n % 7 else even(n)
def outside(n):
    op() if n % 30 == 0 else 0
    return itself(n, 0) if n > 0 else op()
even(400)
op()
"""
    lines = range(source.count("\n") + 1)
    functions = {2: "even", 3: "even", 4: "odd", 5: "odd", 6: "odd", 7: "itself"}
    generated = {
        ("generated.py", line): (NAME, 100 + line, functions.get(line, "itself")) for line in lines
    }

    def chains(**limits: int) -> list[list[tuple[Any, ...]]]:
        module = load_sites()
        vars(module).update(limits)
        sites = module.Sites(source, NAME, seen.__code__)
        numbers: list[int] = []

        def op() -> int:
            numbers.append(sites.here_in_graph(sys._getframe(1), generated))
            return 0

        def twice(first: Any, then: Any, n: int) -> None:
            first(n)
            then(n)

        names: dict[str, Any] = {"op": op, "twice": twice}
        exec(compile(source, "generated.py", "exec"), names)
        apart = "\n" * 9 + source[source.index("def outside") : source.index("even(400)")]
        exec(compile(apart, NAME, "exec"), names)
        exec(compile("\neven(400); op()", "generated.py", "exec"), names)
        sent = {number: (frame, caller) for number, frame, caller in sites.unsent()}
        found = []
        for number in numbers:
            chain = []
            while number:
                frame, number = sent[number]
                chain.append(tuple(frame))
            found.append(chain)
        return found

    plain = chains(_DEEP=10_000)
    assert max(map(len, plain)) > 200
    assert chains() == plain
    assert chains(_DEEP=2, _BETWEEN=1) == plain
    assert chains(_DEEP=2, _BETWEEN=2) == plain


def test_a_deep_stack_keeps_no_variables() -> None:
    """The snippet sees when they go: by ``__del__``, by a weak reference."""
    source = (
        "def f(n):\n    kept = Kept()\n    f(n - 1) if n else op()\n    op() if n == 200 else 0\n"
        "f(400)\ncount()\n"
    )
    kept, alive = WeakSet[Any](), list[int]()

    class Kept:
        def __init__(self) -> None:
            kept.add(self)

    sites = load_sites().Sites(source, NAME, seen.__code__)

    def op() -> None:
        sites.here(sys._getframe(1))
        count()

    def count() -> None:
        alive.append(len(kept))

    exec(compile(source, NAME, "exec"), {"op": op, "Kept": Kept, "count": count})
    assert alive == [401, 201, 0]


def test_marks_of_a_deep_stack_trace_nothing() -> None:
    """A trace function that is set below them gets the events that it gets without them; frames
    that have one keep it."""
    source = """
def f(n):
    if n:
        f(n - 1)
    else:
        op()
        trace()
        op()
    return n
f(300)
f(200)
trace(None)
"""

    def events(is_recorded: bool) -> list[tuple[str, int, int]]:
        sites = load_sites().Sites(source, NAME, seen.__code__)
        found: list[tuple[str, int, int]] = []

        def note(frame: Any, event: str, arg: object) -> Any:
            if frame.f_code.co_filename != NAME:
                return None
            found.append((event, frame.f_lineno, frame.f_locals.get("n", 0)))
            return note

        def trace(function: Any = note) -> None:
            sys.settrace(function)

        def op() -> None:
            if is_recorded:
                sites.here(sys._getframe(1))

        traced = sys.gettrace()
        try:
            exec(compile(source, NAME, "exec"), {"op": op, "trace": trace})
        finally:
            sys.settrace(traced)
        return found

    assert events(is_recorded=True) == events(is_recorded=False)


def test_frequent_calls_stay_in_their_place() -> None:
    """Python exchanges their instructions once they are frequent, and ``f_lasti`` changes."""
    source = (
        "class Row:\n"
        "    def __getitem__(self, key):\n"
        "        return op()\n"
        "    @property\n"
        "    def size(self):\n"
        "        return op()\n"
        "    def __radd__(self, other):\n"
        "        return op()\n"
        "row = Row()\n"
        "for i in range(60):\n"
        "    row[i]\n"
        "    row.size\n"
        "    sum([row])\n"
        "def read():\n"
        "    for i in range(60):\n"
        "        row[i], row.size, sum([row])\n"
        "read()\n"
    )
    sites = load_sites().Sites(source, NAME, seen.__code__)
    numbers = []

    def op() -> None:
        # From the method as from an op: the caller is the first frame of the snippet's file.
        numbers.append((sites.here(sys._getframe(1)), sites.here(sys._getframe(2))))

    exec(compile(source, NAME, "exec"), {"op": op})
    assert len(set(numbers)) == 6
    assert len(sites.unsent()) == 13  # 6 in the methods, 6 in their callers, the call of read()


def test_a_place_is_numbered_once() -> None:
    source = "def inner():\n    return here()\ndef outer():\n    return inner(), inner()\n"
    source += "found = [outer() for _ in range(5)]\n"
    sites = load_sites().Sites(source, NAME, test_a_place_is_numbered_once.__code__)
    number, numbered = sites._new, []

    def counted(key: Any, frames: Any, *caller: int) -> Any:
        numbered.append(key)
        return number(key, frames, *caller)

    sites._new = counted
    space: dict[str, Any] = {"here": lambda: sites.here(sys._getframe(1))}
    exec(compile(source, NAME, "exec"), space)
    first, second = space["found"][0]
    assert first != second
    assert space["found"] == [(first, second)] * 5
    assert 2 <= len(numbered) <= 6  # of ten calls; Python may exchange instructions in between
