"""The frames above the snippet's own hidden from ``warnings.warn``: a script has none there."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from .installed import Installed

_BEYOND = sys.maxsize // 2
"""A ``stacklevel`` that no stack reaches: Python then names ``sys`` as the place."""


def install(boundary: CodeType, installed: Installed) -> None:
    """Hide the function whose code is ``boundary``, and what called it."""
    installed.replace(warnings, "warn", lambda warn: _warning(boundary, warn))


def _warning(boundary: CodeType, warn: Callable[..., Any]) -> Callable[..., Any]:
    def warning(*args: Any, **named: Any) -> None:
        level = args[2] if len(args) > 2 else named.get("stacklevel", 1)
        if isinstance(level, int):
            level = _BEYOND if _is_above(sys._getframe(1), level, boundary) else max(level, 1) + 1
            if len(args) > 2:
                args = (*args[:2], level, *args[3:])
            else:
                named["stacklevel"] = level
        warn(*args, **named)

    return warning


def _is_above(frame: FrameType | None, level: int, boundary: CodeType) -> bool:
    """Whether the ``level``-th caller, the first being ``frame``, is above the snippet."""
    while frame is not None and frame.f_code is not boundary and level > 1:
        frame, level = frame.f_back, level - 1
    return frame is not None and frame.f_code is boundary
