"""Examples' paths in; what each one's names hold in the end, as one JSON object, out.

Runs with plain TensorFlow, tapeviz is not involved. A tensor becomes nested lists, whatever JSON
cannot say is left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Lists and numbers for ``value``; raises TypeError for what is neither."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    json.dumps(value)
    return value


def names_of(path: str) -> dict[str, Any]:
    """The public names that running ``path`` leaves behind."""
    found = {}
    for name, value in runpy.run_path(path, run_name="__main__").items():
        if not name.startswith("_"):
            with contextlib.suppress(TypeError, NotImplementedError, AttributeError):
                found[name] = plain(value)
    return found


if __name__ == "__main__":
    answers = {}
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        for path in sys.argv[1:]:
            answers[Path(path).stem] = names_of(path)
    json.dump(answers, sys.stdout)
