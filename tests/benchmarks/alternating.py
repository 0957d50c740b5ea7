"""A snippet with a block in; what the block costs plain and recorded, in turn, in one process, out.

A busy machine slows a block and the next alike, so each pair of them gives a ratio. It leaves out
what assignments in the snippet's own text cost: these report what they bind in both blocks.
"""

from __future__ import annotations

import builtins
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import quantiles
from typing import Any, NamedTuple

from figures import print_row
from side_by_side import NAME, in_a_child

IN_TURN = "_in_turn"
"""A snippet calls it with the function that is the block."""


class _Hook(NamedTuple):
    owner: Any
    name: str
    original: Any
    replacement: Any
    is_own: bool
    """Whether the original stood in ``owner`` itself, and not in a class above."""


@dataclass
class _Clock:
    """A clock of the recorder's that stands still in plain blocks: variables are read each fifth of
    a second of a run, of which a plain block is no part."""

    read: Callable[[], float]
    passed_over: float = 0.0

    def __call__(self) -> float:
        return self.read() - self.passed_over


class _Hooks:
    """Notes what a recording replaces, to put it back for a while."""

    def __init__(self) -> None:
        self._found: list[_Hook] = []
        kept_calls: Any = sys.modules[f"{NAME}.hooks.kept_calls"]
        self._clocks = [_Clock(time.monotonic), _Clock(time.process_time)]
        kept_calls.monotonic, kept_calls.process_time = self._clocks
        installed: Any = sys.modules[f"{NAME}.installed"].Installed
        replace = installed.replace

        def replacing(this: Any, owner: Any, name: str, wrap: Any) -> None:
            original, is_own = getattr(owner, name, None), name in vars(owner)
            replace(this, owner, name, wrap)
            if original is not None:
                hook = _Hook(owner, name, original, getattr(owner, name), is_own)
                self._found.append(hook)

        installed.replace = replacing

    @contextmanager
    def away(self) -> Iterator[None]:
        """Run the block as a plain run does, but for what the recorder keeps in memory."""
        data = sys.modules[f"{NAME}.private"].thread_data()
        began = [clock.read() for clock in self._clocks]
        callbacks, data.op_callbacks = data.op_callbacks, []
        for hook in self._found:
            if hook.is_own:
                setattr(hook.owner, hook.name, hook.original)
            else:
                delattr(hook.owner, hook.name)
        try:
            yield
        finally:
            for hook in self._found:
                setattr(hook.owner, hook.name, hook.replacement)
            data.op_callbacks = callbacks
            for clock, at in zip(self._clocks, began, strict=True):
                clock.passed_over += clock.read() - at


def compare_blocks(title: str, source: str, pairs: int, wanted: float) -> None:
    """Print a line of the table: the median ratio of the pairs, and the middle half of them."""
    ratios = in_a_child(lambda text: _ratios(text, pairs), source)
    low, middle, high = quantiles(ratios, n=4)
    figure = f"{middle:.2f} times by CPU (half of {pairs} pairs of blocks: {low:.2f} to {high:.2f})"
    print_row(f"recording {title}", figure, f"{wanted} times")


def _ratios(source: str, pairs: int) -> list[float]:
    hooks, recorder = _Hooks(), sys.modules[NAME]
    session: Any = sys.modules[f"{NAME}.session"].Session
    logs: list[Any] = []
    begin = session.__init__

    def beginning(self: Any, *args: Any) -> None:
        begin(self, *args)
        logs.append(self.log)

    session.__init__ = beginning
    ratios: list[float] = []

    def in_turn(block: Callable[[], None]) -> None:
        for pair in range(1 + pairs):
            with hooks.away():
                plain = _seconds(block)
            recorded = _seconds(block, logs[-1].flush)
            if pair:  # before, the hooks saw the first calls of all that the block calls
                ratios.append(recorded / plain)

    vars(builtins)[IN_TURN] = in_turn
    recorder.run(
        source, "snippet.py", ["snippet.py"], {"provide": ["tf"]}, lambda lines, blob: None
    )
    return ratios


def _seconds(*parts: Callable[[], None]) -> float:
    """The CPU that it takes to call them, on all threads."""
    began = time.process_time()
    for part in parts:
        part()
    return time.process_time() - began
