"""A named pipe with a reader, for tests of what is written to one."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from pathlib import Path


def written_to_a_pipe(path: Path, write: Callable[[], object]) -> bytes:
    """The bytes that ``write`` put into the named pipe at ``path``, while a thread read from it."""
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reading, True)
    got: list[bytes] = []

    def read() -> None:
        select.select([reading], [], [])  # before there is a writer it would be at its end
        with os.fdopen(reading, "rb") as stream:
            got.append(stream.read())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    write()
    reader.join(10)
    return b"".join(got)
