"""The ops of an opened call, as its rerun told them, by hand."""

from __future__ import annotations

from tapeviz.trace import events as e
from tapeviz.trace.compiled.rerun_ops import DrawnOp, Place, RerunOp, RerunOps
from tapeviz.trace.ids import OpId


def _drawn(op: int, *turns: int, loops: tuple[int, ...] = ()) -> list[DrawnOp]:
    return [DrawnOp(OpId(op), turns, loops)]


def _ran(number: int, op: int | None, *turns: int) -> RerunOp:
    return RerunOp(number, OpId(op) if op is not None else None, turns)


def test_ops_of_other_turns_go_by_the_one_drawn() -> None:
    event = e.InsideComputed(
        ops=[
            (["while", 0], "mul", 1),
            (["while", 1], "mul", 2),
            ([], "while", 3),
            ([], "square", 4),
        ],
        turns=[([], "while", 2)],
    )
    drawn = {
        Place(("while", "mul"), (0,)): _drawn(2, 1, loops=(0,)),
        Place(("while",), ()): _drawn(3),
        Place(("square",), ()): _drawn(4),
    }
    ops = RerunOps(event, drawn)
    assert list(ops.all()) == [_ran(1, 2, 0), _ran(2, 2, 1), _ran(3, 3), _ran(4, 4)]
    assert list(ops.inside(OpId(3))) == [_ran(1, 2, 0), _ran(2, 2, 1), _ran(3, 3)]


def test_branches_with_ops_of_one_name_are_told_apart() -> None:
    event = e.InsideComputed(
        ops=[(["while", 0, "cond", 0], "mul", 1), (["while", 1, "cond", 0], "mul", 2)],
        branches=[(["while", 0], "cond", 1), (["while", 1], "cond", 0)],
        turns=[([], "while", 2)],
    )
    names = ("while", "cond", "mul")
    drawn = {
        Place(names, (0, 0)): _drawn(2, 1, 0, loops=(0,)),
        Place(names, (0, 1)): _drawn(7, 1, 0, loops=(0,)),
    }
    assert list(RerunOps(event, drawn).all()) == [_ran(1, 7, 0), _ran(2, 2, 1)]


def test_a_loop_in_a_loop_has_the_ops_of_the_turn_drawn() -> None:
    event = e.InsideComputed(
        ops=[
            (["outer", 0, "inner", 0], "mul", 1),
            (["outer", 1, "inner", 0], "mul", 2),
            (["outer", 1, "inner", 1], "mul", 3),
            (["outer", 1], "inner", 4),
        ],
        turns=[([], "outer", 2), (["outer", 0], "inner", 1), (["outer", 1], "inner", 2)],
    )
    drawn = {
        Place(("outer", "inner", "mul"), (0, 0)): _drawn(3, 1, 1, loops=(0, 1)),
        Place(("outer", "inner"), (0,)): _drawn(4, 1, loops=(0,)),
    }
    inner = RerunOps(event, drawn).inside(OpId(4))
    assert list(inner) == [_ran(2, 3, 1, 0), _ran(3, 3, 1, 1), _ran(4, 4, 1)]


def test_an_op_that_is_drawn_nowhere_is_there_all_the_same() -> None:
    event = e.InsideComputed(ops=[(["outer", 0, "inner", 0], "mul", 1)])
    assert list(RerunOps(event, {}).all()) == [_ran(1, None)]
