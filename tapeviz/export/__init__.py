"""A drawing in, a file out: one writer for each suffix."""

from __future__ import annotations

from .drawing import Drawing, Options
from .writing import (
    WRITERS,
    check_suffix,
    render,
    steps_filmed,
    write_animation,
    write_picture,
)

__all__ = [
    "WRITERS",
    "Drawing",
    "Options",
    "check_suffix",
    "render",
    "steps_filmed",
    "write_animation",
    "write_picture",
]
