"""Objects known weakly, whatever a snippet does to ``weakref``."""

from __future__ import annotations

import gc
import weakref

import pytest

from .loading import load_module

WeakKeys = load_module("weak_keys").WeakKeys


class Thing:
    pass


def test_keys_are_let_go_of_though_weakref_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ref", "WeakKeyDictionary", "KeyedRef"):
        monkeypatch.setattr(weakref, name, None)
    known: WeakKeys[int] = WeakKeys()
    things = [Thing(), Thing()]
    known[things[0]] = 1
    assert [known.get(thing) for thing in things] == [1, None]
    things.clear()
    gc.collect()
    assert not known._values
