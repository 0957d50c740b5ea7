"""The recorder's folder in, the recorder as a kernel has it out: under a private name.

Scripts of their own import this, which run where tapeviz is not installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

NAME = "_tapeviz_recorder"


def load_recorder(folder: Path) -> Any:
    """The recorder as a package of its own, as a kernel has it."""
    spec = importlib.util.spec_from_file_location(
        NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module


def load_module(name: str) -> Any:
    """A module of the recorder that needs no TensorFlow, without the package around it, which
    imports TensorFlow: pytest would wait for that in each of its processes. Nothing of it stays in
    ``sys.modules``."""
    package = types.ModuleType("modules_of_the_recorder")
    package.__path__ = [str(Path(__file__).parents[2] / "tapeviz" / "recorder")]
    sys.modules[package.__name__] = package
    try:
        return importlib.import_module(f"{package.__name__}.{name}")
    finally:
        for loaded in [each for each in sys.modules if each.startswith(package.__name__)]:
            del sys.modules[loaded]
