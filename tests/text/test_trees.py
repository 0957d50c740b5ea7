"""Threads that parse at the same time."""

from __future__ import annotations

import gc
import threading
import time

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
