"""Find blocks of layers by the common beginning of their names (``conv2_block1_1_conv``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from ...text.called_names import kind_of

_LEAST_LAYERS = 8
"""Fewer layers get no blocks."""
_NUMBER = re.compile(r"_\d+$")
"""Keras puts it at the end of a name that another layer has."""
BlockKind = Literal["layer", "loop", "turn"]


def block_parts(names: Sequence[str]) -> dict[str, tuple[tuple[BlockKind, str], ...]]:
    """For each layer the blocks around it, the outermost first: ``conv2``, ``conv2_block1``.

    A block is the common beginning of at least two names that differ in more than a number that
    Keras adds: ``dense_1`` and ``dense_2`` make no block, ``down_conv1`` and ``down_conv2`` do. If
    a number follows in all its layers (``block_1_expand``, ``block_2_expand``), the block is a
    loop, and the blocks in it are turns.
    """
    if len(names) < _LEAST_LAYERS:
        return {}
    members: dict[str, list[str]] = {}
    known = frozenset(names)
    unnumbered = {name: _unnumbered(name, known) for name in names}
    for name in names:
        for prefix in _prefixes(name):
            members.setdefault(prefix, []).append(name)
    blocks = {
        prefix
        for prefix, inside in members.items()
        if _is_block(prefix, [unnumbered[name] for name in inside])
    }
    found: dict[str, tuple[tuple[BlockKind, str], ...]] = {}
    for name in names:
        prefixes = [prefix for prefix in _prefixes(name) if prefix in blocks]
        longest = [
            prefix
            for prefix, longer in zip(prefixes, [*prefixes[1:], name], strict=False)
            if len(members.get(longer, ())) != len(members[prefix])
        ]
        if longest:
            found[name] = tuple(_kinds(longest, members))
    return found


def _kinds(
    prefixes: Sequence[str], members: Mapping[str, Sequence[str]]
) -> Iterator[tuple[BlockKind, str]]:
    is_loop = False
    for place, prefix in enumerate(prefixes):
        rests = (name[len(prefix) + 1 :].partition("_")[0] for name in members[prefix])
        if is_loop:
            yield "turn", f"turn {prefix.rpartition('_')[2]}"
            is_loop = False
        elif place + 1 < len(prefixes) and all(rest.isdigit() for rest in rests):
            yield "loop", prefix
            is_loop = True
        else:
            yield "layer", prefix


def _prefixes(name: str) -> list[str]:
    words = name.split("_")
    return ["_".join(words[:count]) for count in range(1, len(words) + 1)]


def _is_block(prefix: str, names: Sequence[str]) -> bool:
    """Whether a prefix is that of a block; ``names``: of its layers, without Keras's numbers."""
    kinds = {name[len(prefix) + 1 :] for name in names}
    return len(kinds - {""}) > 1 or (len(kinds) > 1 and len(names) > 2)


def _unnumbered(name: str, names: Collection[str]) -> str:
    """The name without the number that Keras puts behind it, and without the one that a graph adds
    to a name that it has already (``dense_1_2``), where the layer ``dense`` is there, too."""
    bare = kind_of(name)
    return bare if bare in names else _NUMBER.sub("", name)
