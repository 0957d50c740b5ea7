"""The events of compiled functions: their graphs as they are traced, run, and computed again."""

from __future__ import annotations

import msgspec


class _Event(msgspec.Struct, frozen=True, tag_field="e", omit_defaults=True):
    pass


class BodyTraced(_Event, frozen=True, tag="body"):
    """TensorFlow began to make the graph of a function, a branch or a loop, or ended it.

    What comes between belongs to that graph, and happens each time when it runs. ``graph``: its
    number (0: it was not completed). ``inputs``, ``outputs``: its own tensors, in the order of
    those of an op that runs it (a branch's captured inputs go by the ids of the outer tensors).
    ``function``: the Python name of a function, empty for a branch or loop; ``line``: where it is
    defined in the snippet (0: elsewhere).
    """

    on: bool
    graph: int = 0
    inputs: list[int] = []
    outputs: list[int] = []
    function: str = ""
    line: int = 0
    site: int = 0


class BodiesRun(_Event, frozen=True, tag="runs"):
    """The next op, eager or put into the graph ``into``, runs graphs that were traced.

    ``first``: the first of the op ids that were left free for their ops; 0: this is the first run,
    whose ops are those that were traced. ``call``: of an eager call its number among those of the
    graph, from 1; a further call without ``first`` has no op ids for its inside.
    """

    graphs: list[int]
    into: int = 0
    first: int = 0
    call: int = 0


class InsideComputed(_Event, frozen=True, tag="inside"):
    """The first call of a function was run again after the snippet, op by op.

    ``whole``: all its ops have values now, and each could be differentiated by itself.
    """

    graph: int
    whole: bool


class BranchChosen(_Event, frozen=True, tag="chosen"):
    """Which branch (0: then, 1: else) a conditional inside of such a first call took."""

    ops: list[int]
    branch: int


class Derived(_Event, frozen=True, tag="derived"):
    """TensorFlow called the gradient function of a graph's op, to make a backward graph.

    ``given``: for each input whether it gave a gradient. ``op``: an ``OpRan`` or
    ``OperationRecorded``.
    """

    op: int
    given: list[bool]
