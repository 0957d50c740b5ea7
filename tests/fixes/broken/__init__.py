"""Snippets whose gradient is None, zero or NaN, by the kind of its cause, and how each is mended.

A new snippet stands in the module of the kind that ``tapeviz explain --json`` prints for it.
"""

from __future__ import annotations

from typing import TypeAlias

Row: TypeAlias = tuple[str, str, object]
"""The text (``np`` and ``tf`` are imported), a line of the mended text, the gradient then;
None if the source is no longer asked for."""
