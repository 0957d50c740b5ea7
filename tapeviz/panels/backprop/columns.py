"""Share the width of a table among its columns: short ones leave room to those that need more."""

from __future__ import annotations

from collections.abc import Sequence


def shared_widths(wanted: Sequence[int], room: int, least: int) -> list[int]:
    """The width in px of each column, together ``room``, at least ``least`` each.

    ``wanted``: the width that the content of each would fill. A column gets at most what it wants,
    as long as another wants more; what nobody wants is shared by all.
    """
    room = max(room, least * len(wanted))
    widths = [0] * len(wanted)
    rest, left = room, list(range(len(wanted)))
    for place in sorted(left, key=lambda place: wanted[place]):
        widths[place] = min(max(wanted[place], least), rest // len(left))
        rest -= widths[place]
        left.remove(place)
    extra, odd = divmod(rest, len(wanted)) if wanted else (0, 0)
    return [width + extra + (place < odd) for place, width in enumerate(widths)]
