"""The memory that the window no longer needs goes back to the system."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes
from tapeviz.app.processes.heap import LARGE, return_free_memory, return_large_blocks

class Info(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Info
assert return_large_blocks()
del [bytes(16 * LARGE)][:]  # by default this would raise the size from which blocks are returned
before = mallinfo().hblkhd
block = bytes(2 * LARGE)
assert mallinfo().hblkhd >= before + 2 * LARGE
del block
assert mallinfo().hblkhd == before
pieces = [bytes(100_000) for _ in range(300)]
end = bytes(100_000)  # above them in the heap
del pieces
assert return_free_memory()
assert mallinfo().fordblks > 0
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc")
def test_large_blocks_go_back_at_once() -> None:
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("glibc before 2.33, or none")
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
