"""Writes by Python, by C and by children in; of those made in silence nothing comes out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tapeviz

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="C's buffer, a shell")

FOLDER = Path(tapeviz.__file__).parent / "recorder" / "rerun"
PROGRAM = """
import ctypes, os
from silence import silence
c = ctypes.CDLL(None)
c.printf(b"held back by C\\n")
{before}
with silence():
    print("dropped", flush=True)
    c.printf(b"dropped\\n")
    os.system("echo dropped; echo dropped >&2")
{after}
os.write(1, b"written\\n")
"""


CLOSED = """
for each in {closed}:
    try: os.fstat(each)
    except OSError: continue
    raise SystemExit("open again")
if 1 in {closed}: raise SystemExit
"""


def _printed(before: str = "", after: str = "") -> tuple[str, str]:
    script = PROGRAM.format(before=before, after=after)
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", script]
    ran = subprocess.run(
        command, cwd=FOLDER, env=buffered, capture_output=True, text=True, check=True
    )
    return ran.stdout, ran.stderr


def test_nothing_is_printed_and_what_c_holds_back_comes_at_the_end() -> None:
    assert _printed() == ("written\nheld back by C\n", "")


@pytest.mark.parametrize("closed", [(2,), (0, 2), (0, 1, 2)])
def test_a_closed_descriptor_stays_closed(closed: tuple[int, ...]) -> None:
    before = "".join(f"os.close({each});" for each in closed)
    out = "" if 1 in closed else "written\nheld back by C\n"
    assert _printed(before, CLOSED.format(closed=closed)) == (out, "")
