"""Record what TensorFlow does while a snippet runs, and answer about its tensors afterwards.

Runs inside the user's kernel, with the standard library, NumPy and TensorFlow only, and is loaded
there under a private name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .after.check import check
from .after.replay import replay
from .session import Session, hiding_above

__all__ = ["answer", "hiding_above", "run"]

_last: Session | None = None


def run(
    source: str,
    filename: str,
    argv: list[str],
    options: Mapping[str, Any],
    send: Callable[[list[str], bytes], None],
) -> None:
    """Run a snippet as ``__main__`` and send what happens; the last event is ``end``.

    Options: ``provide`` (names there without import), ``value_limit`` (1024 elements),
    ``value_budget`` (64 MB), ``keep_budget`` (1.5 GB), ``call_budget`` (512 MB: for calls of
    compiled functions), ``follow_numpy`` (False: what comes back from NumPy is linked to what
    left), ``seed`` (a new one each time), ``restore`` (called as soon as the snippet is through),
    ``generated_code`` (a folder for links to the files that AutoGraph writes).
    """
    global _last
    _last = Session(source, filename, options, send)
    _last.run(argv)


def deliver() -> None:
    """Send the events up to now."""
    if _last is not None:
        _last.log.deliver()


def answer(name: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Answer ``tensor``, ``part``, ``inside``, ``replay`` or ``check`` about the last run, or
    ``error``."""
    if _last is None:
        return {"error": "nothing has run yet"}, []
    if name == "tensor":
        return _last.tensor(arguments)
    if name == "part":
        return _last.part(arguments)
    if name == "inside":
        return _last.inside(arguments)
    if name == "replay":
        return replay(_last.encoder, arguments)
    if name == "check":
        return check(_last.encoder, arguments)
    return {"error": f"the recorder has no answer called {name!r}"}, []
