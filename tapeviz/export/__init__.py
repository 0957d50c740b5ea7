"""Write a drawing to a file: one writer for each suffix."""

from __future__ import annotations

from ..formats import WRITERS
from .drawing import Drawing, Options
from .shared_page import SharedPage
from .writing import (
    check_suffix,
    render,
    steps_filmed,
    write_animation,
    write_picture,
    write_shared_page,
)

__all__ = [
    "WRITERS",
    "Drawing",
    "Options",
    "SharedPage",
    "check_suffix",
    "render",
    "steps_filmed",
    "write_animation",
    "write_picture",
    "write_shared_page",
]
