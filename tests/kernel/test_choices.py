"""Which interpreters there are, and the one sentence on what one of them is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tapeviz.errors import TapevizError
from tapeviz.kernel import (
    check_interpreter,
    choose_interpreter,
    choose_kernel,
    find_kernels,
    own_interpreter,
)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "kernels" / "lesson"
    folder.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    described = {"argv": argv, "display_name": "For the lesson", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(described))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return "lesson"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    place = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    return tmp_path / "bare" / place


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Let the interpreter find ``tensorflow`` of that version, and ipykernel, first."""
    (folder / "tensorflow.py").touch()
    (folder / "ipykernel.py").touch()
    notes = folder / f"tensorflow-{version}.dist-info"
    notes.mkdir()
    (notes / "METADATA").write_text(f"Name: tensorflow\nVersion: {version}\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_our_own_interpreter_is_first_and_complete():
    own = find_kernels()[0]
    assert own == own_interpreter()
    check_interpreter(own.python)


def test_kernelspecs_are_found(spec: str):
    assert any(choice.spec == spec for choice in find_kernels())
    choice = choose_kernel(spec)
    assert (choice.spec, choice.python) == (spec, None)
    assert "For the lesson" in choice.title
    with pytest.raises(TapevizError, match=r"no kernel named nowhere; there are: .*lesson"):
        choose_kernel("nowhere")


def test_an_interpreter_is_taken_as_it_is_named(bare: Path):
    # Through the link of the virtual environment, not what it points to.
    assert choose_interpreter(str(bare)).python == bare
    with pytest.raises(TapevizError, match="no Python interpreter"):
        choose_interpreter("/no/such/python")


def test_what_is_missing_is_named_with_its_command(bare: Path):
    with pytest.raises(TapevizError) as caught:
        check_interpreter(bare)
    said = str(caught.value)
    assert "\n" not in said
    assert "has no TensorFlow and ipykernel" in said
    assert f"{bare} -m pip install 'tensorflow>=2.15,<2.22' ipykernel" in said


@pytest.mark.parametrize("version", ["2.14.1", "2.22.0", "1.15"])
def test_other_versions_of_tensorflow_are_refused(bare, tmp_path, monkeypatch, version):
    installed(tmp_path, monkeypatch, version)
    with pytest.raises(
        TapevizError, match=f"TensorFlow {version}, tapeviz works with 2.15 to 2.21"
    ):
        check_interpreter(bare)


@pytest.mark.parametrize("version", ["2.15.0", "2.21.0", "2.17.0rc1"])
def test_supported_versions_are_taken(bare, tmp_path, monkeypatch, version):
    installed(tmp_path, monkeypatch, version)
    check_interpreter(bare)


def test_something_else_is_no_interpreter(tmp_path: Path):
    with pytest.raises(TapevizError, match="does not run as a Python interpreter"):
        check_interpreter(tmp_path)
