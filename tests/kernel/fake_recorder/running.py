"""A snippet in; ``begun``, whatever it told by ``emit``, and ``ended`` out."""

from __future__ import annotations

import builtins
import json
import os
import sys
import types
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

_space: dict[str, Any] = {}


def run(
    source: str,
    filename: str,
    argv: list[str],
    options: dict[str, Any],
    send: Callable[[list[str], bytes], None],
) -> None:
    """Run ``source`` as ``__main__``; ``emit(**event)`` in it reports an event."""
    restore = options.pop("restore")
    options.pop("generated_code")
    options.pop("wait_for_threads")
    waiting: list[str] = []

    def emit(blob: bytes = b"", **event: Any) -> None:
        waiting.append(json.dumps(event))
        if blob or not options.get("hold"):
            flush(blob)

    def flush(blob: bytes = b"") -> None:
        send(list(waiting), blob)
        waiting.clear()

    def last(original: Callable[..., Any]) -> Callable[..., Any]:
        def end(*args: Any) -> Any:
            if waiting:
                flush()
            return original(*args)

        return end

    if options.get("fail"):
        raise ValueError("the recorder has a bug")
    os._exit, os.abort = last(os._exit), last(os.abort)
    main = types.ModuleType("__main__")
    main.__dict__.update(emit=emit, __file__=filename, __builtins__=builtins)
    sys.modules["__main__"] = main
    sys.argv = [filename, *argv]
    _space.clear()
    emit(kind="begun", options=options)
    try:
        exec(compile(source, filename, "exec"), main.__dict__)
    except BaseException as error:
        emit(kind="raised", type=type(error).__name__, message=str(error))
    restore()
    _space.update(main.__dict__)
    emit(kind="ended")
    if waiting:
        flush()


def deliver() -> None:
    """Nothing waits to be sent."""


def hiding_above(function: Callable[[], None]) -> nullcontext[None]:
    """Nothing looks at frames."""
    return nullcontext()


def answer(name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The repr of a global of the ended snippet, and its bytes."""
    value = _space[arguments["name"]]
    return {"repr": repr(value)}, [value] if isinstance(value, bytes) else []
