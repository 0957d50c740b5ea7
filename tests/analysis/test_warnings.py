"""Numbers that look right and are wrong: for each warning what triggers it and what nearly does."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from tapeviz.analysis import warnings
from tapeviz.analysis.call_facts import CallFacts
from tapeviz.analysis.diagnose import diagnose
from tapeviz.analysis.flow.ancestry import Ancestry
from tapeviz.analysis.flow.dataflow import DataFlow
from tapeviz.cli.text import as_text
from tapeviz.trace import events as e
from tapeviz.trace.ids import TensorId
from tapeviz.trace.ops import Op

from ..sampling import sampled
from ..traces import Script

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

MARK = "# odd"


@dataclass(frozen=True)
class Odd:
    name: str
    kind: str | None
    """The warning; None: there is none."""
    text: str

    @property
    def line(self) -> int | None:
        lines = self.text.splitlines()
        return next((n for n, line in enumerate(lines, 1) if MARK in line), None)


def _odd(name: str, kind: str | None, text: str) -> Odd:
    text = "import tensorflow as tf\n" + dedent(text).strip() + "\n"
    return Odd(name, kind, text)


def _custom(name: str, kind: str | None, returned: str, gradient: str) -> Odd:
    mark = f"  {MARK}" if kind else ""
    return _odd(
        name,
        kind,
        f"""
        @tf.custom_gradient
        def bent(a):
            def slope(upstream):
                return {gradient}{mark}
            return {returned}, slope
        q = tf.Variable([0.3, 1.4])
        with tf.GradientTape() as t:
            out = tf.reduce_sum(bent(3.0 * q))
        t.gradient(out, q)
        """,
    )


def _uncollected(name: str, is_odd: bool, sources: str) -> Odd:
    mark = f"  {MARK}" if is_odd else ""
    return _odd(
        name,
        "uncollected" if is_odd else None,
        f"""
        class Gain(tf.keras.layers.Dense):
            def __init__(self):
                super().__init__(1)
                self.by = tf.Variable(2.0){mark}
                self.calls = tf.Variable(0.0)
            def call(self, given):
                self.calls.assign_add(1.0)
                return super().call(given) * self.by * self.calls
        gain = Gain()
        gain(tf.ones([1, 2]))
        weights = trainable_variables = gain.trainable_variables
        with tf.GradientTape() as t:
            out = tf.reduce_sum(gain(tf.ones([1, 2])))
        t.gradient(out, {sources})
        """,
    )


ODDS = (
    _odd(
        "probabilities given as logits",
        "softmax-twice",
        """
        w, y = tf.Variable([[0.1, 0.9, -0.3]]), tf.constant([1])
        with tf.GradientTape() as t:
            p = tf.nn.softmax(w)
            ce = tf.keras.losses.sparse_categorical_crossentropy(y, p, from_logits=True)  # odd
            loss = tf.reduce_mean(ce)
        t.gradient(loss, w)
        """,
    ),
    _odd(
        "probabilities given as such",
        None,
        """
        w, y = tf.Variable([[0.1, 0.9, -0.3]]), tf.constant([1])
        with tf.GradientTape() as t:
            p = tf.nn.softmax(w)
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, p))
        t.gradient(loss, w)
        """,
    ),
    _odd(
        "a softmax of attention scores that are sharpened",
        None,
        """
        q, v = tf.Variable([[0.1, 0.9, -0.3]]), tf.constant([[1.0], [2.0], [5.0]])
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(tf.nn.softmax(tf.nn.softmax(q) / 0.1) @ v)
        t.gradient(loss, q)
        """,
    ),
    _odd(
        "weights listed before the first call",
        "no-sources",
        """
        layer = tf.keras.layers.Dense(1)
        weights = layer.trainable_variables
        with tf.GradientTape() as t:
            out = tf.reduce_sum(layer(tf.ones([1, 2])))
        t.gradient(out, weights)  # odd
        """,
    ),
    _odd(
        "weights listed after the first call",
        None,
        """
        layer = tf.keras.layers.Dense(1)
        with tf.GradientTape() as t:
            out = tf.reduce_sum(layer(tf.ones([1, 2])))
        t.gradient(out, layer.trainable_variables)
        """,
    ),
    _uncollected("a variable that Keras does not collect", True, "trainable_variables"),
    _uncollected("a variable asked for beside the collected ones", False, "weights + [gain.by]"),
    _custom("half the slope", "custom-gradient", "a * a", "upstream * a"),
    _custom("the right slope", None, "a * a", "2.0 * upstream * a"),
    _custom("a slope for rounding", None, "tf.round(a)", "upstream"),
    _custom("a blocked path", None, "a * a", "tf.zeros_like(upstream)"),
    _custom("a reversed gradient", None, "tf.identity(a)", "-upstream"),
    _custom("a clipped gradient", None, "a", "tf.clip_by_value(upstream, -0.1, 0.1)"),
    _odd(
        "a variable as argument",
        "custom-gradient",
        """
        @tf.custom_gradient
        def scaled(a, b):
            return a * b, lambda upstream: (upstream * b, upstream * b)  # odd
        p, q = tf.Variable(2.0), tf.Variable(5.0)
        with tf.GradientTape() as t:
            out = scaled(p, q)
        t.gradient(out, [p, q])
        """,
    ),
    _odd(
        "labels against a column",
        "broadcast",
        """
        w = tf.Variable([[1.0], [2.0]])
        labels = tf.constant([1.0, 0.0, 2.0])
        with tf.GradientTape() as t:
            out = tf.ones([3, 2]) @ w
            loss = tf.reduce_mean((labels - out) ** 2)  # odd
        t.gradient(loss, w)
        """,
    ),
    _odd(
        "labels made a column",
        None,
        """
        w = tf.Variable([[1.0], [2.0]])
        labels = tf.constant([1.0, 0.0, 2.0])
        with tf.GradientTape() as t:
            out = tf.ones([3, 2]) @ w
            loss = tf.reduce_mean((labels[:, None] - out) ** 2)
        t.gradient(loss, w)
        """,
    ),
    _odd(
        "sums of softmaxes",
        "rounding",
        """
        q = tf.Variable(tf.reshape(tf.sin(tf.range(50.0) * 1.3) * 3.0, [5, 10]))
        with tf.GradientTape() as t:
            out = tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(q), axis=1))  # odd
        t.gradient(out, q)
        """,
    ),
    _odd(
        "small numbers that are multiplied and added",
        None,
        """
        q = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            out = tf.reduce_sum(q * 1e-9 + tf.nn.softmax(q * 1e-9) * [1.0, 3.0] * 1e-12)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "equal largest",
        "ties",
        """
        q = tf.Variable([4.0, 4.0, 1.0])
        with tf.GradientTape() as t:
            out = tf.reduce_max(q)  # odd
        t.gradient(out, q)
        """,
    ),
    _odd(
        "one largest",
        None,
        """
        q = tf.Variable([4.0, 3.0, 1.0])
        with tf.GradientTape() as t:
            out = tf.reduce_max(q)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "partly through a state",
        "partial",
        """
        q, s = tf.Variable(2.0), tf.Variable(1.0)
        with tf.GradientTape() as t:
            s.assign(q * q)  # odd
            out = s * q
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a state made from a value that was stopped",
        None,
        """
        q, s = tf.Variable(2.0), tf.Variable(1.0)
        with tf.GradientTape() as t:
            s.assign(tf.exp(tf.stop_gradient(q * q)))
            out = s * q
        t.gradient(out, q)
        """,
    ),
    _odd(
        "an optimizer's moments, on the way to the source's own next state",
        None,
        """
        q, m = tf.Variable(2.0), tf.Variable(1.0)
        with tf.GradientTape() as t:
            m.assign(0.9 * m + 0.1 * q)
            q.assign_sub(0.1 * m)
            out = (q - 1.0) ** 2
        t.gradient(out, q)
        """,
    ),
    _odd(
        "partly through a new variable",
        "partial",
        """
        q = tf.Variable(2.0)
        with tf.GradientTape() as t:
            s = tf.Variable(q * q)  # odd
            out = s * q
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a new variable of the same form",
        None,
        """
        q = tf.Variable(2.0)
        with tf.GradientTape() as t:
            s = tf.Variable(tf.zeros_like(q))
            out = (s + 1.0) * q
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a tensor that is added to a state itself",
        "partial",
        """
        q, s = tf.constant(2.0), tf.Variable(1.0)
        with tf.GradientTape() as t:
            t.watch(q)
            s.assign_add(q)  # odd
            out = s * q
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a loss that is NaN, and a gradient that is not",
        "nonfinite-target",
        """
        q = tf.Variable([0.5, -0.5])
        with tf.GradientTape() as t:
            out = tf.reduce_sum(
                tf.math.log(q))  # odd
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a term that went through float()",
        "lost-term",
        """
        q = tf.Variable([0.5, -0.7])
        with tf.GradientTape() as t:
            size = float(tf.reduce_sum(q * q))  # odd
            out = tf.reduce_mean((q - 3.0) ** 2) + 0.01 * size
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a sum over rounds of which each has its tape",
        "lost-term",
        """
        q, out = tf.Variable(2.0), 0.0
        for x in (1.0, 3.0):
            with tf.GradientTape() as t:
                out += (q * x - 1.0) ** 2  # odd
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a baseline computed before the block, which weighs something",
        None,
        """
        q, c = tf.Variable(2.0), tf.Variable(0.5)
        baseline = c * 3.0
        with tf.GradientTape() as t:
            out = (4.0 - baseline) * tf.math.log(q) + c * c
        t.gradient(out, [q, c])
        """,
    ),
    _odd(
        "a state that one block hands to the next",
        None,
        """
        q, h = tf.Variable(0.5), tf.constant(1.0)
        for x in (1.0, 3.0):
            with tf.GradientTape() as t:
                h = tf.tanh(q * x + h)
                out = (h - 1.0) ** 2
            t.gradient(out, q)
        """,
    ),
    _odd(
        "a penalty computed before the block",
        "lost-term",
        """
        q = tf.Variable([0.5, -0.7])
        penalty = tf.reduce_sum(q * q)  # odd
        with tf.GradientTape() as t:
            out = tf.reduce_mean((q - 3.0) ** 2) + 0.01 * penalty
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a term that NumPy computed, of a mean of terms",
        "lost-term",
        """
        import numpy as np
        q = tf.Variable([0.5, -0.7])
        with tf.GradientTape() as t:
            terms = [tf.reduce_sum(q ** 3), tf.reduce_max(q)]
            terms.append(tf.cast(np.abs(q.numpy()).sum(), tf.float32))  # odd
            out = tf.reduce_mean(tf.stack(terms))
        t.gradient(out, q)
        """,
    ),
    _odd(
        "terms that Python adds up",
        "lost-term",
        """
        parts = [tf.Variable(0.3), tf.Variable(1.7)]
        with tf.GradientTape() as t:
            decay = 0.0
            for part in parts:
                decay += (part ** 2).numpy()  # odd
            out = (parts[0] - parts[1]) ** 4 - decay / 2
        t.gradient(out, parts)
        """,
    ),
    _odd(
        "losses that are kept and shown",
        None,
        """
        q, seen, total = tf.Variable([0.5, -0.7]), [], 0.0
        for step in range(3):
            with tf.GradientTape() as t:
                size = tf.reduce_sum(q * q)
                seen.append(float(size))
                total += size.numpy()
                out = 0.0
                for part in (0, 1):
                    out += (q[part] - 3.0) ** 2
                    seen.append(out.numpy())
                out = out + 0.01 * size
                print(f"{float(out):.1f} {sum(seen):.1f} {total:.1f}")
            q.assign_sub(0.1 * t.gradient(out, q))
        """,
    ),
    _odd(
        "a term that NumPy began and TensorFlow ends",
        "lost-term",
        """
        import numpy as np
        q = tf.Variable([0.5, -0.7])
        with tf.GradientTape() as t:
            made = q * 3.0
            spread = np.std(made.numpy())  # odd
            out = tf.reduce_mean(made ** 2) + tf.square(spread - 0.25)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a code that NumPy draws between two networks, with another term of the first",
        "lost-term",
        """
        import numpy as np
        encode, decode = tf.Variable([[0.5, -0.7]]), tf.Variable([[0.3], [1.1]])
        data = tf.constant([[1.0], [2.0]])
        def draw(mean):
            return (mean.numpy() + np.random.normal(size=mean.shape)).astype("float32")  # odd
        with tf.GradientTape() as t:
            mean = tf.matmul(data, encode)
            back = tf.matmul(draw(mean), decode)
            out = tf.reduce_mean((back - data) ** 2) + tf.reduce_mean(mean ** 2)
        t.gradient(out, [encode, decode])
        """,
    ),
    *(
        _odd(
            f"a code that NumPy draws by a comparison, given to a second network {where}",
            None,
            f"""
            import numpy as np
            act, judge = tf.Variable([[0.5]]), tf.Variable([[0.3]])
            with tf.GradientTape() as t:
                chance = tf.sigmoid(tf.matmul([[1.3]], act))
                known = chance.numpy()
                {drawn}
                value = tf.matmul({given}, judge)
                out = tf.reduce_mean((value - 1.0) ** 2) - tf.reduce_sum(tf.math.log(chance))
            t.gradient(out, [act, judge])
            """,
        )
        for where, drawn, given in (
            ("under a name", "code = np.where(0.3 < known, 0.97, 0.03).astype('float32')", "code"),
            ("at once", "pass", "np.where(0.3 < known, 0.97, 0.03).astype('float32')"),
        )
    ),
    _odd(
        "a state of an environment, given to a second network beside the first",
        None,
        """
        import numpy as np
        class World:
            def step(self, action):
                return np.tanh(action).astype("float32")
        world, act, judge = World(), tf.Variable([[0.5]]), tf.Variable([[0.3]])
        with tf.GradientTape() as t:
            action = tf.matmul([[1.3]], act)
            state = world.step(action.numpy())
            value = tf.matmul(state, judge)
            out = tf.reduce_mean((action - 2.0) ** 2) + tf.reduce_mean((value - 1.0) ** 2)
        t.gradient(out, [act, judge])
        """,
    ),
    _odd(
        "plain numbers as labels, weights and choices beside what they were made from",
        None,
        """
        import numpy as np
        q, c, x = tf.Variable([[0.5, -0.7]]), tf.Variable([[0.3], [1.1]]), tf.constant([[1.3]])
        with tf.GradientTape() as t:
            guess = tf.matmul(x, q)
            value = tf.matmul(guess, c)
            gain = 1.0 - value.numpy()
            soft = tf.nn.softmax(guess).numpy()
            best = np.argmax(guess.numpy())
            out = tf.reduce_mean(guess * gain) + tf.reduce_mean((value - soft.max()) ** 2)
            out += tf.reduce_mean((tf.matmul(tf.one_hot([best], 2), c) - 0.4) ** 2)
        t.gradient(out, [q, c])
        """,
    ),
    _odd(
        "a score of rounded predictions that is added to a loss",
        "lost-term",
        """
        q, labels = tf.Variable([0.5, -0.7]), tf.constant([1.0, 0.0])
        with tf.GradientTape() as t:
            hits = tf.round(tf.sigmoid(q)) * labels  # odd
            overlap = tf.reduce_sum(hits) / (tf.reduce_sum(hits) + 1.0)
            out = tf.reduce_mean((q - labels) ** 2) + (1.0 - overlap)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a count of large weights that is added to a loss",
        "lost-term",
        """
        q = tf.Variable([0.5, -0.7])
        with tf.GradientTape() as t:
            large = tf.cast(tf.abs(q) > 0.6, tf.float32)  # odd
            out = tf.reduce_mean(q ** 2) + 0.1 * tf.reduce_sum(large)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "the part after the decimal point, a mask, an estimate, and the size of a batch",
        None,
        """
        q = tf.Variable([0.5, 1.7])
        with tf.GradientTape() as t:
            mask = tf.cast(q > 1.0, tf.float32)
            book = tf.reduce_mean((q - tf.stop_gradient(tf.round(q))) ** 2)
            back = tf.reduce_mean((tf.stop_gradient(q) - tf.round(q)) ** 2)
            rows = tf.cast(tf.shape(q * 2.0)[0], tf.float32)
            out = tf.reduce_sum(q - tf.floor(q)) + tf.reduce_sum(q * q * mask)
            out += book + 0.25 * back + tf.math.log(rows)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "the largest values, beside their positions",
        None,
        """
        q = tf.Variable([0.1, 0.9, 0.5])
        with tf.GradientTape() as t:
            largest, _ = tf.math.top_k(q, k=2)
            out = tf.reduce_mean(largest)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a straight-through estimate that writes its expression out each time",
        None,
        """
        q = tf.Variable([0.5, 1.7])
        with tf.GradientTape() as t:
            code = q * 3.0 + tf.stop_gradient(tf.round(q * 3.0) - q * 3.0)
            out = tf.reduce_sum(code * 2.0)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a maximum that keeps an exponential in range",
        None,
        """
        q = tf.Variable([0.5, -0.7])
        with tf.GradientTape() as t:
            top = float(tf.reduce_max(q * 2.0))
            out = top + tf.math.log(tf.reduce_sum(tf.exp(q * 2.0 - top)))
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a number that was chosen by what left",
        None,
        """
        q = tf.Variable([0.5, -0.7])
        with tf.GradientTape() as t:
            apart = float(tf.norm(q))
            margin = 0.2 if apart > 0.5 else 0.1
            out = tf.reduce_sum(q ** 2) + margin + (0.4 if float(tf.norm(q)) > 0.5 else 0.3)
        t.gradient(out, q)
        """,
    ),
    _odd(
        "plain numbers that weigh, are learned from, or have no slope",
        None,
        """
        import numpy as np
        q = tf.Variable([0.5, -0.7])
        with tf.GradientTape() as t:
            aim = 0.9 * np.max((q * 2.0).numpy())
            right = float(tf.reduce_mean(tf.cast(q > 0.0, tf.float32)))
            still = tf.stop_gradient(q * 3.0).numpy().sum()
            scale = 1.0 / float(tf.reduce_sum(tf.abs(q)))
            out = (tf.reduce_sum(q) - aim) ** 2 * scale + 0.1 * right + 0.1 * still
        t.gradient(out, q)
        """,
    ),
    _odd(
        "a term from before the tape",
        None,
        """
        q = tf.Variable([0.5, -0.7])
        before = float(tf.reduce_sum(q ** 2))
        with tf.GradientTape() as t:
            out = tf.reduce_sum(q ** 4) - before
        t.gradient(out, q)
        """,
    ),
    _odd(
        "an assign that is given a gradient",
        None,
        """
        q, s = tf.Variable(2.0), tf.Variable(1.0)
        with tf.GradientTape() as t:
            out = tf.grad_pass_through(s.assign)(q * q)
        t.gradient(out, q)
        """,
    ),
)


@pytest.mark.parametrize("odd", sampled(ODDS, 2), ids=lambda odd: odd.name)
def test_warning(odd: Odd, recorder: Recorder) -> None:
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(odd.text))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None
    expected = [(odd.kind, odd.line)] if odd.kind else []
    assert [(warning.kind, warning.line) for warning in diagnose(trace).warnings] == expected


def test_a_recording_that_lacks_something_says_so() -> None:
    script = Script("import tensorflow as tf\n")
    w = script.variable("w", value=2.0)
    tape = script.tape()
    y = script.op("Square", [script.read(w)], value=4.0, line=1)
    script.events.append(e.Noted("recorder, this TensorFlow has no module:name; not recorded: X"))
    script.events.append(e.Noted("not followed, line 3"))
    with script.call(tape, [y], [w], line=1, variables=[w]) as results:
        results.append(script.tensor(value=4.0))
    trace = script.trace()
    diagnosis = diagnose(trace)
    (warned,) = diagnosis.warnings
    assert (warned.kind, warned.line) == ("incomplete", 0)
    assert "this TensorFlow has no module:name; not recorded: X." in warned.message
    text = as_text(trace, diagnosis)
    assert "warning: The recording is not complete" in text


def test_no_cause_is_named_where_no_op_was_recorded() -> None:
    for has_note in (True, False):
        script = Script("import tensorflow as tf\n")
        x, tape = script.tensor(name="x", line=1), script.tape()
        if has_note:
            note = "recorder, this TensorFlow has no module:name; not recorded: any op"
            script.events.append(e.Noted(note))
        with script.call(tape, [script.tensor(name="y", line=1)], [x], line=1) as results:
            results.append(0)
        finding = diagnose(script.trace()).calls[0].findings[0]
        assert finding.status == "none"
        assert (finding.cause is None) == has_note


def test_a_product_of_one_factor_is_no_term() -> None:
    """TensorFlow records none; a damaged file may hold it."""
    script = Script("import tensorflow as tf\nx = tf.sin(x)\n")
    v = script.variable("v", value=1.0, line=1)
    tape = script.tape(line=2)
    value = script.op("Mul", [script.read(v, line=2)], line=2, value=1.0, name="x")
    with script.call(tape, [value], [v], line=3, variables=[v]) as results:
        results.append(script.tensor(value=1.0))
    assert diagnose(script.trace()).warnings == ()


def test_ways_through_writes_are_looked_at_up_to_a_limit(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of many sources written into one variable has all later versions of it on its way."""
    text = dedent(
        """
        import tensorflow as tf
        sources, kept = [tf.Variable(1.0) for _ in range(20)], tf.Variable(tf.zeros(20))
        with tf.GradientTape() as tape:
            for i in range(20):
                kept[i].assign(sources[i] * 2.0)
            loss = tf.reduce_sum(kept * kept) + tf.add_n([v * v for v in sources])
        tape.gradient(loss, sources)
        """
    )
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    assert [warned.kind for warned in diagnose(trace).warnings] == ["partial"]
    looked: list[int] = []
    lossy = warnings._lossy_write

    def count(facts: CallFacts, source: TensorId, *about: Any) -> Op | None:
        looked.append(source)
        return lossy(facts, source, *about)

    monkeypatch.setattr(warnings, "_lossy_write", count)
    monkeypatch.setattr(warnings, "_MOST_LOOKED_AT", 200)
    diagnose(trace)
    assert 0 < len(looked) < 10


def test_what_left_is_followed_back_in_one_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tape in which a value leaves and comes back in each of many turns of a loop."""
    lines = ["w = tf.Variable(1.5)", "with tf.GradientTape() as t:", "    x = w * 1.0"]
    lines += [
        "    for turn in range(40):",
        "        c = x.numpy() * 0.9",
        "        x = tf.sin(x) * c",
    ]
    script = Script("\n".join([*lines, "    loss = x + a", "t.gradient(loss, a)"]))
    weight, other = script.variable("w", value=1.5, line=1), script.variable("a", value=1.5)
    tape = script.tape(line=2)
    x = script.op("Mul", [script.read(weight, line=3)], line=3, name="x", value=1.5)
    for turn in range(40):
        script.left(x, "numpy", line=5)
        number = script.tensor(value=0.3 + turn / 1000)
        sine = script.op("Sin", [x], line=6, value=0.2)
        x = script.op("Mul", [sine, number], line=6, name="x", value=0.7 + turn / 1000)
    loss = script.op("AddV2", [x, script.read(other, line=7)], line=7, name="loss", value=1.0)
    with script.call(tape, [loss], [other], line=8, variables=[other]) as results:
        results.append(script.tensor(value=1.0))
    asked: list[int] = []
    ancestry = DataFlow.ancestry

    def counted(*given: Any, **named: Any) -> Ancestry:
        found = ancestry(*given, **named)
        asked.append(len(found))
        return found

    monkeypatch.setattr(DataFlow, "ancestry", counted)
    trace = script.trace()
    assert not diagnose(trace).warnings
    assert sum(asked) < 10 * len(trace.ops)
