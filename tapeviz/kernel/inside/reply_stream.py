"""Let an ipykernel that may leave requests unread send its replies as a fixed version does."""

from __future__ import annotations

from typing import Any


def send_replies_by_stream(kernel: Any) -> None:
    """Let ipykernel 7.0 to 7.3 send replies by the ``ZMQStream`` that reads the requests.

    They send on its raw socket, which takes the signal of a request that has just arrived, and the
    stream sleeps on (ipykernel issue 1554). Both have ``send_multipart``, all that is called of it.
    Other versions have no such attribute.
    """
    thread = getattr(kernel, "shell_channel_thread", None)
    manager: Any = getattr(thread, "_manager", None)
    stream = getattr(kernel, "shell_stream", None)
    if stream is not None and hasattr(manager, "_shell_socket"):
        manager._shell_socket = stream
