"""Qt and what the pools need are not imported at once: Qt's bindings would abort the process."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys, threading
overlapping = []

class Watch:
    def find_spec(self, name, path=None, target=None):
        spec = getattr(sys.modules.get("PySide6"), "__spec__", None)
        is_main = threading.current_thread() is threading.main_thread()
        if getattr(spec, "_initializing", False) and not is_main:
            overlapping.append(name)

sys.meta_path.insert(0, Watch())
from tapeviz.app.main import make_pools_and_load_qt
pools = make_pools_and_load_qt()
pools.close()
print("PySide6" in sys.modules, overlapping[:3])
"""


def test_no_other_thread_imports_while_qt_loads() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True []", run.stderr
