"""A recorded snippet does what it does without a recorder, and its end is told."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tapeviz.trace import events as e

from .conftest import Recorded
from .forks import ForkServer

Record = Callable[..., Recorded]

MAIN = """
import sys, inspect
assert __name__ == "__main__" and __file__ == "snippet.py"
print(sys.argv, sys.modules["__main__"].__dict__ is globals())
def f(x, y=3):
    z = x + y  # a comment
    return sorted(locals())
print(f(1), inspect.getsource(f), f.__code__.co_firstlineno)
print(sorted(name for name in globals() if not name.startswith("__")))
class Point:
    '''Text.'''
    __slots__ = ("x",)
    count: int = 0
    def __init__(self, x):
        '''More text.'''
        self.x = x
        self.__class__.count += 1
print(Point.__doc__, Point.__init__.__doc__, Point(3).x, Point.count, Point.__annotations__)
print(sorted(vars(Point)))
"""

CODE = """
import dis, inspect
def f(x):
    y = x + 1
    return y
dis.dis(f)
print(f.__code__.co_consts, f.__code__.co_names)
print(inspect.getfile(tf.GradientTape.gradient), inspect.getsourcefile(tf.Variable(1.0).assign))
class Lazy(type(inspect)):
    def __getattr__(self, name): raise ImportError("optional: " + name)
lazy = Lazy("lazy"); lazy.__file__ = "lazy.py"
print(inspect.getfile(lazy))
"""

TRACEBACKS = """
import traceback, sys
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * v
tape.gradient(y, v)
def again():
    return tape.gradient(
        y, v)
try:
    again()
except RuntimeError as error:
    traceback.print_exc(file=sys.stdout)
try:
    try:
        tf.matmul(tf.ones([2, 3]), v[None] + tf.ones([2, 3]))
    except tf.errors.InvalidArgumentError:
        raise KeyError("second")
except KeyError:
    traceback.print_exc(file=sys.stdout)
try:
    with tf.GradientTape() as t:
        t.watch("text")
except Exception as error:
    print(type(error), error)
    traceback.print_exc(file=sys.stdout)
"""

REFERENCES = """
import gc, weakref
class Noisy:
    def __init__(self, t): self.t = t
    def __del__(self): print("gone")
n = Noisy(tf.ones([3]))
del n
v = tf.Variable([1.0, 2.0])
r = weakref.ref(v)
with tf.GradientTape(persistent=True) as tape:
    y = v * v
k = weakref.ref(tape)
g = tape.gradient(y, v)
del tape, v
gc.collect()
print(r() is None, k() is None)
"""

NUMBERS = """
tf.random.set_seed(3)
w = tf.Variable(tf.random.normal([4, 3]))
c = tf.Variable(tf.zeros([3]))
for step in range(5):
    with tf.GradientTape() as tape:
        h = tf.nn.softmax(tf.random.normal([8, 4]) @ w + c)
        loss = -tf.reduce_mean(tf.math.log(h[:, 0] + 1e-6)) + tf.norm([c, c])
    gw, gc = tape.gradient(loss, [w, c])
    w.assign_sub(0.1 * gw)
    if gc is not None:
        c.assign_sub(0.1 * tf.where(tf.math.is_finite(gc), gc, 0.0))
    print(float(loss), "%.9g" % tf.reduce_sum(w).numpy(), h.shape, loss.dtype, w.name)
with tf.GradientTape(persistent=True) as tape:
    z = tf.linalg.inv(w[:3] + 5.0 * tf.eye(3))
j = tape.jacobian(z, w)
b = tape.batch_jacobian(z, z)
print(tape.watched_variables())
"""

KERAS = """
import keras
keras.utils.set_random_seed(5)
model = keras.Sequential([
    keras.layers.Input([4]), keras.layers.Dense(8, activation="tanh"),
    keras.layers.BatchNormalization(), keras.layers.Dropout(0.3), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
x = np.random.normal(size=[32, 4]).astype("float32")
history = model.fit(x, x[:, :1], epochs=2, batch_size=8, verbose=0)
print(history.history["loss"])
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - x[:, :1]) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(loss.numpy())
print(model.predict(x[:2], verbose=0))
model.summary()
"""

GRAPHS = """
from tensorflow.python.framework.ops import disable_eager_execution
disable_eager_execution()
a = tf.constant([1.0, 2.0])
p = tf.compat.v1.placeholder(tf.float32, [2])
v = tf.Variable([3.0, 4.0])
y = tf.reduce_sum(a * p * v)
grads = tf.gradients(y, [p, v, a])
with tf.compat.v1.Session() as session:
    session.run(tf.compat.v1.global_variables_initializer())
    print(session.run([y, grads], {p: [5.0, 6.0]}))
    print(a.eval(), [n.name for n in tf.compat.v1.get_default_graph().as_graph_def().node])
"""

FUNCTIONS = """
@tf.function
def f(x, n=2):
    total = x
    for i in tf.range(n):
        total = total * x + tf.cast(i, tf.float32)
    return total
v = tf.Variable([1.5, 2.5])
with tf.GradientTape() as tape:
    y = f(v, tf.constant(3))
g = tape.gradient(y, v)
print(g.numpy(), y.numpy())
@tf.custom_gradient
def odd(x):
    def grad(up, variables=None):
        return 7.0 * up
    return x ** 2, grad
with tf.GradientTape(persistent=True) as tape:
    tape.watch(g)
    q = odd(g)
print(tape.gradient(q, g), tape.jacobian(q, g))
"""


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (MAIN, {"argv": ["snippet.py", "--fast"]}),
        (CODE, {}),
        (TRACEBACKS, {}),
        (REFERENCES, {}),
        (NUMBERS, {"wanted": ("w", "c", "loss", "gw", "gc", "j", "b")}),
        (KERAS, {}),
        (GRAPHS, {}),
        (FUNCTIONS, {"wanted": ("g", "y", "q")}),
    ],
)
def test_nothing_is_changed(
    record: Record, run_plainly: Record, text: str, options: dict[str, object]
) -> None:
    plain, seen = run_plainly(text, **options), record(text, **options)
    assert seen.out == plain.out
    assert seen.values == plain.values
    assert seen.err == plain.err
    assert plain.out
    assert not seen.of(e.Noted)
    assert not seen.of(e.Raised)


def test_an_exception_is_told_as_python_would(record: Record) -> None:
    seen = record(
        """
        def outer(v):
            return inner(v)
        def inner(v):
            return {}[v]
        outer(
            3)
        """
    )
    failure = seen.one(e.Raised)
    assert (failure.type, failure.message, failure.line) == ("KeyError", "3", 4)
    assert failure.frames == [5, 2, 4]
    assert failure.traceback.startswith('Traceback (most recent call last):\n  File "snippet.py"')
    assert failure.traceback.endswith("KeyError: 3\n")
    assert "recorder" not in failure.traceback
    assert seen.events[-1] == e.Ended("raised", seen.one(e.Ended).seconds)
    assert seen.err == ""


def test_an_exception_from_a_patched_method_has_no_frames_of_ours(record: Record) -> None:
    seen = record(
        """
        with tf.GradientTape() as t:
            pass
        try:
            t.gradient(None, None)
        except TypeError as error:
            raise ValueError("again") from error
        """
    )
    failure = seen.one(e.Raised)
    assert "recorder" not in failure.traceback
    assert "backprop.py" in failure.traceback
    assert "direct cause" in failure.traceback


def test_a_syntax_error_is_the_snippets_own(record: Record) -> None:
    seen = record("x = 1\ny = = 2\n")
    failure = seen.one(e.Raised)
    assert (failure.type, failure.line) == ("SyntaxError", 2)
    assert "y = = 2" in failure.traceback
    assert seen.one(e.Ended).how == "raised"


@pytest.mark.parametrize(
    ("text", "detail", "err"),
    [
        ("raise SystemExit", "0", ""),
        ("import sys; sys.exit(3)", "3", ""),
        ("exit('bye')", "bye", "bye\n"),
    ],
)
def test_leaving_early(record: Record, text: str, detail: str, err: str) -> None:
    seen = record(f"import builtins, sys\nexit = sys.exit\nx = tf.constant(1.0)\n{text}\n")
    assert (seen.one(e.Ended).how, seen.one(e.Ended).detail) == ("exit", detail)
    assert seen.err == err
    assert not seen.of(e.Raised)
    assert seen.bound("x")


def test_an_interrupt(record: Record) -> None:
    seen = record(
        """
        import _thread
        x = tf.constant(1.0)
        while True:
            x = x + 1.0
            if x > 20.0:
                _thread.interrupt_main()
        """
    )
    assert seen.one(e.Ended).how == "interrupted"
    assert len(seen.ops("AddV2")) > 10
    assert not seen.of(e.Raised)


@pytest.mark.parametrize("end", ["os._exit(3)", "os.abort()"])
def test_the_last_words_before_the_process_ends(forks: ForkServer, end: str) -> None:
    child = forks.start(
        f"import os\nx = tf.constant(1.0)\ny = x * 2.0\n{end}\n", live=True
    ).connection
    lines: list[str] = []
    with contextlib.suppress(EOFError, ConnectionResetError):
        while True:
            lines += child.recv()["lines"]
    assert any(isinstance(event, e.OpRan) for event in map(e.decode, lines))


def test_events_come_while_the_snippet_runs(forks: ForkServer) -> None:
    child = forks.start(
        "import time\nx = tf.constant(1.0)\ny = x * 2.0\ntime.sleep(30)\n", live=True
    ).connection
    lines: list[str] = []
    while not any(isinstance(event, e.OpRan) for event in map(e.decode, lines)):
        assert child.poll(10), "nothing came before the snippet's end"
        lines += child.recv()["lines"]
    child.close()


def test_looking_at_a_value_runs_nothing_of_the_snippets(record: Record) -> None:
    seen = record(
        """
        class Noisy:
            def __getattr__(self, name): print("asked for", name)
            def __eq__(self, other): print("compared")
            def __bool__(self): print("bool"); return True
            def __len__(self): print("len"); return 1
            def __iter__(self): print("iter"); return iter([])
        class NoisyList(list):
            def __iter__(self): print("iter"); return list.__iter__(self)
            def __getitem__(self, key): print("item"); return list.__getitem__(self, key)
            def __bool__(self): print("bool"); return True
            def __len__(self): print("len"); return 1
        n = Noisy()
        l = NoisyList([tf.constant(1.0)])
        d = {"n": n, "l": l}
        s = np.shape(d)
        """
    )
    assert seen.out == ""
    assert not seen.of(e.Noted)
    assert seen.bound("l")


def test_a_variable_called_as_the_module_of_bytecode_is_recorded_by_name(record: Record) -> None:
    seen = record("dis = tf.constant(2.0)  # from its import, dis\nscore = dis * dis.numpy()\n")
    assert {"dis", "score"} <= {event.name for event in seen.of(e.NameBound)}


def test_text_that_defeats_the_instrumentation_runs_plainly(record: Record) -> None:
    seen = record("x = " + "(" * 60 + "1" + ")" * 60 + "\ny = tf.constant(2.0)\nprint(x)\n")
    assert seen.out == "1\n"
    assert not seen.of(e.Raised)


def test_a_hook_that_fails_is_a_note_and_nothing_more(record: Record) -> None:
    seen = record(
        """
        class Strange:
            def __str__(self): raise OSError("no")
        s = {Strange(): tf.constant(2.0)}
        s = {Strange(): tf.constant(2.0)}
        x = tf.constant(1.0)
        print("fine")
        """
    )
    assert seen.out == "fine\n"
    assert len(seen.of(e.Noted)) == 1
    assert seen.bound("x")


def test_an_error_that_cannot_be_written_is_told(record: Record) -> None:
    seen = record(
        """
        class Kind(type):
            __name__ = property(lambda self: 1j)
        class Odd(Exception, metaclass=Kind): pass
        raise Odd
        """
    )
    assert not seen.of(e.Raised)
    assert [note.message for note in seen.of(e.Noted)] == [
        "recorder, writing an event: TypeError: Object of type complex is not JSON serializable"
    ]
    assert isinstance(seen.events[-1], e.Ended)


BROKEN_LIBRARY = """
import {module}
x = tf.Variable([1.0, 2.0])
before = dict(vars({module}))
for name, value in before.items():
    if callable(value) and not name.startswith("__"):
        setattr({module}, name, None)
for turn in range(3):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(x) ** 3)
    g = tape.gradient(y, x)
    x.assign_sub(g)
large = tf.ones([3000]) * 2.0
words = tf.strings.as_string(y)
vars({module}).update(before)
"""


@pytest.mark.parametrize(
    "module",
    # None of contextlib and codecs: TensorFlow itself fails without them; from Python 3.12 on
    # typing takes a function of inspect when TensorFlow asks for a protocol.
    [
        *("bisect", "functools", "itertools", "json", "json.decoder", "math", "os"),
        *("threading", "time", "traceback", "warnings"),
        *(("inspect",) if sys.version_info < (3, 12) else ()),
    ],
)
def test_all_is_recorded_when_a_snippet_breaks_a_library(record: Record, module: str) -> None:
    seen = record(BROKEN_LIBRARY.format(module=module))
    assert not seen.of(e.Noted)
    assert not seen.of(e.Raised)
    assert len(seen.of(e.CallBegan)) == len(seen.of(e.CallEnded)) == 3
    assert len(seen.ops("Sin")) == len(seen.ops("AssignSubVariableOp")) == 3
    assert seen.bound("large")
    assert seen.tensor(seen.bound("words")[0]).text


UNSENT = """
import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "log"):
    frame = getattr(frame, "f_back")  # written so it shows the recorder, too
log, limits = frame.f_locals["self"].log, sys.modules["_tapeviz_recorder.limits"]
send, log._send, limits.UNSENT_BYTES = log._send, None, {limit}
x = tf.constant(1.0)
for turn in range(300):
    x = x + 1.0
    if turn % 20 == 0:
        log.flush()
log.flush()
log._send = send
"""


def test_what_could_not_be_sent_is_sent_at_the_end(record: Record) -> None:
    seen = record(UNSENT.format(limit=1 << 20))
    assert (len(seen.ops("AddV2")), seen.of(e.Noted)) == (300, [])


def test_what_waits_to_be_sent_is_limited_and_the_loss_is_told(record: Record) -> None:
    seen = record(UNSENT.format(limit=20_000))
    assert 20 < len(seen.ops("AddV2")) < 200
    assert ["later events are lost" in note.message for note in seen.of(e.Noted)] == [True]
    assert seen.one(e.Ended).how == "finished"


GENERATED = """
import os, sys
from importlib.util import cache_from_source
@tf.function
def f(x):
    if x > 0.0:
        x = x * x
    return x
f(tf.constant(2.0))
files = [name for name in sys.modules if name.startswith("__autograph_generated_file")]
print(len(files), {os.path.dirname(sys.modules[name].__file__) for name in files})
paths = [sys.modules[name].__file__ for name in files]
print(*paths, *map(cache_from_source, paths))
"""


def test_files_that_autograph_writes_stay_in_their_place_and_are_linked(
    record: Record, run_plainly: Record, tmp_path: Path
) -> None:
    place, names = record(GENERATED, generated_code=str(tmp_path)).out.splitlines()
    assert place == run_plainly(GENERATED).out.splitlines()[0]
    assert names.split()
    assert {str(link.readlink()) for link in tmp_path.iterdir()} == {*names.split()}


PAGE = """
print("first")
unknown
print("not reached")
#¶ In between.
kept = 3
@str
def later(): pass
#¶ And in the end:
print(kept, type(later).__name__)
"""


def test_the_blocks_of_a_page_go_on_after_an_error(record: Record) -> None:
    recorded = record(PAGE, blocks=[1, 5, 9])
    assert recorded.out == "first\n3 str\n"
    (error,) = (event for event in recorded.events if isinstance(event, e.Raised))
    assert (error.type, error.line) == ("NameError", 2)
    assert [event.how for event in recorded.events if isinstance(event, e.Ended)] == ["finished"]


def test_a_program_ends_with_its_error(record: Record) -> None:
    recorded = record(PAGE)
    assert recorded.out == "first\n"
    assert recorded.events[-1].how == "raised"


def test_frames_whose_lines_tensorflow_notes_are_short(record: Record) -> None:
    seen = record(
        """
        import sys
        frame, lengths = sys._getframe().f_back, []
        while frame is not None:
            found = frame.f_code.co_lines()
            lengths.append(len({line for start, _, line in found if start <= frame.f_lasti}))
            frame = frame.f_back
        print(lengths)
        """
    )
    run_as_main, *below = json.loads(seen.out)
    assert run_as_main > 10
    assert len(below) > 26
    assert max(below[:26]) <= 4  # a function of ours and 25 of one line
