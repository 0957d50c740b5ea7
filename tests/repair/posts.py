"""Posts as people write them, with the blocks of code that a reader would run.

``posts.txt``: ``@@ post TITLE`` begins a post; ``@@ good`` a block that runs, ``@@ good raises``
one that runs and raises, ``@@ bad`` one that cannot run; ``@@`` ends a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

POSTS = Path(__file__).with_name("posts.txt")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines ``first`` to ``last`` of a post, 1-based."""

    first: int
    last: int
    is_good: bool
    raises: bool

    def has(self, line: int) -> bool:
        return self.first <= line <= self.last


@dataclass(frozen=True, slots=True)
class Post:
    title: str
    text: str
    blocks: tuple[Block, ...]

    @property
    def good(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.is_good)


def read_posts() -> list[Post]:
    """All posts of the file."""
    _, *parts = POSTS.read_text(encoding="utf-8").split("@@ post ")
    return [_read(part) for part in parts]


def _read(part: str) -> Post:
    title, *marked = part.rstrip("\n").split("\n")
    lines: list[str] = []
    blocks: list[Block] = []
    kind, first = "", 0
    for line in marked:
        if line.startswith("@@ "):
            kind, first = line[3:], len(lines) + 1
        elif line == "@@":
            blocks.append(Block(first, len(lines), kind.startswith("good"), "raises" in kind))
        else:
            lines.append(line)
    return Post(title, "\n".join(lines) + "\n", tuple(blocks))
