"""How large a recording from outside may be, and how far its parts may nest, at most."""

from __future__ import annotations

MEBIBYTE = 1 << 20

# Files.
FILE_BYTES = 2048 * MEBIBYTE
"""Bytes of a file, and of its members together when they are unpacked."""
META_BYTES, EVENTS_BYTES, VALUES_BYTES = 64 * MEBIBYTE, 1024 * MEBIBYTE, 2048 * MEBIBYTE
"""Bytes of each member, unpacked."""
TIMES_UNPACKED = 200
"""How many times larger than the file its members may be, above :data:`UNPACKED_ANYWAY` bytes:
deflate packs zeros by up to 1,032, events of a loop by about 40."""
UNPACKED_ANYWAY = 64 * MEBIBYTE
EVENTS = 5_000_000
"""Events of a file; ops of a run; ops of all graphs and of all calls that were run again, those of
graphs in graphs included."""
LINE_BYTES = 32 * MEBIBYTE
"""Bytes of one event."""

# Events.
LARGEST_ID = 1 << 62
DIMENSIONS = 32
OPS_IN_BODIES = 50_000_000
"""Ops inside of recorded operations, one inside another counted for both."""
FRAMES = 50_000_000
"""Frames of all places, those of their callers included."""
GRAPHS_DEEP = 300
"""Graphs in graphs; Python's own recursion ends not far above."""
TURNS = 1 << 62
"""Turns of a loop."""

# Reading.
OPS_OPENED = 20_000
"""Ops inside calls that are opened only because a gradient may have gone through them."""
