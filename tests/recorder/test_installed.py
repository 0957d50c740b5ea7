"""Patches are put back, and look like what they replace."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tapeviz.trace import events as e

from .conftest import Recorded
from .forks import RECORDER

Record = Callable[..., Recorded]


@pytest.fixture(scope="module")
def installed() -> ModuleType:
    """The module by itself: the package's private names would import TensorFlow."""
    package, private = ModuleType("_alone"), ModuleType("_alone.private")
    hooks, instrument = ModuleType("_alone.hooks"), ModuleType("_alone.hooks.instrument")
    vars(package).update(__path__=[], private=private)
    vars(private).update(CODE_WITH_CALLBACKS=None)
    vars(instrument).update(BIND="bind")
    for alone in (package, private, hooks, instrument):
        sys.modules[alone.__name__] = alone
    return _alone("installed", "installed.py")


def _alone(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_alone.{name}", Path(RECORDER) / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tracing(installed: ModuleType) -> ModuleType:
    definitions, stack_depth = ModuleType("definitions"), ModuleType("stack_depth")
    vars(definitions).update(first_line=None, parsed=None)
    vars(stack_depth).update(FIRST_OF_THREAD=None)
    sys.modules["_alone.hooks.definitions"] = definitions
    sys.modules["_alone.stack_depth"] = stack_depth
    return _alone("unseen.tracing", "unseen/tracing.py")


class Parent:
    def greet(self, name: str, loud: bool = False) -> str:
        """Say hello."""
        return f"hello {name}"


class Child(Parent):
    pass


def doubled(original: Callable[..., Any]) -> Callable[..., Any]:
    def twice(*args: Any, **named: Any) -> Any:
        return original(*args, **named) * 2

    return twice


def test_everything_is_put_back_in_reverse_order(installed: ModuleType) -> None:
    space = SimpleNamespace(value=lambda: 1)
    first, method = space.value, Parent.greet
    with contextlib.suppress(KeyError), installed.Installed() as patches:
        patches.replace(space, "value", doubled)
        patches.replace(space, "value", doubled)
        patches.replace(Child, "greet", doubled)
        assert space.value() == 4
        assert Child().greet("you") == "hello youhello you"
        assert Parent().greet("you") == "hello you"
        raise KeyError
    assert space.value is first
    assert "greet" not in vars(Child)
    assert Parent.greet is method


def test_a_replacement_looks_like_the_original(installed: ModuleType) -> None:
    signature = inspect.signature(Parent.greet)
    with installed.Installed() as patches:
        patches.replace(Parent, "greet", doubled)
        assert inspect.signature(Parent.greet) == signature
        assert Parent.greet.__doc__ == "Say hello."
        assert Parent.greet.__module__ == __name__


def test_an_undo_that_fails_does_not_keep_the_others(installed: ModuleType) -> None:
    done = []
    with installed.Installed() as patches:
        patches.undo(done.append, "first")
        patches.undo(lambda: 1 / 0)
        patches.undo(done.append, "last")
    assert done == ["last", "first"]


def test_signatures_and_types_stay_in_the_snippet(record: Record, run_plainly: Any) -> None:
    text = """
    import inspect
    tape = tf.GradientTape
    for method in (tape.__init__, tape.gradient, tape.jacobian, tape.batch_jacobian, tape.watch):
        print(method.__name__, inspect.signature(method), method.__module__, bool(method.__doc__))
    v = tf.Variable(1.0)
    print(type(v).__name__, isinstance(v, tf.Variable), type(tf.constant(1.0)).__name__)
    print(inspect.signature(tf.Variable.__init__), callable(tf.constant(1.0).numpy))
    """
    assert record(text).out == run_plainly(text).out != ""


def test_names_are_there_without_import_when_asked_for(record: Record) -> None:
    given = record(
        "print(tf.add(1, 1).numpy(), np.add(1, 1), keras.__name__)", provide=["tf", "np", "keras"]
    )
    assert given.out.startswith("2 2 ")
    missing = record("print(tf.add(1, 1))", provide=[])
    assert missing.one(e.Raised).type == "NameError"
    assert "NameError: name 'tf' is not defined" in missing.one(e.Raised).traceback


def test_a_trace_function_hears_of_numpy_what_the_snippet_calls(tracing: ModuleType) -> None:
    numpy: dict[str, Any] = {"__name__": "numpy.core"}
    exec("import sys\ndef errstate(): return sys._getframe()", numpy)
    callers: list[dict[str, Any]] = [
        {"__name__": "__main__", "__package__": None},
        {"__name__": "_alone.measuring", "__package__": "_alone"},
    ]
    for caller in callers:
        caller["is_hidden"] = tracing.is_hidden
        exec("def call(f): return is_hidden(f())", caller)
    assert [caller["call"](numpy["errstate"]) for caller in callers] == [False, True]
