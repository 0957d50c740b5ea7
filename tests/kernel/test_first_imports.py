"""A snippet imports for the first time what the process has imported before."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
import warnings

import pytest

from tapeviz.kernel.inside.first_imports import first_imports

FILTERS = [("default", None, ImportWarning, None, 0)]
BEFORE = [("ignore", None, BytesWarning, None, 0), ("error", None, UserWarning, None, 0)]
BEHIND = [("always", None, FutureWarning, None, 0)]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork server that imported ``first_of_all``, then ``second`` and with it ``helper``."""
    server = types.ModuleType("_tapeviz_fork_server")
    steps = [
        {"name": "first_of_all", "modules": ["first_of_all"], "before": BEFORE[1:], "behind": []},
        {"name": "second", "modules": ["second", "helper"], "before": BEFORE, "behind": BEHIND},
    ]
    server.__dict__.update(imported=steps, filters=FILTERS)
    for name in ("first_of_all", "second", "helper"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, server.__name__, server)


def test_what_was_imported_is_hidden_until_it_is_imported(served: None) -> None:
    known = {name: sys.modules[name] for name in ("first_of_all", "second", "helper")}
    with warnings.catch_warnings(), first_imports():
        assert not known.keys() & sys.modules.keys()
        assert warnings.filters == FILTERS
        for name in known:
            found = importlib.util.find_spec(name)  # says that it is there, and imports nothing
            assert found is not None
            assert found.name == name
        assert not known.keys() & sys.modules.keys()
        assert importlib.import_module("helper") is known["helper"]
        assert warnings.filters == FILTERS
        assert importlib.import_module("second") is known["second"]
        assert known.items() <= sys.modules.items()
        assert warnings.filters == [*BEFORE, *FILTERS, *BEHIND]
        with pytest.raises(ImportError):
            importlib.import_module("not_there")


def test_what_was_not_imported_is_back_at_the_end(served: None) -> None:
    known = dict(sys.modules)
    with warnings.catch_warnings(), first_imports():
        importlib.import_module("first_of_all")
        assert "second" not in sys.modules
        assert warnings.filters == [BEFORE[1], *FILTERS]
    assert known == sys.modules
