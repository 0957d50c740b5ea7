"""Names of layers in, the blocks that their common parts make out: ``conv2_block1_1_conv``."""

from __future__ import annotations

from collections.abc import Sequence

_LEAST_LAYERS = 8
"""Fewer layers need no blocks."""


def block_parts(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each layer the blocks around it, the outermost first: ``conv2``, ``conv2_block1``.

    A block is a common beginning of at least two names, if what follows is more than a number:
    ``dense_1`` and ``dense_2`` are just the next ones of their kind.
    """
    if len(names) < _LEAST_LAYERS:
        return {}
    members: dict[str, list[str]] = {}
    for name in names:
        for prefix in _prefixes(name):
            members.setdefault(prefix, []).append(name)
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        prefixes = [prefix for prefix in _prefixes(name) if _is_block(prefix, members[prefix])]
        longest = [
            prefix
            for prefix, longer in zip(prefixes, [*prefixes[1:], name], strict=False)
            if len(members.get(longer, ())) != len(members[prefix])
        ]
        if longest:
            found[name] = tuple(longest)
    return found


def _prefixes(name: str) -> list[str]:
    words = name.split("_")
    return ["_".join(words[:count]) for count in range(1, len(words) + 1)]


def _is_block(prefix: str, names: Sequence[str]) -> bool:
    rests = (name[len(prefix) + 1 :] for name in names)
    kinds = {"".join(c for c in rest if c.isalpha()) for rest in rests}
    return len(kinds - {""}) > 1 or (len(kinds) > 1 and len(names) > 2)
