"""Eager calls of traced functions in; their numbers, and what dies when it is dropped, out."""

from __future__ import annotations

from collections.abc import Callable

from tapeviz.trace import events as e
from tapeviz.trace.read import read

from .conftest import Recorded

Record = Callable[..., Recorded]


def test_calls_are_counted_for_each_trace(record: Record) -> None:
    seen = record(
        """
        @tf.function
        def inner(x):
            return x * 2.0
        @tf.function
        def f(x):
            return inner(x) + 1.0
        for _ in range(3):
            f(tf.constant(1.0))
        f(tf.constant([1.0]))
        inner(tf.constant(1.0))
        """,
    )
    eager = [run for run in seen.of(e.BodiesRun) if not run.into]
    first, again = eager[0].graphs, eager[3].graphs
    assert [run.call for run in eager] == [1, 2, 3, 1, 1]
    assert [run.graphs for run in eager[:4]] == [first, first, first, again]
    assert first != again
    assert all(not run.call for run in seen.of(e.BodiesRun) if run.into)


def test_tensors_that_go_through_a_function_die_as_without(
    record: Record, run_plainly: Record
) -> None:
    text = """
        import gc, time, weakref
        v = tf.Variable([1.0, 2.0])
        @tf.function
        def f(x):
            v.assign_add(x)
            return tf.sin(x), v + 1.0
        for _ in range(5):
            x = tf.constant([1.0, 2.0]) + 1.0
            one, two = f(x)
        time.sleep(0.3)  # what is sent later is held until then
        kept = [weakref.ref(each) for each in (x, one, two)]
        del x, one, two
        print([each() is None for each in kept])
        """
    assert record(text).out == run_plainly(text).out


def test_calls_beyond_the_budget_are_forgotten_in_the_middle(record: Record) -> None:
    text = """
        @tf.function
        def f(x):
            return tf.reduce_sum(x)
        for step in range(40):
            f(tf.fill([1000], float(step)))
        """
    seen = record(text, call_budget=40_000)
    assert [run.call for run in seen.of(e.BodiesRun)] == list(range(1, 41))


def test_threads_that_call_one_function_at_once_are_all_kept(record: Record) -> None:
    seen = record(
        """
        from concurrent.futures import ThreadPoolExecutor
        f = tf.function(lambda x: tf.reduce_sum(x ** 2))
        def call(number):
            x = tf.Variable([float(number), 1.0])
            with tf.GradientTape() as tape:
                y = f(x)
            return tape.gradient(y, x)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(call, range(64)))
        """
    )
    assert not seen.of(e.Noted)
    forward = [run.call for run in seen.of(e.BodiesRun) if not run.into and run.call]
    assert set(forward) == set(range(1, 65))


def test_what_runs_while_another_thread_traces_is_not_of_its_graph(record: Record) -> None:
    seen = record(
        """
        import threading
        is_traced, may_go_on = threading.Event(), threading.Event()
        @tf.function
        def f(x):
            is_traced.set()
            may_go_on.wait(60)
            return tf.sin(x)
        other = threading.Thread(target=f, args=(tf.constant(1.0),))
        other.start()
        is_traced.wait(60)
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = tf.square(x)
        print(tape.gradient(y, x).numpy())
        may_go_on.set()
        other.join()
        """
    )
    assert seen.out == "6.0\n"
    assert {(op.type, op.tracer) for op in seen.of(e.OpRan) if op.graph} >= {("Sin", 1)}
    assert {tape.tracer for tape in seen.of(e.TapeOpened)} == {0}
    assert [call.ended for call in read(seen.events, seen.blob, "", "").calls] == [True]


def test_functions_never_share_a_number_whatever_another_thread_reads(record: Record) -> None:
    seen = record(
        """
        import sys
        from tensorflow.python.framework import ops
        numbering = next(each for name, each in sys.modules.items() if name.endswith(".numbering"))
        numbers = [ops.uid()]
        with numbering.own_ops():  # on another thread; this one goes on making functions
            numbers += [ops.uid() for _ in range(5)]
        numbers += [ops.uid() for _ in range(5)]
        print(all(earlier < later for earlier, later in zip(numbers, numbers[1:])))
        """
    )
    assert seen.out == "True\n"
