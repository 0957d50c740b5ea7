"""Threads that parse at the same time; texts that are nested deeply."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from tapeviz.repair import repair
from tapeviz.repair.imports import missing_imports
from tapeviz.text.source import SourceText
from tapeviz.text.statements import read_text
from tapeviz.text.trees import parse_module


def test_threads_parse_at_once():
    """A collection in the middle of a tree lets another thread run, as finalizers in Python do."""
    text = "x = [" + ", ".join(f"f({n}, [a, b])" for n in range(300)) + "]\n"
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(8):
                parse_module(text)
        except BaseException as error:
            failed.append(error)

    def pause(*_: object) -> None:
        time.sleep(1e-5)

    threshold = gc.get_threshold()
    threads = [threading.Thread(target=work) for _ in range(4)]
    gc.callbacks.append(pause)
    gc.set_threshold(50)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks.remove(pause)
        gc.set_threshold(*threshold)
    assert not failed


@pytest.mark.parametrize(("terms", "is_read"), [(900, True), (2000, False)])
def test_a_sum_that_python_runs_is_run(terms: int, is_read: bool) -> None:
    """Each term is a level: what is too deep for us may run, without our knowing what it reads."""
    text = f"y = tf.square(a) + [b for b in c] + {' + '.join(['x'] * terms)}"
    assert repair(text).error is None
    assert missing_imports(text) == {"tf"}
    statement = read_text(SourceText(text)).statement(1)
    reads = statement.reads if statement is not None else ()
    assert set(reads) >= ({"a", "c", "x"} if is_read else set())
    assert "b" not in reads


def test_what_python_refuses_is_not_run() -> None:
    refused = repair("x = " + "(" * 500 + ")" * 500).error
    assert refused is not None
    assert "too many nested parentheses" in refused.message
