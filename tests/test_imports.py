"""The rules of dependency: who may import whom, read from the source without running it."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "tapeviz"
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted(Path(__file__).parent.rglob("*.py"))

QT = {"PySide6", "pyqtgraph", "shiboken6"}
WINDOW = {"canvas", "panels", "app"}
WITHOUT_WIDGETS = {  # signals; a writer paints, it has no window
    "document": {"QtCore", "isValid"},
    "export": {"QtCore", "QtGui"},
    "paint": {"QtCore", "QtGui"},
}
TENSORFLOW = {"tensorflow", "keras"}
IN_THE_KERNEL = set(sys.stdlib_module_names) | TENSORFLOW | {"numpy"}
ENDS = {"app", "cli"}  # they import, nobody imports them
SLOW = {"numpy", "PySide6", "networkx", "tensorflow", "pyqtgraph", "jupyter_client"}


@pytest.fixture(autouse=True, scope="module")
def collect_seldom() -> Iterator[None]:
    """The syntax trees stay as long as these tests: walking over their two million objects to look
    for garbage takes longer than the tests, and would take a second of each collection after."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    yield
    gc.set_threshold(*before)
    for known in (parsed, imports, import_statements):
        known.cache_clear()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room(path: Path) -> str:
    """The folder under ``tapeviz/`` that a module belongs to; its own name at the top."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def imports(path: Path, *, for_types: bool = True) -> tuple[str, ...]:
    """Each module that ``path`` imports, anywhere in it, by its absolute dotted name.

    ``from a import b`` gives ``a.b``: whether ``b`` is a module does not matter to most rules.
    ``for_types``: also what is imported for type checking only.
    """
    package = ["tapeviz", *path.relative_to(PACKAGE).parent.parts]
    found: list[str] = []
    for node, is_for_types in import_statements(path):
        if is_for_types and not for_types:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        else:
            parent = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*parent, *([node.module] if node.module else [])])
            found += [f"{origin}.{alias.name}" for alias in node.names]
    return tuple(found)


@cache
def import_statements(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Each import in a module, and whether it stands below ``if TYPE_CHECKING``."""
    nodes = list(ast.walk(parsed(path)))
    for_types = {
        inner
        for node in nodes
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        for inner in node.body
    }
    kinds = (ast.Import, ast.ImportFrom)
    return [(node, node in for_types) for node in nodes if isinstance(node, kinds)]


def offences(path: Path) -> Iterator[str]:
    """The imports of ``path`` that the rules forbid."""
    here = room(path)
    for name in imports(path):
        top, *rest = name.split(".")
        if top in TENSORFLOW and here != "recorder":
            yield f"{name}: TensorFlow is named in recorder alone"
        if top in QT and here not in WINDOW and rest[:1] not in _allowed(here):
            yield f"{name}: widgets are named in canvas, panels and app alone"
        if top == "tapeviz" and here not in ENDS | {"__main__"} and ENDS.intersection(rest[:1]):
            yield f"{name}: nothing imports app or cli"
        if here == "recorder":
            inside = top == "tapeviz" and rest[:1] == ["recorder"]
            if not (inside or top in IN_THE_KERNEL):
                yield f"{name}: the recorder runs where only TensorFlow and NumPy are sure"


def _allowed(room_name: str) -> list[list[str]]:
    return [[module] for module in WITHOUT_WIDGETS.get(room_name, ())]


def absolute_imports(path: Path) -> Iterator[str]:
    """Imports of tapeviz by its name, which the kernel does not have."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            if node.module.split(".")[0] == "tapeviz":
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "tapeviz")


def test_dependencies_point_one_way() -> None:
    assert {str(path): found for path in MODULES if (found := list(offences(path)))} == {}


WHOLES = {
    "app.window": "actions and menus are given the window that they act on",
    "canvas.view": "the pointer moves the camera of its view",
    "document.document": "the parts of the document read each other through it",
    "kernel.live_kernel": "a run passes orders to the kernel that runs it",
    "panels.source.editor": "the gutters stand beside the lines of their editor",
    "recorder.recording": "names of graphs are logged in the recording that holds them",
    "trace.model": "values are looked up in the tables of their trace",
}
"""Modules of a class whose parts get it as an argument: these import it for type checking."""


def dependencies(*, for_types: bool) -> dict[str, set[str]]:
    """The modules of tapeviz that each module imports, also late, in a function.

    ``for_types``: also for type checking, unless it is one of :data:`WHOLES`.
    """
    names = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in MODULES
    }

    def modules(imported: Iterable[str]) -> set[str]:
        inside = [name.removeprefix("tapeviz.") for name in imported if "tapeviz." in name]
        return {n if n in names else n.rpartition(".")[0] for n in inside} & names.keys()

    found = {}
    for name, path in names.items():
        needed = modules(imports(path, for_types=False))
        typed = modules(imports(path)) - needed - WHOLES.keys() if for_types else set[str]()
        found[name] = (needed | typed) - {name}
    return found


@pytest.mark.parametrize("for_types", [False, True])
def test_no_modules_import_each_other(for_types: bool) -> None:
    """What two modules need of each other stands in a third one that both can import."""
    list(TopologicalSorter(dependencies(for_types=for_types)).static_order())  # else CycleError


def test_the_recorder_imports_itself_relatively() -> None:
    found = {
        path.name: names
        for path in MODULES
        if room(path) == "recorder" and (names := list(absolute_imports(path)))
    }
    assert found == {}


def test_an_offence_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    for folder in ("trace", "recorder", "document", "export", "panels"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "module.py").write_text(
            "from PySide6.QtWidgets import QWidget\n"
            "def late():\n    from ..cli import main\n    from .. import app\n"
        )
    (tmp_path / "document" / "document.py").write_text("from PySide6.QtCore import QObject\n")
    (tmp_path / "trace" / "keras_user.py").write_text("import tensorflow as tf\n")
    assert len(list(offences(tmp_path / "trace" / "module.py"))) == 3
    assert len(list(offences(tmp_path / "export" / "module.py"))) == 3
    assert len(list(offences(tmp_path / "document" / "module.py"))) == 3
    assert len(list(offences(tmp_path / "document" / "document.py"))) == 0
    assert len(list(offences(tmp_path / "panels" / "module.py"))) == 2
    assert len(list(offences(tmp_path / "recorder" / "module.py"))) == 6
    assert len(list(offences(tmp_path / "trace" / "keras_user.py"))) == 1


def test_no_file_attracts_everything() -> None:
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 600, path


def test_no_folder_holds_more_than_a_reader_can_scan() -> None:
    sizes = Counter(path.parent for path in MODULES if path.stem != "__init__")
    assert {str(folder): size for folder, size in sizes.items() if size > 20} == {}


def types_of(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The public types that a module defines, each with whether it is a class; else an alias."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, True
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            is_variable = isinstance(node.value, (ast.Call, ast.Attribute))  # a TypeVar, tf.Tensor
            names = [each.id for each in targets if isinstance(each, ast.Name)]
            yield from (
                (n, False) for n in names if re.match("[A-Z].*[a-z]", n) and not is_variable
            )


def test_the_name_of_a_class_means_one_thing() -> None:
    """Neither another class nor an alias of a type has it."""
    homes: dict[str, list[str]] = {}
    classes = set()
    for path in MODULES:
        for name, is_class in types_of(parsed(path)):
            if not name.startswith("_"):
                homes.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
                classes.update({name} if is_class else ())
    assert {name: homes[name] for name in sorted(classes) if len(homes[name]) > 1} == {}


def test_names_say_what_they_stand_for() -> None:
    """Nothing is called ``one``: an op is an op, a call a call."""
    bound = [
        f"{path}:{node.lineno}"
        for path in (*MODULES, *TESTS)
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.arg) and node.arg == "one")
        or (isinstance(node, ast.Name) and node.id == "one" and isinstance(node.ctx, ast.Store))
    ]
    assert bound == []


def test_docstrings_begin_with_what_they_are_about() -> None:
    """Subject, verb, object: none begins with "Of" or "What", also not below an attribute."""
    begun = [
        f"{path}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and node.value.value.lstrip().startswith(("Of ", "What "))
    ]
    assert begun == []


@pytest.mark.skipif(not (PACKAGE / "cli" / "__init__.py").exists(), reason="no command line yet")
def test_help_loads_nothing_slow() -> None:
    program = (
        "import sys\n"
        "from tapeviz.cli import main\n"
        "try:\n    status = main(['--help'])\n"
        "except SystemExit as end:\n    status = end.code\n"
        "print(status or 0, *sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    status, *loaded = ran.stdout.splitlines()[-1].split()
    assert status == "0"
    assert SLOW.isdisjoint(loaded)


BESIDE_A_RUN = {
    "kernel/inside/boot.py": "runs before the snippet",
    "kernel/inside/fork_server.py": "runs in another process",
    "kernel/inside/ipykernel_marks.py": "runs before the snippet",
    "kernel/inside/plain_python.py": "runs before the snippet and after it",
    "kernel/inside/script_end.py": "what the snippet broke is whole again",
    "kernel/inside/script_threads.py": "runs before the snippet",
    "kernel/inside/before_exit.py": "replaces functions of these modules",
    "recorder/program.py": "what the snippet broke is whole again",
    "recorder/seeding.py": "runs before the snippet",
}
"""Modules in the user's process whose functions do not run together with a snippet."""


def calls_by_module(path: Path) -> Iterator[str]:
    """Calls inside of functions that find a function of the standard library by its module."""
    tree = parsed(path)
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.partition(".")[0] in sys.stdlib_module_names
    } - {"ast"}  # the text is parsed before it runs
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.Lambda)):
            body = function.body if isinstance(function, ast.FunctionDef) else [function.body]
            for call in (node for part in body for node in ast.walk(part)):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    home = ast.unparse(call.func.value)
                    if home.partition(".")[0] in modules and home in sys.modules:
                        yield ast.unparse(call.func)


def test_a_snippet_can_take_no_function_of_the_library_from_the_recorder(tmp_path: Path) -> None:
    """``json.dumps = None`` in a snippet must not reach what runs beside it."""
    inside = {
        str(path.relative_to(PACKAGE)): path
        for path in MODULES
        if path.is_relative_to(PACKAGE / "recorder")
        or path.is_relative_to(PACKAGE / "kernel" / "inside")
    }
    assert BESIDE_A_RUN.keys() <= inside.keys()
    found = {
        name: calls
        for name, path in inside.items()
        if name not in BESIDE_A_RUN and (calls := sorted(set(calls_by_module(path))))
    }
    assert found == {}
    offending = tmp_path / "offending.py"
    offending.write_text("import json, os.path\ndef f():\n    json.dumps(os.path.join('a'))\n")
    assert sorted(calls_by_module(offending)) == ["json.dumps", "os.path.join"]
