"""Neighbouring lines of straight-line code become sections."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tapeviz.graph.build import build
from tapeviz.graph.groups.branches import Branch, inner_first
from tapeviz.graph.groups.gathering import LEAST_OPS
from tapeviz.graph.groups.reads import Reads
from tapeviz.graph.groups.sections import MOST, gather_sections
from tapeviz.graph.groups.tree import Group, grow
from tapeviz.trace.ids import TensorId

from ..traces import Script


class Program(Script):
    """A snippet that asks for the gradient of what its last line makes."""

    def __init__(self, source: str = "") -> None:
        super().__init__(source)
        self.at = 10
        self.tape_in_use = self.tape()
        self.x = self.tensor((), name="x")
        self.watch(self.tape_in_use, self.x)

    def line(self, name: str, *inputs: TensorId, ops: int = 2) -> TensorId:
        """A line that binds a name to the last of its ops."""
        self.at += 1
        made = self.op("AddN", list(inputs), line=self.at, name=name if ops == 1 else "")
        for number in range(1, ops):
            made = self.op("Exp", [made], line=self.at, name=name if number == ops - 1 else "")
        return made

    def groups(self, target: TensorId) -> list[Group]:
        with self.call(self.tape_in_use, [target], [self.x]) as results:
            results.append(0)
        trace = self.trace()
        return list(grow(build(trace), trace).groups.values())


def outermost(groups: list[Group]) -> list[tuple[str, int, int]]:
    return [(group.title, group.line, group.last) for group in groups if not group.parent]


def test_each_term_of_a_loss_is_a_section_with_its_name() -> None:
    s = Program()
    a = s.line("ratio", s.x)
    policy = s.line("policy_loss", s.line("clipped", a), a)
    b = s.line("values", s.x)
    value = s.line("value_loss", s.line("error", b), b)
    groups = s.groups(s.line("loss", policy, value))
    assert outermost(groups) == [("policy_loss", 11, 13), ("value_loss", 14, 16)]


@pytest.mark.parametrize("is_cut", [True, False])
def test_sections_end_where_an_op_stands_that_is_never_folded_away(is_cut: bool) -> None:
    """A section with a cut in it would never be closed, and hide nothing of what is around it."""
    s = Program()
    value = s.line("head", s.line("stem", s.x))
    rounded = s.line("rounded", value, ops=1)
    number = s.last_op
    value = s.line("tail", s.line("neck", rounded, ops=1), ops=3)
    target = s.line("loss", value, ops=1)
    with s.call(s.tape_in_use, [target], [s.x]) as results:
        s.step(number, [s.tensor()], [0 if is_cut else s.tensor()])
        results.append(0)
    trace = s.trace()
    found = outermost(list(grow(build(trace), trace).groups.values()))
    parts = [("head", 11, 12), ("tail", 14, 15)]
    assert (found == parts) is is_cut


def test_a_value_that_many_lines_read_is_the_last_of_its_section() -> None:
    s = Program()
    code = s.line("code", s.x)
    found = s.line("found", s.line("near", code), code)
    commit, embed = s.line("commit", found, ops=1), s.line("embed", found, ops=1)
    back = s.line("back", s.line("straight", code, found))
    groups = s.groups(s.line("loss", commit, embed, back))
    assert outermost(groups) == [("code, found", 11, 13), ("back, …", 16, 18)]


def test_a_section_that_is_most_of_a_layer_has_its_name() -> None:
    s = Program()
    value, line = s.x, 11
    for scope in (*["gru"] * 3, *["gru/cell"] * 9, *["gru"] * 3):
        value = s.op("Exp", [value], line=line, scope=scope)
    groups = s.groups(s.line("loss", value))
    assert [group.title for group in groups if group.ops > 9] == ["gru", "gru"]


@pytest.mark.parametrize("count", [40, 3000])
def test_a_chain_of_lines_becomes_sections_in_sections(count: int) -> None:
    s = Program()
    value = s.x
    for number in range(count):
        value = s.line(f"h{number}", value, ops=1)
    groups = s.groups(value)
    inside = dict.fromkeys(("", *(group.path for group in groups)), 0)
    for group in groups:
        inside[group.parent] += 1
        assert group.ops >= LEAST_OPS
    assert all(number <= MOST for number in inside.values())
    deepest = max(group.path.count("/") for group in groups)
    assert deepest < 12


def test_layers_fold_where_their_sequence_begins_anew() -> None:
    """A functional model on one line: parts of it are told by their layers, not by the line."""
    s = Program()
    value = s.x
    for number in range(8):
        end = f"_{number}" if number else ""
        for layer in ("conv", "norm", "relu"):
            for kind in ("Mul", "Add", "Exp", f"Kind{number}"):  # nothing repeats
                value = s.op(kind, [value], line=5, scope=f"{layer}{end}")
    titles = [group.title for group in s.groups(value) if " … " in group.title]
    assert len(titles) > 1
    assert all(title.startswith("conv") and " … relu" in title for title in titles), titles


@pytest.mark.parametrize(("others", "sections"), [(5, True), (80, False)])
def test_a_layer_has_sections_if_it_is_most_of_the_picture(others: int, sections: bool) -> None:
    s = Program()
    value = s.x
    for number in range(13):
        value = s.op(f"Kind{number}", [value], line=5, scope="norm")
    for number in range(others):
        value = s.line(f"h{number}", value, ops=1)
    paths = [group.path for group in s.groups(value)]
    (norm,) = (path for path in paths if path.endswith("norm"))
    assert any(path.startswith(f"{norm}/") for path in paths) == sections


def test_a_section_that_is_mostly_a_loop_has_the_header_of_the_loop() -> None:
    s = Program("\n" * 13 + "while c:\n    y = f(x)\n    x = g(y)\n")
    value = s.line("a", s.x, ops=1)
    kept = [s.line(name, value, ops=1) for name in "bc"]
    for _ in range(20):
        s.at = 14
        value = s.line("x", s.line("y", value, *kept))
    for name in ("d", "e", "f"):
        value = s.line(name, value, *kept, ops=1)
    titles = [title for title, _, last in outermost(s.groups(value)) if last]
    assert titles == ["while c …"]


def test_a_section_around_one_that_is_mostly_a_loop_has_its_header_too() -> None:
    s = Script("\n" * 10 + "for t in range(9):\n    h = f(h)\n" + "\n" * 20)
    value = s.tensor((), name="x")
    for number in range(1, 11):
        value = s.op("AddN", [value], line=number, name="first")
    for _ in range(9):
        s.bind("t", 0, 11)
        for kind in ("Sin", "Exp", "Mul"):
            value = s.op(kind, [value], line=12)
    for number in range(13, 25):
        value = s.op("Sub", [value], line=number, name="last")
    trace = s.trace()
    groups = grow(build(trace), trace).groups.values()
    titles = [group.title for group in groups if group.last and group.ops > 27]
    assert len(titles) > 1
    assert set(titles) == {"for t in range(9) …"}


@pytest.mark.parametrize("size", [6, 40])
def test_a_line_of_many_boxes_between_others_is_in_sections(size: int) -> None:
    calls = [Branch("entry", f"f{number}", 2, ops=4) for number in range(size)]
    for number, call in enumerate(calls):
        call.children = [1 + 4 * number + op for op in range(4)]
    before, after = 0, 1 + 4 * size
    root = Branch("", "", 0, children=[before, *calls, after], ops=after + 1)
    ends = np.arange(after + 1)
    chain = Reads(ends[:-1], ends[1:])

    def make(around: Branch, children: list[Branch | int]) -> Branch:
        ops = sum(child.ops if isinstance(child, Branch) else 1 for child in children)
        return Branch("line", "", 0, None, children, ops)

    def line_of(child: Branch | int) -> int:
        return 2 if isinstance(child, Branch) else 1 + 2 * (child > 0)

    gather_sections(root, chain, line_of, make, LEAST_OPS)
    branches = [branch for branch in inner_first(root) if branch not in calls]
    assert max(len(branch.children) for branch in branches) <= MOST


def test_lines_of_too_few_ops_for_a_section_and_too_many_for_two_become_sections() -> None:
    s = Program()
    value = s.x
    for number in range(40):
        value = s.line(f"a{number}", value, ops=3)
    groups = s.groups(value)
    assert len(outermost(groups)) <= MOST
    assert sum(group.ops for group in groups if not group.parent) > 100


@pytest.mark.parametrize("lines", [3, 4])
def test_lines_that_make_one_section_together_are_none(lines: int) -> None:
    for sizes in product((1, 2, 3), repeat=lines):
        s = Program()
        value = s.x
        for number, ops in enumerate(sizes):
            value = s.line(f"a{number}", value, s.x, ops=ops)
        assert all(group.ops < sum(sizes) for group in s.groups(value)), sizes
