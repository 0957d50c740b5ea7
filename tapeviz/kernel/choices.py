"""The interpreters that a snippet can run in, and what an interpreter lacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..errors import TapevizError
from ..wording import install_command
from .environment import kernel_environment
from .model import KernelChoice, Versions

OLDEST, NEWEST = (2, 15), (2, 21)
_OLDEST_PYTHON = (3, 10)
_ASKED_WITHIN = 30.0
_DISTRIBUTIONS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-gpu",
    "tensorflow-rocm",
    "tf-nightly",
    "tf-nightly-cpu",
)
# Reads package metadata only: importing TensorFlow takes seconds.
_QUESTION = f"""
import importlib.util, json, sys
from importlib.metadata import PackageNotFoundError, version
def first(names):
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            pass
    return ""
def there(name):
    return importlib.util.find_spec(name) is not None
sys.path[:] = [place for place in sys.path if place]
print(json.dumps({{
    "python": list(sys.version_info[:3]),
    "ipykernel": there("ipykernel"),
    "tensorflow": there("tensorflow"),
    "version": first({_DISTRIBUTIONS!r}),
}}))
"""


def own_interpreter() -> KernelChoice:
    """The interpreter that tapeviz itself runs in."""
    return KernelChoice("Python of tapeviz", python=Path(sys.executable))


def find_kernels() -> tuple[KernelChoice, ...]:
    """Our own interpreter first, then the Python kernelspecs that Jupyter knows."""
    from jupyter_client.kernelspec import KernelSpecManager  # takes half a second to load

    choices = [own_interpreter()]
    for name, found in sorted(KernelSpecManager().get_all_specs().items()):
        spec = found["spec"]
        if str(spec.get("language", "")).lower() == "python":
            choices.append(KernelChoice(f"{spec['display_name']} ({name})", spec=name))
    return tuple(choices)


def choose_interpreter(text: str) -> KernelChoice:
    """The interpreter at a path or with a name on PATH. Raises TapevizError without one."""
    found = shutil.which(os.path.expanduser(text))
    if found is None:
        raise TapevizError(f"{text} is no Python interpreter: give the path of one")
    # Links are not resolved: the link in a virtual environment selects that environment.
    path = Path(os.path.abspath(found))
    return KernelChoice(str(path), python=path)


def choose_kernel(name: str) -> KernelChoice:
    """The kernelspec with this name. Raises TapevizError, with the names that exist."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    specs = KernelSpecManager()
    try:
        spec = specs.get_kernel_spec(name)
    except NoSuchKernel:
        known = ", ".join(sorted(specs.find_kernel_specs())) or "none"
        raise TapevizError(f"there is no kernel named {name}; there are: {known}") from None
    return KernelChoice(f"{spec.display_name} ({name})", spec=name)


def check_interpreter(python: Path) -> None:
    """Raise TapevizError, with a command that helps, if snippets cannot run in ``python``."""
    try:
        answer = subprocess.run(
            [str(python), "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASKED_WITHIN,
            env=kernel_environment(),
            check=True,
        ).stdout
        found: dict[str, Any] = json.loads(answer.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        raise TapevizError(f"{python} does not run as a Python interpreter") from None
    version = ".".join(map(str, found["python"]))
    if tuple(found["python"][:2]) < _OLDEST_PYTHON:
        raise TapevizError(f"{python} is Python {version}: tapeviz needs 3.10 or newer there")
    missing = [name for name in ("tensorflow", "ipykernel") if not found[name]]
    wanted = {"tensorflow": _range(), "ipykernel": "ipykernel"}
    if missing:
        command = install_command(str(python), [wanted[name] for name in missing])
        names = " and ".join({"tensorflow": "TensorFlow"}.get(name, name) for name in missing)
        raise TapevizError(f"{python} has no {names}: install with  {command}")
    trouble = _wrong_version(python, found["version"])
    if trouble:
        raise TapevizError(trouble)


def trouble_with_version(choice: KernelChoice, versions: Versions) -> str:
    """Advice about a TensorFlow version that is not supported; empty for a supported one."""
    return _wrong_version(choice.python or Path(versions.executable), versions.tensorflow)


def _wrong_version(python: Path, version: str) -> str:
    if not version or OLDEST <= _release(version) <= NEWEST:
        return ""
    command = install_command(str(python), [_range()])
    return (
        f"{python} has TensorFlow {version}, tapeviz works with "
        f"{_dotted(OLDEST)} to {_dotted(NEWEST)}: install with  {command}"
    )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _range() -> str:
    return f"tensorflow>={_dotted(OLDEST)},<{NEWEST[0]}.{NEWEST[1] + 1}"


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
