"""The client's end of the line, against sockets that play the kernel."""

from __future__ import annotations

import select
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zmq
from jupyter_client.connect import write_connection_file
from jupyter_client.session import Session

from tapeviz.kernel.connection import Connection
from tapeviz.kernel.inside.reply_stream import send_replies_by_stream

KEY = b"tapeviz"
SOON = 2000  # milliseconds
NEVER = 100


class PlayedKernel:
    """Answers on the shell and iopub channels when it is told to."""

    def __init__(self, context: zmq.Context[Any], address: Path) -> None:
        self.session = Session(key=KEY)
        self.shell: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
        self.iopub: zmq.Socket[bytes] = context.socket(zmq.XPUB)
        for channel, port in ((self.shell, 1), (self.iopub, 2)):
            channel.bind(f"ipc://{address}-{port}")

    def request(self, within: int) -> dict[str, Any] | None:
        """The next request, or None if none comes."""
        if not self.shell.poll(within):
            return None
        _, message = self.session.recv(self.shell)
        return dict(message)

    def is_signalled(self, within: int) -> bool:
        """Whether an event loop that waits on the shell socket's descriptor would be woken."""
        descriptor = self.shell.getsockopt(zmq.FD)
        return bool(select.select([descriptor], [], [], within / 1000)[0])

    def reply(self, request: dict[str, Any]) -> None:
        kind = request["msg_type"].replace("_request", "_reply")
        self.session.send(self.shell, kind, {"status": "ok"}, request, ident=self._client)

    def is_idle_after(self, request: dict[str, Any]) -> None:
        self.session.send(self.iopub, "status", {"execution_state": "idle"}, request)

    def is_busy_with(self, request: dict[str, Any]) -> None:
        self.session.send(self.iopub, "status", {"execution_state": "busy"}, request)

    def meet(self, connection: Connection) -> None:
        """Learn the client's address and that it listens."""
        connection.hello()
        assert self.shell.poll(SOON)
        self._client, *_ = frames = self.shell.recv_multipart()
        assert self.iopub.poll(SOON)  # the subscription
        _, parts = self.session.feed_identities(frames)
        self.reply(self.session.deserialize(parts))
        assert [message.kind for message in connection.receive(2.0)] == ["kernel_info_reply"]


@pytest.fixture
def line(tmp_path: Path) -> Iterator[tuple[Connection, PlayedKernel]]:
    with zmq.Context() as context:
        address = tmp_path / "k1"
        file = str(tmp_path / "k1.json")
        ports = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "hb_port": 4, "control_port": 5}
        write_connection_file(file, transport="ipc", ip=str(address), key=KEY, **ports)
        kernel = PlayedKernel(context, address)
        connection = Connection(context, Path(file))
        kernel.meet(connection)
        yield connection, kernel
        connection.close()
        for channel in (kernel.shell, kernel.iopub):
            channel.close(linger=0)


def test_a_request_waits_for_the_reply_to_the_former(line):
    """ipykernel 7.0 to 7.3 may never read one that comes while it sends a reply."""
    connection, kernel = line
    sent = [connection.serve({"do": "answer", "name": str(n)}) for n in range(3)]
    for identity in sent:
        request = kernel.request(SOON)
        assert request["header"]["msg_id"] == identity
        assert kernel.request(NEVER) is None
        kernel.reply(request)
        assert [message.parent for message in connection.receive(2.0)] == [identity]
    assert kernel.request(NEVER) is None


def test_a_reply_that_was_swallowed_holds_nothing_up(line):
    """A KeyboardInterrupt between two lines of ipykernel: idle is said, a reply never comes."""
    connection, kernel = line
    connection.serve({"do": "run"})
    connection.serve({"do": "answer"})
    first = kernel.request(SOON)
    kernel.is_idle_after(first)
    assert [message.kind for message in connection.receive(2.0)] == ["status"]
    assert kernel.request(0) is None
    assert list(connection.receive(None)) == []
    list(connection.receive(0.1))
    assert kernel.request(SOON)["msg_type"] == "execute_request"


def test_hello_is_said_once_until_it_is_answered(line):
    connection, kernel = line
    connection.hello()
    connection.hello()
    assert kernel.request(SOON)["msg_type"] == "kernel_info_request"
    assert kernel.request(NEVER) is None


def test_a_kernel_that_sleeps_with_a_request_on_its_socket_is_woken(line, monkeypatch):
    """ipykernel 7.0 to 7.3 may take the signal of a request when it sends a reply. More requests
    give no signal then; ``is_signalled`` asks what its event loop waits for."""
    monkeypatch.setattr("tapeviz.kernel.connection._BUSY_WITHIN", 0.05)
    connection, kernel = line
    connection.serve({"do": "run"})
    assert kernel.shell.poll(SOON)  # like a reply on the raw socket, this takes the signal
    assert not kernel.is_signalled(0)
    while not kernel.is_signalled(0):
        assert list(connection.receive(None)) == []
    request = kernel.request(0)
    assert request["msg_type"] == "execute_request"
    kernel.is_busy_with(request)
    while not list(connection.receive(2.0)):  # it may be woken again before it is heard
        pass
    assert kernel.request(NEVER) is None
    assert list(connection.receive(0.2)) == []
    assert not kernel.is_signalled(NEVER)


def test_replies_go_through_the_stream_that_reads_the_requests():
    """In ipykernel 7.0 to 7.3, where a manager of subshells has the raw socket."""
    manager, stream = SimpleNamespace(_shell_socket="raw"), object()
    thread = SimpleNamespace(_manager=manager)
    send_replies_by_stream(SimpleNamespace(shell_channel_thread=thread, shell_stream=stream))
    assert manager._shell_socket is stream
    later = SimpleNamespace(_shell_stream=stream)
    thread = SimpleNamespace(_manager=later)
    send_replies_by_stream(SimpleNamespace(shell_channel_thread=thread, shell_stream=stream))
    assert vars(later) == {"_shell_stream": stream}
    send_replies_by_stream(SimpleNamespace(shell_channel_thread=None, shell_stream=stream))
