"""Send requests to a kernel and receive its messages, over its connection file.

A request is sent only after the reply to the one before. ipykernel 7.0 to 7.3 writes replies on the
raw socket from which a ``ZMQStream`` reads requests; a request that arrives at that time stays
unread (``SubshellManager._send_on_shell_channel``; ipykernel issue 1554, fixed in 7.4). More
requests on the same connection do not wake the kernel: ZeroMQ signals its descriptor once for all
that arrive on a connection until they are read. A new connection is signalled by itself. With
ipykernel 7.2, of 3,000 requests sent before the reply 5 stayed unread; none was read after more
requests, each after a second connection. ``inside/reply_stream.py`` removes the fault from a
kernel once it runs there; requests before that depend on the second connection.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.client import KernelClient

_SERVE = "__import__('_tapeviz_inside.wire').wire.serve()"
_BOOT = Path(__file__).parent / "inside" / "boot.py"
_LONGEST_WAIT = 3600.0
# Seconds from the end of a request to its reply; without one by then, an interrupt swallowed it.
_REPLY_WITHIN = 0.5
_LONGEST_SLEEP = 2.0
_BUSY_WITHIN = 1.0
"""Seconds in which a kernel begins a request; after these a second connection makes it read.

The time doubles with each try, up to ``_LONGEST_SLEEP``. Even a request sent after a reply can stay
unread, because the reply arrives before the kernel has finished writing it (seen with a launched
ipykernel 7.0, once in 40 runs), or is sent without a reply after ``_REPLY_WITHIN``.
"""


@dataclass(frozen=True, slots=True)
class Message:
    """A message from a kernel; ``parent``: the id of the request that it belongs to."""

    kind: str
    parent: str
    content: Mapping[str, Any]
    buffers: tuple[bytes, ...]


class Connection:
    """The sockets to a kernel, used by one thread; others may call only :meth:`wake`."""

    def __init__(self, context: zmq.Context[Any], connection_file: Path) -> None:
        self._client: Any = KernelClient(context=context)
        client = self._client
        client.load_connection_file(str(connection_file))
        self._session = client.session
        self._shell: zmq.Socket[bytes] = client.connect_shell()
        self._second_shell: zmq.Socket[bytes] | None = None
        self._stdin: zmq.Socket[bytes] = client.connect_stdin()
        self._iopub: zmq.Socket[bytes] = client.connect_iopub()
        self._iopub.rcvhwm = 0  # no limit: by default messages after the first 1,000 are dropped
        self._sleeping, self._waking = socket.socketpair()
        for end in (self._sleeping, self._waking):
            end.setblocking(False)
        self._waiting: deque[tuple[dict[str, Any], list[bytes]]] = deque()
        self._unanswered = ""
        self._over_since: float | None = None
        self._wake_at: float | None = None
        self._wake_after = _BUSY_WITHIN
        self._poller = zmq.Poller()
        for readable in (self._shell, self._iopub, self._sleeping):
            self._poller.register(readable, zmq.POLLIN)

    def wake(self) -> None:
        """Let :meth:`receive` return."""
        with contextlib.suppress(OSError):
            self._waking.send(b"\0")

    def hello(self) -> None:
        """Ask for the kernel's info, unless a request is not answered yet."""
        if not self._unanswered:
            self._send("kernel_info_request", {}, [])

    def boot(self, payload: Mapping[str, Any]) -> str:
        """Execute ``inside/boot.py`` in the kernel; returns the id of the request."""
        code = f"{_BOOT.read_text(encoding='utf-8')}\nboot(get_ipython().kernel)\n"
        # In a namespace of its own, which is dropped afterwards.
        return self._execute(f"exec({code!r}, {{'get_ipython': get_ipython}})", payload)

    def serve(self, request: Mapping[str, Any]) -> str:
        """Let the wire in the kernel do ``request``; returns the id of the request."""
        return self._execute(_SERVE, request)

    def acknowledge(self) -> None:
        """Tell a process that is about to end that all its messages have arrived."""
        self._session.send(self._stdin, "input_reply", {"value": ""})

    def reply(self, line: str | None) -> None:
        """Send a line that the user typed; None: the input has ended."""
        self._session.send(self._stdin, "input_reply", {"value": line})

    def receive(self, timeout: float | None) -> Iterator[Message]:
        """The messages of both channels, after waiting up to ``timeout`` seconds for the first."""
        if self._waiting and self._over_since is not None:
            timeout = min(_REPLY_WITHIN, _REPLY_WITHIN if timeout is None else timeout)
        if self._wake_at is not None:
            left = max(0.0, self._wake_at - time.monotonic())
            timeout = left if timeout is None else min(left, timeout)
        # The milliseconds of a poll must fit into an int; an early return does no harm.
        longest = None if timeout is None else int(min(max(0.0, timeout), _LONGEST_WAIT) * 1000)
        ready = dict(self._poller.poll(longest))
        if self._sleeping.fileno() in ready:
            with contextlib.suppress(BlockingIOError):
                self._sleeping.recv(4096)
        for channel in (self._iopub, self._shell):
            if channel in ready:
                for message in self._read(channel):
                    self._note_reply(message)
                    yield message
        if self._over_since is not None and time.monotonic() > self._over_since + _REPLY_WITHIN:
            self._send_next()
        if self._wake_at is not None and time.monotonic() >= self._wake_at:
            self._connect_again()
            self._wake_after = min(2 * self._wake_after, _LONGEST_SLEEP)
            self._wake_at = time.monotonic() + self._wake_after

    def close(self) -> None:
        """Close every socket; unsent messages are dropped."""
        for channel in (self._shell, self._second_shell, self._stdin, self._iopub):
            if channel is not None:
                channel.close(linger=0)
        self._sleeping.close()
        self._waking.close()

    def _read(self, channel: zmq.Socket[bytes]) -> Iterator[Message]:
        # Limited, so that a flood of messages does not delay a stop.
        for _ in range(100):
            try:
                frames = channel.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            with contextlib.suppress(ValueError, KeyError, TypeError):  # unsigned: not the kernel's
                _, parts = self._session.feed_identities(frames)
                yield _message(self._session.deserialize(parts))

    def _execute(self, code: str, payload: Mapping[str, Any]) -> str:
        content = {
            "code": code,
            "silent": True,
            "store_history": False,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        return self._send("execute_request", content, [json.dumps(payload).encode()])

    def _send(self, kind: str, content: Mapping[str, Any], buffers: list[bytes]) -> str:
        message = self._session.msg(kind, dict(content))
        self._waiting.append((message, buffers))
        if not self._unanswered:
            self._send_next()
        return str(message["header"]["msg_id"])

    def _send_next(self) -> None:
        self._unanswered, self._over_since, self._wake_at = "", None, None
        if self._waiting:
            message, buffers = self._waiting.popleft()
            self._session.send(self._shell, message, buffers=buffers)
            self._unanswered = str(message["header"]["msg_id"])
            self._wake_after = _BUSY_WITHIN
            self._wake_at = time.monotonic() + self._wake_after

    def _connect_again(self) -> None:
        """Wake a kernel that sleeps although a request waits on its shell socket."""
        if self._second_shell is not None:
            self._second_shell.close(linger=0)
        self._second_shell = self._client.connect_shell()

    def _note_reply(self, message: Message) -> None:
        if message.parent != self._unanswered:
            return
        if message.kind.endswith("_reply"):
            self._send_next()
        elif message.kind == "status":
            self._wake_at = None
            if message.content["execution_state"] == "idle":
                self._over_since = time.monotonic()


def _message(raw: Mapping[str, Any]) -> Message:
    return Message(
        kind=str(raw["header"]["msg_type"]),
        parent=str(raw["parent_header"].get("msg_id", "")),
        content=raw["content"],
        buffers=tuple(bytes(buffer) for buffer in raw["buffers"]),
    )
