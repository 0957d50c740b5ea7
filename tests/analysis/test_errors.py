"""Errors that users meet, each explained by name, line and remedy in at most three sentences."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tapeviz.analysis.diagnose import diagnose
from tapeviz.analysis.errors.case import is_from
from tapeviz.analysis.errors.explain import explain_error
from tapeviz.analysis.errors.python.old_names import NEW_NAMES, RENAMED
from tapeviz.fixes.source import ParsedSource
from tapeviz.fixes.tables.errors import edits_for_error
from tapeviz.trace.model import Failure, Trace

from ..sampling import sampled
from ..traces import Script

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

TAPE = """
import tensorflow as tf
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = x * x
"""
FUNCTION = "import tensorflow as tf\n@tf.function\ndef f(x):\n"
NET = "import tensorflow as tf\nclass Net(tf.Module):\n"
RAISING = {
    "a keyword that is misspelt": (
        "import tensorflow as tf\nwith tf.GradientTape(persistant=True) as tape:\n    pass",
        ["Line 2 gives tf.GradientTape an argument persistant", "Write persistent="],
    ),
    "an op without gradient function in a compiled function": (
        "import tensorflow as tf\nx = tf.Variable([2.0])\n@tf.function\ndef f(x):\n"
        "    return tf.unique(x)[0] * x\nwith tf.GradientTape() as tape:\n    y = f(x)\n"
        "tape.gradient(y, x)",
        ["Line 5 runs the operation Unique", "no gradient function"],
    ),
    "a check for NaN that an op of the backward pass fails": (
        "import tensorflow as tf\ntf.debugging.enable_check_numerics()\n"
        "x = tf.Variable([4.0, 0.0])\nwith tf.GradientTape() as tape:\n"
        "    y = tf.reduce_sum(tf.sqrt(x))\ntape.gradient(y, x)",
        ["on line 5 gave its value", "gradient on line 6", "SqrtGrad gave infinity"],
    ),
    "a check for NaN that an op fails": (
        "import tensorflow as tf\ntf.debugging.enable_check_numerics()\n"
        "y = tf.constant([0.0, 1.0]) / 0.0",
        ["RealDiv on line 3 gave infinity and NaN", "enable_check_numerics"],
    ),
    "a check of a tensor that holds NaN": (
        "import tensorflow as tf\nx = tf.Variable([4.0, 0.0])\nwith tf.GradientTape() as tape:\n"
        "    y = tf.math.log(x) * 0.0\n    y = tf.debugging.check_numerics(y, 'loss')\n",
        ["Line 5 checks y, which holds NaN", "began on line 4, where"],
    ),
    "the output of a sequential model that was called on data": (
        "import tensorflow as tf\n"
        "model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(2)])\n"
        "model(tf.ones([1, 4]))\nmodel.output",
        ["Line 4 asks for the output", "calls on data do not count", "take .outputs[0]"],
    ),
    "shapes of which one is inside of the call that raised": (
        "import tensorflow as tf\ncell = tf.keras.layers.GRUCell(8)\n"
        "x, h = tf.ones([4, 3]), tf.zeros([4, 16])\nout, h = cell(x, [h])",
        ["MatMul got h of shape [4, 16] and a value of shape [8, 24]"],
    ),
    "a keyword that a function of the snippet does not have": (
        "def f(alpha, beta=1):\n    return alpha\nf(1, beat=2)",
        ["Line 3 gives f an argument beat", "Write beta="],
    ),
    "a method without self": (
        NET + "    def forward(x):\n        return x\nNet().forward(1.0)",
        ["Line 3 defines the method forward without self", "def forward(self, x)"],
    ),
    "a method without self, of a class in a function": (
        "def main():\n    class Net:\n        def forward(x):\n            return x\n"
        "    Net().forward(1.0)\nmain()",
        ["Line 3 defines the method forward without self", "def forward(self, x)"],
    ),
    "a method that is called on the class": (
        NET + "    def forward(self, x):\n        return x\nNet.forward(x=1.0)",
        ["Line 5 calls Net.forward on the class", "net = Net("],
    ),
    "an attribute that is misspelt": (
        NET + "    def __init__(self):\n        self.dense1 = 1\nNet().dense",
        ["Line 5 asks an object of the class Net (line 2) for dense", "It has dense1"],
    ),
    "a method of arrays": (
        TAPE + "y.mean()",
        ["Line 6 asks a tensor for mean", "Write tf.reduce_mean(t)"],
    ),
    "a function without a return": (
        TAPE + "def f(y):\n    z = y * y\nloss = f(y)\ntf.reduce_sum(loss)",
        ["Line 9 works with loss, which is None: f (line 6) returns nothing to line 8"],
    ),
    "NumPy in a function that is traced": (
        "import numpy as np\nimport tensorflow as tf\n@tf.function\ndef f(x):\n"
        "    return tf.reduce_sum(np.sin(x))\nf(tf.constant([1.0]))",
        ["Line 5 hands a symbolic tensor to NumPy"],
    ),
    "an attribute that is called": (
        TAPE + "layer = tf.keras.layers.Dense(1)\ntape.gradient(y, layer.trainable_weights())",
        ["Line 7 calls layer.trainable_weights, which holds a list", "Leave out the parentheses"],
    ),
    "a function of Python under whose name stands a number": (
        "import tensorflow as tf\nsum = 0\ndef total(parts):\n    return sum(parts)\ntotal([1.0])",
        ["Line 4 calls sum, but line 2 made it an int", "Python's own function sum"],
    ),
    "a gradient function of TensorFlow's that raises": (
        "import tensorflow as tf\ngrid = tf.Variable(tf.ones([2, 2]))\n"
        "with tf.GradientTape() as tape:\n    y = tf.gather_nd(grid, [0, 1])\n    z = y * y\n"
        "tape.gradient(z, grid)",
        ["on line 4 gave its value", "rank at least one"],
    ),
    "an op without a gradient that ran elsewhere, too": (
        "import tensorflow as tf\nx = tf.Variable([1.0, 2.0])\nwith tf.GradientTape() as tape:\n"
        "    y, _ = tf.unique(x * 2.0)\n    z = tf.reduce_sum(y)\ntf.unique(tf.constant([1.0]))\n"
        "tape.gradient(z, x)",
        ["Line 4 runs the operation Unique"],
    ),
    "a number that was computed from float() as target": (
        TAPE + "def ask():\n    total = yield\n    yield tape.gradient(total, x)\n"
        "asking = ask()\nnext(asking)\nasking.send(float(tf.reduce_sum(y * 100.0)))",
        ["The target total is the Python number 500.0", "float()"],
    ),
    "a loop that loses the shape of what it carries": (
        "import tensorflow as tf\n@tf.function\ndef f(x):\n    i = 0\n"
        "    while i < tf.constant(2):\n        i += 1\n"
        "        x = tf.numpy_function(lambda t: t, [x], tf.float32)\n    return x\n"
        "f(tf.constant(1.0))",
        ["The loop on line 5 changes the shape of x", "tf.ensure_shape(x, ())"],
    ),
    "a loop that changes the dtype of what it carries": (
        "import tensorflow as tf\n@tf.function\ndef f(x):\n    for _ in tf.range(2):\n"
        "        x = tf.cast(x, tf.float64)\n    return x\nf(tf.constant(1.0))",
        ["The loop on line 4 changes the dtype of x", "Begin with the dtype"],
    ),
    "a NumPy function that TensorFlow lacks": (
        "import tensorflow as tf\nimport tensorflow.experimental.numpy as tnp\ntnp.rint(1.0)",
        ["tf.experimental.numpy has no rint", "tf.math.rint"],
    ),
    "a variable changed in place by +=": (
        "import tensorflow as tf\nx = tf.Variable(1.0)\nx += 1.0",
        ["Line 3 changes a tf.Variable by +=", "assign_add(value)"],
    ),
    "a variable as the index of a branch": (
        "import tensorflow as tf\nk = tf.Variable(1)\ntf.switch_case(k, [lambda: 1, lambda: 2])",
        ["Line 3 gives a tf.Variable as branch_index", "read_value()"],
    ),
    "a tensor in place of a variable": (
        TAPE + "g = tape.gradient(y, x)\nx = tf.clip_by_value(x, 0.0, 1.0)\n"
        "tf.keras.optimizers.SGD(0.1).apply_gradients([(g, x)])",
        ["a tensor in place of a variable", "line 7 gives the name x", "x.assign("],
    ),
    "a tensor in place of a variable that never was one": (
        TAPE + "tf.keras.optimizers.SGD(0.1).apply_gradients(zip([x * 2.0], [y]))",
        ["a tensor in place of a variable", "made by tf.Variable"],
    ),
    "second use": (TAPE + "tape.gradient(y, x)\ntape.gradient(y, x)", ["line 6", "persistent"]),
    "never entered": (
        "import tensorflow as tf\nx = tf.Variable(1.0)\ntape = tf.GradientTape()\n"
        "tape.gradient(x * x, x)",
        ["before it had recorded", "with"],
    ),
    "NumPy target": (TAPE + "tape.gradient(tf.reduce_sum(y).numpy(), x)", ["target", "NumPy"]),
    "number as target": (
        TAPE + "total = float(tf.reduce_sum(y))\ntape.gradient(total, x)",
        ["total", "float()"],
    ),
    "a variable where a tensor is meant": (
        "import keras\nimport tensorflow as tf\nw = tf.Variable([0.2, 0.5])\n"
        "print(keras.ops.argmax(w))",
        ["Line 4 hands a tf.Variable", "keras.ops.argmax(tf.convert_to_tensor(w))"],
    ),
    "a variable asked for what tensors have": (
        TAPE + "    if x.ndim == 1: y = x",
        ["Line 6 asks x for ndim", "x.shape.rank"],
    ),
    "a matrix product of numbers": (
        TAPE + "    z = tf.matmul(x[0], x[0])",
        ["Line 6 multiplies matrices", "a * b for numbers"],
    ),
    "a matrix product of numbers in a compiled function": (
        TAPE + "    z = tf.function(tf.matmul)(x[0], x[0])",
        ["multiplies matrices", "a * b for numbers"],
    ),
    "a number that int() gave as target": (
        TAPE + "total = int(tf.reduce_sum(y * 200.0))\ntape.gradient(total, x)",
        ["target total is the Python number 1000, no tensor", "int()"],
    ),
    "a number as source": (
        TAPE + "rate = 0.1\ntape.gradient(y, [x, rate])",
        ["the gradient with respect to [x, rate], which is or contains the Python number 0.1"],
    ),
    "a sum of nothing as target": (
        TAPE + "tape.gradient(sum([]), x)",
        ["target sum([]) is the Python number 0", "a loop that never ran"],
    ),
    "target that another tape gave as None": (
        "import tensorflow as tf\nx = tf.constant(3.0)\nwith tf.GradientTape() as outer:\n"
        "    with tf.GradientTape() as inner:\n        y = x**3\n    dy = inner.gradient(y, x)\n"
        "outer.gradient(dy, x)",
        ["outer.gradient, dy, is None", "gradient on line 6 gave None"],
    ),
    "a target that is None from several gradients": (
        TAPE + "    z = tf.Variable(1.0)\n    with tf.GradientTape() as inner:\n        p = x * x\n"
        "    dx, dz = inner.gradient(p, [x, z])\ntape.gradient(dz, x)",
        ["tape.gradient, dz, is None", "gradient on line 9 gave None"],
    ),
    "a target that was bound to None after a gradient": (
        TAPE + "    z = tf.Variable(1.0)\n    with tf.GradientTape() as inner:\n        p = x * x\n"
        "    dz = inner.gradient(p, z)\n    def again():\n        global dz\n"
        "        dz = print(3)\n    again()\ntape.gradient(dz, x)",
        ["tape.gradient, dz, is None", "no return", "or another tape gave None"],
    ),
    "a tape reset after its block": (TAPE + "tape.reset()", ["calls reset()", "block has ended"]),
    "a tape reset that no block entered": (
        "import tensorflow as tf\ntape = tf.GradientTape()\ntape.reset()",
        ["Line 3 uses a tape that is not recording", "Move the line into the block"],
    ),
    "a tape reset while it is paused": (
        TAPE + "    with tape.stop_recording():\n        tape.reset()",
        ["calls reset()", "stop_recording() on line 6 pauses it"],
    ),
    "a tape reset after it gave a gradient": (
        TAPE + "    tape.gradient(y, x)\n    tape.reset()",
        ["calls reset()", "has given a gradient", "not persistent"],
    ),
    "number as source": (TAPE + "tape.gradient(y, [x, 2.0])", ["source [x, 2.0]"]),
    "no gradient function": (
        "import tensorflow as tf\nx = tf.Variable([1.0, 1.0])\n"
        "with tf.GradientTape() as tape:\n    y, _ = tf.unique(x)\n    z = tf.reduce_sum(y)\n"
        "tape.gradient(z, x)",
        ["Line 4", "Unique"],
    ),
    "symbolic input watched": (
        "import tensorflow as tf\n"
        "model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])\n"
        "with tf.GradientTape() as tape:\n    tape.watch(model.inputs)",
        ["model.inputs", "symbolic"],
    ),
    "a sparse source": (
        "import tensorflow as tf\ns = tf.sparse.eye(2)\nwith tf.GradientTape() as tape:\n"
        "    y = tf.reduce_sum(tf.sparse.to_dense(s))\ntape.gradient(y, s)",
        ["source s on line 5", "SparseTensor", "tape.watch(s.values)"],
    ),
    "Keras variable watched": (
        "import tensorflow as tf\n"
        "model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])\n"
        "with tf.GradientTape() as tape:\n    tape.watch(model.weights)",
        ["model.weights", "Keras", ".value"],
    ),
    "raised in a compiled function": (
        "import tensorflow as tf\n@tf.function\ndef f(s):\n    n = tf.strings.to_number(s)\n"
        "    return n * 2.0\nf(tf.constant('abc'))",
        ["StringToNumber on line 4", "line 6 calls", "got s = 'abc'"],
    ),
    "variables of a model that has none yet": (
        "import tensorflow as tf\nm = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
        "v = m.trainable_variables\nwith tf.GradientTape() as tape:\n    y = m(tf.ones((1, 2)))\n"
        "tf.keras.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(y, v), v))",
        ["line 6 takes the gradients of is empty", "Line 3 makes it before line 5", "first call"],
    ),
    "variables that a condition leaves out": (
        TAPE
        + "step = tf.Variable(0, trainable=False)\nv = [each for each in [x] if each is step]\n"
        "tf.keras.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(y, v), v))",
        ["line 8 takes the gradients of is empty", "watched Variable", "what line 7 puts into"],
    ),
    "variables of layers that are frozen": (
        "import tensorflow as tf\nm = tf.keras.layers.Dense(1, trainable=False)\n"
        "with tf.GradientTape() as tape:\n    y = m(tf.ones((1, 2)))\nv = m.trainable_variables\n"
        "tf.keras.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(y, v), v))",
        ["Line 2 sets trainable=False"],
    ),
    "variables of a layer that was handed over before it was built": (
        "import tensorflow as tf\non = True\nm = tf.keras.layers.Dense(1, trainable=on)\n"
        "head = tf.keras.layers.Dense(1, trainable=False)\ndef train(v):\n"
        "    with tf.GradientTape() as tape:\n        y = m(tf.ones((1, 2)))\n"
        "    tf.keras.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(y, v), v))\n"
        "train(m.trainable_variables)",
        ["Line 9 hands it over before line 7 makes the variables", "first call"],
    ),
    "a variable made in a layer's call": (
        "import tensorflow as tf\nclass Noise(tf.keras.layers.Layer):\n    def call(self, x):\n"
        "        return x * tf.Variable(tf.ones(x.shape[1:]))\n"
        "tf.keras.Sequential([Noise()])(tf.ones((2, 3)))",
        ["Line 4", "add_weight"],
    ),
    "no such file": (
        "import os, pathlib\npathlib.Path('inner').mkdir()\nos.chdir('inner')\nopen('data.csv')",
        ["Line 4", "data.csv", "looked for in /", "/inner.", "save it beside the file"],
    ),
    "no pairs": (
        TAPE + "tf.keras.optimizers.SGD(0.1).apply_gradients(tape.gradient(y, [x]))",
        ["zip("],
    ),
    "no gradient to apply": (
        TAPE + "u = tf.Variable(1.0)\n"
        "tf.keras.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(y, [u]), [u]))",
        ["is None"],
    ),
    "None used": (
        TAPE + "u = tf.Variable(1.0)\ng = tape.gradient(y, u)\nprint(g.numpy())",
        ["Line 8", "line 7", "for u"],
    ),
    "an element of a number": (
        "import tensorflow as tf\nloss = tf.constant(3.0)\nloss[0]",
        ["Line 3", "single number", "index"],
    ),
    "more indices than axes": (
        "import tensorflow as tf\nx = tf.constant([3.0, 1.0])\nx[0, 1]",
        ["Line 3", "input has only 1 dims. There x is [3., 1.] (shape (2,))"],
    ),
    "matrices": (TAPE + "tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))", ["[2, 3]", "[4, 5]"]),
    "no broadcast": (TAPE + "tf.ones([2, 3]) + tf.ones([4])", ["[2, 3]", "[4]", "line 6"]),
    "tensors as settings of a loss": (
        TAPE + "tf.keras.losses.MeanSquaredError(y, tf.zeros([2]))",
        ["which is a class", "tf.keras.losses.MeanSquaredError()(labels"],
    ),
    "numbers and words": (
        TAPE + "tf.constant([1.0, 'a'])",
        ["Line 6 calls tf.constant with value = [1.0, 'a']"],
    ),
    "a model without call": (
        TAPE + "class N(tf.keras.Model):\n  def forward(self, x): return x\nN()(y)",
        ["Line 8", "no method named call", "def call(self, x)"],
    ),
    "a model whose call returns nothing": (
        TAPE + "class N(tf.keras.Model):\n  def call(self, x): x + 1.0\nz = N()(y) ** 2.0",
        ["Line 8 computes with N()(y), which is None", "without return"],
    ),
    "a list times a number": (
        TAPE + "g = tape.gradient(y, [x])\nx.assign_sub(0.1 * g)",
        ["Line 7 multiplies a list", "[0.1 * g for g in gradients]"],
    ),
    "the norm of one gradient": (
        TAPE + "tf.clip_by_global_norm(y, 1.0)",
        ["t_list = y (", "says of t_list: A tuple or list of mixed Tensors"],
    ),
    "a fraction in a dataset of integers": (
        TAPE + "tf.data.Dataset.range(4).map(lambda v: v * 0.5)",
        ["Line 6 combines 0.5 with a tensor of dtype int64"],
    ),
    "a picture without channels": (
        TAPE + "tf.image.resize(tf.ones([8, 8]), [4, 4])",
        ["says of images: 4-D Tensor of shape [batch, height, width, channels]"],
    ),
    "several elements as one number": (TAPE + "print(f'{y:.3f}')", ["Line 6", "x[0]"]),
    "a negative power of integers": (
        TAPE + "tf.constant([1, 2]) ** -1",
        ["Line 6 takes a negative power"],
    ),
    "a name of the function that has no value yet": (
        TAPE + "def f():\n  w.assign(y)\n  w = 1.0\nf()",
        ["Line 7 reads w before", "global w"],
    ),
    "a list that does not fit": (
        TAPE + "z = x + [1.0, 2.0, 3.0]",
        ["x of shape [2] and [1.0, 2.0, 3.0] of shape [3]"],
    ),
    "a real and a complex tensor": (
        TAPE + "z = y + tf.constant([1.0j, 2.0j])",
        ["tf.cast(y, tf.complex128)"],
    ),
    "too few biases": (
        TAPE + "tf.nn.bias_add(tf.ones([2, 4]), tf.ones([3]))",
        ["bias = tf.ones([3]) (shape (3,))", "size matching the channel dimension"],
    ),
    "too few multiples": (
        TAPE + "tf.tile(tf.ones([2, 4]), [3])",
        ["multiples = [3]", "Length must be the same as the number of dimensions"],
    ),
    "paddings without pairs": (TAPE + "tf.pad(tf.ones([2, 4]), [1, 1])", ["[[before, after]"]),
    "places without coordinates": (
        TAPE + "tf.tensor_scatter_nd_update(y, [1, 0], [3.0, 4.0])",
        ["[[1], [2]]"],
    ),
    "ids that are not sorted": (
        TAPE + "tf.math.segment_sum(tf.ones([3]), [0, 2, 1])",
        ["segment_ids = [0, 2, 1]", "Values should be sorted"],
    ),
    "attention without a value": (
        TAPE + "tf.keras.layers.MultiHeadAttention(2, 4)(tf.ones([2, 5, 8]))",
        ["without its argument value", "layer(x, x)"],
    ),
    "another shape than the signature": (
        TAPE + "@tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])\n"
        "def f(v):\n  return v\nf(tf.ones([3]))",
        ["shape (3,) and dtype float32", "shape (2,)", "None"],
    ),
    "a model that is not there": (
        TAPE + "tf.keras.models.load_model('lost.keras')",
        ["Line 6 opens the file lost.keras"],
    ),
    "weights of another shape": (
        TAPE + "d = tf.keras.layers.Dense(2)\nd(tf.ones([1, 2]))\n"
        "d.set_weights([tf.ones([3, 2]).numpy(), tf.ones([2]).numpy()])",
        ["weights of shape (3, 2)", "shape (2, 2)"],
    ),
    "one input of two": (
        TAPE + "a, b = tf.keras.Input((2,)), tf.keras.Input((3,))\n"
        "m = tf.keras.Model([a, b], tf.keras.layers.Concatenate()([a, b]))\nm(tf.ones([1, 2]))",
        ["takes 2 inputs and got 1"],
    ),
    "a vector as right-hand side": (
        TAPE + "tf.linalg.solve(tf.eye(3), tf.ones([3]))",
        ["says of matrix: Shape is [..., M, M]; of rhs: Shape is [..., M, K]."],
    ),
    "a map to pairs": (
        TAPE + "tf.map_fn(lambda v: (v, v), y)",
        ["fn_output_signature=(tf.float32, tf.float32)"],
    ),
    "branches of two dtypes": (
        TAPE + "tf.function(lambda: tf.cond(y[0] > 0.0, lambda: y[0], lambda: 1))()",
        ["dtype float32 and int32", "1.0"],
    ),
    "a symbolic tensor as a range": (
        TAPE + "tf.function(lambda n: [y for _ in range(n)], autograph=False)(tf.constant(3))",
        ["Loop by tf.range"],
    ),
    "matrices that fit the other way round": (
        TAPE + "w, v = tf.Variable(tf.ones([4, 3])), tf.ones([8, 4])\nz = w @ v",
        ["w of shape [4, 3] and v of shape [8, 4]", "tf.matmul(v, w)"],
    ),
    "no broadcast in a function that is traced": (
        TAPE + "w = tf.Variable(tf.ones([4, 3]))\n@tf.function\ndef f(a, b):\n"
        "  p = tf.matmul(a, w)\n  return p - b\nf(tf.ones([8, 4]), tf.ones([8, 4]))",
        ["On line 10 Sub got p of shape [8, 3] and b of shape [8, 4]", "here 3 meets 4"],
    ),
    "matrices in a loss of Keras": (
        "import tensorflow as tf\n"
        "def loss(y, p):\n"
        "  return tf.reduce_mean(tf.matmul(p, y))\n"
        "net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])\n"
        "net.compile(loss=loss)\n"
        "net.fit(tf.ones([8, 3]), tf.ones([8, 2]), verbose=0)",
        ["On line 3 MatMul got the shapes [8, 2] and [8, 2]"],
    ),
    "output gradients of another shape": (
        TAPE + "tape.gradient(y, x, output_gradients=tf.ones([3]))",
        ["shape [3]", "target", "[2]"],
    ),
    "a tuple as operand": (
        TAPE + "h = tf.math.top_k(y, 1)\nh = tuple(h)\nloss = y * 2.0 + h ** 2",
        ["Line 8 computes with h, which is a tuple", "Take one of them"],
    ),
    "a function as operand": (
        TAPE + "def rate(): return 0.1\nloss = rate * 2.0",
        ["Line 7 computes with rate, which is a function", "not called"],
    ),
    "no broadcast of two names": (
        TAPE + "a, b = tf.ones([5, 3]), tf.ones([5, 4])\nloss = a - b",
        ["a of shape [5, 3] and b of shape [5, 4]", "here 3 meets 4"],
    ),
    "a name and what an expression gave": (
        TAPE + "w, b = tf.ones([3, 4]), tf.Variable(tf.ones([3]))\n"
        "z = tf.matmul(tf.ones([2, 3]), w) + b",
        ["tf.matmul(tf.ones([2, 3]), w) of shape [2, 4] and b of shape [3]", "here 4 meets 3"],
    ),
    "a dtype that an operation in a function does not take": (
        "import tensorflow as tf\n@tf.function\ndef f(n):\n  return tf.sqrt(n)\nf(tf.constant(3))",
        ["Line 4 gives tf.sqrt n, which is of dtype int32", "tf.cast(n, tf.float32)"],
    ),
    "two dtypes": (TAPE + "x * tf.ones([2], tf.float64)", ["float", "tf.cast"]),
    "a fraction and integers": (
        "import tensorflow as tf\ntf.Variable(3) * 2.5",
        ["2.5", "int32", "decimal point"],
    ),
    "undefined name": (TAPE + "model = build_model()", ["build_model", "Line 6"]),
    "keyboard": ("n = int(input('how many? '))", ["Line 1", "keyboard"]),
    "missing module": (
        "import a_module_nobody_has",
        ["Line 1 needs the module a_module_nobody_has", "save the snippet in its", "pip install"],
    ),
    "missing package": (
        "import sklearn.cluster",
        ["not installed in the Python", "(pip install scikit-learn), choose an interpreter"],
    ),
    "part that an installed package lacks": (
        "import keras.layers.recurrent",
        ["Keras has no module keras.layers.recurrent", "imported from keras.layers itself"],
    ),
    "module in a file that hides a package": (
        "import sys, types\nsys.modules['pandas'] = types.ModuleType('pandas')\nimport pandas.io",
        ["the pandas that Python finds first is a single file", "pandas.py of your own"],
    ),
    "module of Google Colab": ("from google.colab import drive", ["on Google Colab only"]),
    "module of another package": (
        "raise ModuleNotFoundError(\"No module named 'PIL'\", name='PIL')",
        ["pip install pillow"],
    ),
    "tf.gradients": (TAPE + "tf.gradients(y, x)", ["GradientTape"]),
    "TensorFlow 1": ("import tensorflow as tf\ntf.placeholder(tf.float32)", ["tf.constant"]),
    "changing a tensor": (
        "import tensorflow as tf\nx = tf.zeros([3])\nx[0] = 1.0",
        ["never change", "tensor_scatter_nd_update"],
    ),
    "rows of a table": (
        "import tensorflow as tf\nw = tf.Variable([1.0, 2.0])\nwith tf.GradientTape() as tape:\n"
        "    y = tf.gather(w, [0])\ng = tape.gradient(y, w)\nw.assign_sub(0.1 * g)",
        ["Line 6", "IndexedSlices", "tf.convert_to_tensor"],
    ),
    "a dtype that an operation does not take": (
        "import tensorflow as tf\nn = tf.constant(4)\ntf.sqrt(n)",
        ["Line 3 gives Sqrt n, which is of dtype int32", "float32", "tf.cast(n, tf.float32)"],
    ),
    "an axis that a tensor does not have": (
        TAPE + "tf.reduce_sum(x, axis=2)",
        ["Line 6 names axis 2 of a tensor that has axis 0 only"],
    ),
    "an axis of a concatenation": (
        TAPE + "tf.concat([tf.ones([2, 2]), tf.ones([2, 2])], 3)",
        ["Line 6 names axis 3 of a tensor that has axes 0 to 1"],
    ),
    "an axis that is squeezed": (
        TAPE + "tf.squeeze(x, 0)",
        ["expected a dimension of 1, got 2. It was called with input = x"],
    ),
    "tensors of several shapes that are stacked": (
        TAPE + "tf.stack([x, tf.ones([3])])",
        ["Line 6 puts tensors of the shapes [2] and [3] together", "tf.concat"],
    ),
    "channels of a convolution": (
        "import tensorflow as tf\n"
        "tf.nn.conv2d(tf.ones([1, 8, 8, 1]), tf.ones([3, 3, 3, 2]), 1, 'SAME')",
        ["[filter_height, filter_width, in_channels, out_channels]"],
    ),
    "axes of a layer's input": (
        "import tensorflow as tf\ntf.keras.layers.LSTM(2)(tf.ones([3, 2]))",
        ["that line 2 runs takes an input of 3 axes (samples, steps", "got one of shape (3, 2)"],
    ),
    "a branch of a compiled function that gives a name no value": (
        FUNCTION + "    if x > 0:\n        y = x\n    return y\nf(tf.constant(1.0))",
        ["The if on line 4 depends on a tensor", "the else branch gives y no value"],
    ),
    "a branch of a compiled function that returns nothing": (
        FUNCTION + "    if x > 0:\n        return x\nf(tf.constant(1.0))",
        ["The if on line 4 depends on a tensor", "the else branch returns nothing"],
    ),
    "branches of a compiled function that differ in dtype": (
        FUNCTION + "    if x > 0:\n        y = x\n    else:\n        y = 1\n    return y\n"
        "f(tf.constant(1.0))",
        ["y has dtype float32 in the one and int32 in the other"],
    ),
    "a list that a compiled loop fills": (
        FUNCTION + "    out = []\n    for i in tf.range(x):\n        out.append(i)\n"
        "    return tf.add_n(out)\nf(tf.constant(3))",
        ["made inside of a loop or a branch of a compiled function (line 5)", "tf.TensorArray"],
    ),
    "a loss that is a text": (
        "import tensorflow as tf\nloss = 'mse'\nloss(tf.ones([2]), tf.ones([2]))",
        ["Line 3 calls loss, which is a text since line 2", "tf.keras.losses.get"],
    ),
    "a layer as a source": (
        TAPE + "layer = tf.keras.layers.Dense(1)\ntape.gradient(y, layer)",
        ["The source layer is a Dense, no tensor", "layer.trainable_variables"],
    ),
    "rows of several lengths": (
        "import tensorflow as tf\ntf.constant([[1.0], [1.0, 2.0]])",
        ["Line 2 makes a tensor of lists that have different lengths", "tf.ragged.constant"],
    ),
    "a place beyond the end": (
        "import tensorflow as tf\ntf.tensor_scatter_nd_update(tf.zeros([3]), [[5]], [1.0])",
        ["indices[0] = [5] does not index into shape [3]", "indices = [[5]]"],
    ),
    "tensors of other ranks that are joined": (
        TAPE + "tf.concat([tf.ones([2, 2]), tf.ones([2])], 1)",
        ["tensors of the shapes [2,2] and [2] together. tf.stack needs", "tf.expand_dims"],
    ),
    "batches of matrices": (
        TAPE + "tf.matmul(tf.ones([2, 3, 4]), tf.ones([3, 4, 5]))",
        ["Line 6 multiplies batches of matrices of the shapes [2,3,4] and [3,4,5]"],
    ),
    "a variable that counts turns": (
        TAPE + "for i in range(tf.Variable(3.0)):\n    pass",
        ["Line 6 gives Python a number that may have a fraction", "int(…)"],
    ),
    "a picture without the axes of batch and channels": (
        "import numpy as np\nimport tensorflow as tf\n"
        "net = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), tf.keras.layers.Conv2D(2, 3)])\n"
        "net(np.zeros((8, 8), np.float32))",
        ["line 4 calls takes an input of shape (None, 8, 8, 1), and got one of shape (8, 8)"],
    ),
    "a number of several elements": (
        TAPE + "float(y)",
        ["Line 6 makes a Python number of a tensor that has several elements"],
    ),
    "an index that is no whole number": (TAPE + "y[1.0]", ["Line 6 picks elements by 1.0"]),
    "an element beyond the end of an array": (
        TAPE + "y.numpy()[5]",
        ["Line 6 takes element 5 along axis 0 of an array: it has 2 elements"],
    ),
    "a keyword of TensorFlow 1": (
        TAPE + "tf.reduce_mean(y, reduction_indices=0)",
        ["Line 6 gives tf.reduce_mean an argument reduction_indices", "Write axis="],
    ),
    "an argument of TensorFlow's that is not given": (
        TAPE + "tf.clip_by_norm(y)",
        ["Line 6 calls tf.clip_by_norm without clip_norm. It takes t, clip_norm"],
    ),
    "logits and labels": (
        TAPE + "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([3]), logits=y)",
        ["line 6 got logits of shape (2,) and labels of shape (3,)"],
    ),
    "labels of a sparse loss of Keras": (
        TAPE + "tf.keras.losses.SparseCategoricalCrossentropy()(tf.ones([3]), tf.ones([2, 2]))",
        ["line 6 got labels of shape (3,) and predictions of shape (2, 2)", "sparse"],
    ),
    "labels of another shape": (
        TAPE + "tf.keras.losses.BinaryCrossentropy()(tf.ones([2, 3]), tf.ones([2, 2]))",
        ["line 6 got labels of shape (2, 3) and predictions of shape (2, 2)"],
    ),
    "an argument that a layer does not take": (
        "import tensorflow as tf\ntf.keras.layers.LSTM(2, return_sequence=True)",
        ["Line 2 gives tf.keras.layers.LSTM an argument return_sequence"],
    ),
    "a filter that is larger than its input": (
        "import tensorflow as tf\ntf.keras.layers.Conv2D(2, 9)(tf.ones([1, 4, 4, 1]))",
        ["On line 2 the filter of a layer is larger than its input, of shape (1, 4, 4, 1)"],
    ),
    "a loop over a symbolic tensor": (
        "import tensorflow as tf\nf = tf.function(lambda x: [v for v in x], autograph=False)\n"
        "f(tf.ones([2]))",
        ["goes over a symbolic tensor in a comprehension", "tf.map_fn"],
    ),
    "a dataset as an iterator": (
        "import tensorflow as tf\nnext(tf.data.Dataset.range(3))",
        ["Line 2 takes an element of a dataset", "next(iter(dataset))"],
    ),
    "a number as a shape": (
        "import tensorflow as tf\ntf.random.normal(3)",
        ["shape = 3", "says of shape: A 1-D integer Tensor or Python array"],
    ),
    "logits of one sample": (
        TAPE + "tf.random.categorical(y, 1)",
        ["logits: 2-D Tensor with shape", "y is made on line 5 as x * x, from x of"],
    ),
    "more of the largest than there are": (
        TAPE + "tf.math.top_k(y, 5)",
        ["Had 2, needed 5", "k = 5", "last dimension at least k"],
    ),
    "weights of another number": (
        "import tensorflow as tf\nimport numpy as np\n"
        "net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(2)])\n"
        "net.set_weights([np.ones((2, 2))])",
        ["Line 4 sets 1 arrays as weights of a layer or model that has 2"],
    ),
    "a layer that a model does not have": (
        "import tensorflow as tf\n"
        "tf.keras.Sequential([tf.keras.layers.Dense(2, name='a')]).get_layer('b')",
        ["Line 2 asks a model for a layer b, and its layers are a."],
    ),
    "an op that names no remedy": (
        TAPE + "tf.linalg.inv([x])",
        ["Line 6 runs MatrixInverse", "must be square. It was called with input = [x], x "],
    ),
    "a check in a function of TensorFlow's": (
        TAPE + "r = tf.ragged.constant([[1.0], [2.0, 3.0]])\ntf.matmul(r, [x, x])",
        ["Line 7 runs tf.matmul", "may not be ragged", "what the RaggedTensor r holds is [1., 2."],
    ),
    "integers of two widths": (
        "import tensorflow as tf\ntf.stack([tf.range(2), tf.range(2, dtype=tf.int64)])",
        ["an int32 tensor with an int64 one", "tf.cast(…, tf.int64)"],
    ),
    "a loop that lengthens what it carries": (
        FUNCTION + "    i = 0\n    while i < tf.constant(3):\n        x = tf.concat([x, x], 0)\n"
        "        i += 1\n    return x\nf(tf.ones([1]))",
        ["which was (1,) before it and is (2,) after a turn", "TensorArray", "None for its length"],
    ),
    "rows of a dataset": (
        "import tensorflow as tf\ntf.data.Dataset.from_tensor_slices((tf.ones([2]), tf.ones([3])))",
        ["Line 2 puts tensors together that have 2 and 3 rows"],
    ),
    "a method of arrays that TensorFlow names without quotes": (
        TAPE + "y.reshape([2, 1])",
        ["Line 6 asks a tensor for reshape", "Write tf.reshape(t, shape)"],
    ),
    "weights of a layer that was not called": (
        "import tensorflow as tf\ntf.keras.layers.Dense(2).kernel",
        ["Line 2 asks a layer or model for something that it gets only when it is first called"],
    ),
    "more names than gradients": (
        TAPE + "a, b, c = tape.gradient(y, [x, x])",
        ["Line 6 unpacks 3 gradients", "which are 2 here"],
    ),
    "a text as target": (
        TAPE + "tape.gradient('y', x)",
        ["on line 6 is the text 'y', no tensor"],
    ),
    "a name that was deleted": (
        TAPE + "del tape\ntape.gradient(y, x)",
        ["Line 7 uses the name tape, which line 6 deleted"],
    ),
    "a layer that does not call its base class": (
        "import tensorflow as tf\nclass Net(tf.keras.Model):\n    def __init__(self):\n"
        "        self.dense = tf.keras.layers.Dense(1)\nNet()(tf.ones([1, 2]))",
        ["has an __init__ that does not call the one of Keras", "super().__init__()"],
    ),
    "a name of another function, which deleted its own": (
        "def f(tape):\n    t = tape\n    del t\nf(1)\nt",
        ["nothing before it defines"],
    ),
    "changing elements that a mask picks": (
        TAPE + "y[y > 2.0] = 0.0",
        ["Line 6 tries to change a tensor", "tensor_scatter_nd_update"],
    ),
    "elements of a list that a mask picks": (
        "import tensorflow as tf\nxs = [1.0, 2.0]\nxs[tf.constant([True, False])]",
        ["Line 3 takes one element of a Python list", "tf.boolean_mask"],
    ),
    "elements of a list that a mask changes": (
        "import tensorflow as tf\nxs = [1.0, 2.0]\nxs[tf.constant([True, False])] = 0.0",
        ["Line 3 takes one element of a Python list"],
    ),
    "elements of a variable that a mask changes": (
        "import tensorflow as tf\nv = tf.Variable([1.0, 2.0])\nv[v > 1.0] = 3.0",
        ["Line 3 writes into a tf.Variable"],
    ),
    "several numbers for range": (
        "import tensorflow as tf\nfor i in range(tf.constant([3, 4])):\n    [0][i]",
        ["Line 2 gives a tensor or array of several elements", "range()"],
    ),
    "a tensor of a function that is used in a loop of another": (
        FUNCTION + "    kept.append(x * 2.0)\n    return x\n"
        "@tf.function\ndef g(x):\n    for i in tf.range(3):\n        x += kept[0]\n    return x\n"
        "kept = []\nf(tf.constant(1.0))\ng(tf.constant(1.0))",
        ["from the inside of a tf.function that is done"],
    ),
    "a source that is no tensor, in a compiled function": (
        FUNCTION + "    with tf.GradientTape() as tape:\n        y = x * x\n"
        "    return tape.gradient(y, 3.0)\nf(tf.Variable(1.0))",
        ["is a Python number, no tensor"],
    ),
    "an array as a source": (
        TAPE + "import numpy as np\ntape.gradient(y, np.ones(2, 'float32'))",
        ["The source np.ones(2, 'float32') is a NumPy value, no tensor"],
    ),
    "an object as a source": (
        TAPE + "class Distribution(tf.keras.layers.Layer):\n    pass\n"
        "tape.gradient(y, Distribution())",
        ["The source Distribution() is a Distribution, no tensor"],
    ),
    "changing a variable by =": (
        "import tensorflow as tf\nv = tf.Variable([1.0, 2.0])\nv[0] = 3.0",
        ["Line 3 writes into a tf.Variable", "assign(value)"],
    ),
    "a loss that has the name of its function": (
        "import tensorflow as tf\nx = tf.Variable([1.0])\nloss = tf.keras.losses.MeanSquaredError()"
        "\nfor _ in range(2):\n    loss = loss(tf.constant([2.0]), x)",
        ["Line 5 calls loss and gives the same name", "no function any more but a tensor"],
    ),
    "a list beside a tensor": (
        TAPE + "tf.keras.losses.MeanSquaredError()([1.0, 2.0], x)",
        ["Line 6 gives Keras a Python list", "tf.constant"],
    ),
    "a tensor that is called": (
        TAPE + "tf.reduce_sum(x)(y)",
        ["Line 6 calls tf.reduce_sum(x), which is a tensor", "second pair"],
    ),
    "a number of a symbolic tensor": (
        "import tensorflow as tf\n@tf.function(autograph=False)\ndef f(x):\n    return float(x)\n"
        "f(tf.constant(1.0))",
        ["Line 4 asks a symbolic tensor for its numbers"],
    ),
    "labels of a sparse loss": (
        "import tensorflow as tf\n"
        "tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1], tf.ones([3, 2]))",
        ["line 2", "labels of shape (2,)", "predictions of shape (3, 2)"],
    ),
    "jacobian of a list": (
        TAPE + "    z = [y, 2 * y]\ntape.jacobian(z, x)",
        ["jacobian on line 7 takes a single tensor as its target, and z is a list", "tf.stack"],
    ),
    "batch_jacobian of a number": (
        TAPE + "    z = tf.reduce_sum(y)\ntape.batch_jacobian(z, x)",
        ["line 7", "z or the source is a single number", "tape.jacobian"],
    ),
    "batch_jacobian": (
        TAPE + "tape.batch_jacobian(y, x)",
        ["source = x (shape (2,)", "of target: A tensor with rank 2 or higher"],
    ),
    "too many gradients": (
        "import tensorflow as tf\n@tf.custom_gradient\ndef f(x):\n"
        "    def grad(dy):\n        return dy, dy\n    return 2 * x, grad\n"
        "x = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    y = f(x)\n"
        "tape.gradient(y, x)",
        ["2 gradients", "1 tensors"],
    ),
    "block entered twice": (
        "import tensorflow as tf\nwith tf.GradientTape() as tape:\n    with tape:\n        pass",
        ["Line 3", "open already"],
    ),
    "what to do with unconnected sources": (
        TAPE + "tape.gradient(y, x, unconnected_gradients='nought')",
        ["line 6", "nought", "'zero'"],
    ),
    "jacobian without pfor": (
        TAPE + "tape.jacobian(y, x, experimental_use_pfor=False)",
        ["line 6 calls tape.jacobian with target = y (", "experimental_use_pfor = False"],
    ),
    "gradient function raises": (
        "import tensorflow as tf\n@tf.custom_gradient\ndef f(x):\n"
        "    def grad(dy):\n        raise RuntimeError('not yet')\n    return 2 * x, grad\n"
        "x = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    y = f(x)\n"
        "tape.gradient(y, x)",
        ["Line 5", "line 10", "backward pass"],
    ),
    "custom gradient with variables": (
        "import tensorflow as tf\nv = tf.Variable(1.0)\n@tf.custom_gradient\ndef f(x):\n"
        "    return v * x, lambda dy: dy\n"
        "with tf.GradientTape() as tape:\n    y = f(tf.constant(1.0))",
        ["line 7", "variables=None"],
    ),
    "no custom gradient function": (
        "import tensorflow as tf\n@tf.custom_gradient\ndef f(x):\n    return 2 * x\n"
        "with tf.GradientTape() as tape:\n    y = f(tf.constant(1.0))",
        ["return value, grad"],
    ),
    "loss without return": (
        "import tensorflow as tf\nx = tf.Variable(1.0)\n"
        "with tf.GradientTape() as tape:\n    y = print(x)\ntape.gradient(y, x)",
        ["y, is None", "return"],
    ),
    "one source, two names": (
        "import tensorflow as tf\nx = tf.Variable(1.0)\n"
        "with tf.GradientTape() as tape:\n    y = x * x\na, b = tape.gradient(y, x)",
        ["Line 5", "only one"],
    ),
    "no such gradient": (
        TAPE + "g = tape.gradient(y, [x])\nprint(g[1])",
        ["Line 7", "line 6", "source"],
    ),
    "method misspelt": (TAPE + "tape.gradients(y, x)", ["no method gradients", "tape.gradient("]),
    "no sources": (TAPE + "tape.gradient(y)", ["Line 6", "sources"]),
    "optimizer of TensorFlow 1": (
        "import tensorflow as tf\ntf.train.AdamOptimizer(0.1)",
        ["tf.train.AdamOptimizer", "tf.keras.optimizers.Adam"],
    ),
    "optimizer of Keras 2": (
        TAPE + "tf.keras.optimizers.SGD(0.1).minimize(lambda: y, [x])",
        ["minimize", "Keras 3", "apply_gradients"],
    ),
    "reshape": (TAPE + "tf.reshape(x, [3])", ["Line 6", "2 elements", "3"]),
    "concat": (TAPE + "tf.concat([tf.ones([1, 3]), tf.ones([2, 2])], 0)", ["(1, 3)", "(2, 2)"]),
    "label out of range": (
        "import tensorflow as tf\n"
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[5], logits=tf.ones([1, 3]))",
        ["Line 2", "label 5", "3 outputs"],
    ),
    "index out of range": (TAPE + "tf.gather(x, 7)", ["row 7", "2 rows"]),
    "whether a vector is true": (TAPE + "if y > 0:\n    pass", ["Line 6", "tf.where"]),
    "shape of a variable": (TAPE + "x.assign_sub(tf.ones([3]))", ["Line 6", "keeps the shape"]),
    "symbolic input in a function": (
        "import tensorflow as tf\ntf.nn.relu(tf.keras.Input((2,)))",
        ["Line 2", "symbolic"],
    ),
    "input of a layer": (
        "import tensorflow as tf\n"
        "model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])\n"
        "model(tf.ones([2, 5]))",
        ["line 3", "3 elements", "(2, 5)"],
    ),
    "learning rate": (
        "import tensorflow as tf\ntf.keras.optimizers.SGD(lr=0.1)",
        ["learning_rate"],
    ),
    "loss of Keras 2": (
        TAPE + "tf.keras.losses.mean_squared_error(x, y)",
        ["line 6", "no mean_squared_error in tf.keras.losses", "tf.keras.losses.mse", "class"],
    ),
    "loss imported": (
        "from tensorflow.keras.losses import mean_absolute_error",
        ["no mean_absolute_error in tf.keras.losses", "tf.keras.losses.mae"],
    ),
    "learning rate in a variable": (
        "import tensorflow as tf\nrate = tf.Variable(0.1)\ntf.keras.optimizers.Adam(rate)",
        ["Line 3", "float(rate)", "learning_rate.assign"],
    ),
    "learning rate read": (
        "import tensorflow as tf\nopt = tf.keras.optimizers.Adam(0.1)\nprint(opt.lr)",
        ["Line 3", "optimizer.learning_rate"],
    ),
    "word that Keras does not know": (
        "import tensorflow as tf\ntf.keras.layers.Dense(1, activation='leakyrelu')",
        ["no activation by the name", "leakyrelu", "line 2", "tf.keras.activations"],
    ),
    "rank that NumPy code left open": (
        "import tensorflow as tf\ndense = tf.keras.layers.Dense(1)\n@tf.function\ndef f(x):\n"
        "    h = tf.numpy_function(lambda a: a * 2, [x], tf.float32)\n    return dense(h)\n"
        "f(tf.ones([2, 3]))",
        ["line 6", "numpy_function", "set_shape"],
    ),
    "singular matrix": (
        "import tensorflow as tf\ntf.linalg.inv([[1.0, 2.0], [2.0, 4.0]])",
        ["Line 2", "inverse", "diagonal"],
    ),
    "file": ("import numpy as np\nnp.load('nobody.npy')", ["Line 2", "nobody.npy"]),
    "name moved": (
        "from tensorflow.keras.optimizers import adam_v2",
        ["tensorflow.keras.optimizers has no adam_v2"],
    ),
    "variable made on each call": (
        "import tensorflow as tf\n@tf.function\ndef f(x):\n    return tf.Variable(1.0) * x\n"
        "f(tf.constant(1.0))",
        ["Line 4 makes a tf.Variable, itself or in what it calls", "its first call only"],
    ),
    "tensor of a function's inside": (
        "import tensorflow as tf\nkept = []\n@tf.function\ndef f(x):\n    kept.append(2 * x)\n"
        "    return x\nf(tf.constant(1.0))\nkept[0] + 1.0",
        ["Line 8", "Return it"],
    ),
    "what Python cannot read": ("import tensorflow as tf\nx = (1,", ["cannot read line 2"]),
    "tensor as key": (TAPE + "{y: 1}", ["Line 6", "ref()"]),
    "placeholder": (
        "import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\n"
        "x = tf.placeholder(tf.float32)\ny = 2 * x\ntf.Session().run(y)",
        ["Line 5", "feed_dict={x"],
    ),
    "variable without value": (
        "import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\n"
        "x = tf.Variable(1.0)\nwith tf.Session() as s:\n    s.run(2 * x)",
        ["Line 5", "initializer"],
    ),
}


@pytest.mark.parametrize("name", sampled(RAISING, 5))
def test_explanation(name: str, recorder: Recorder) -> None:
    text, said = RAISING[name]
    trace = _recorded(text, recorder)
    assert trace.failure is not None
    words = explain_error(trace)
    missing = [part for part in said if part.lower() not in words.lower()]
    assert not missing, words
    shown = re.sub(r" \S+ is made on line .*", "", words)
    assert len(re.findall(r"\.(?= [A-Z]|$)", shown)) <= 3, words


@pytest.mark.parametrize(
    ("type_", "message", "said"),
    [
        ("OSError", "[Errno 101] Network is unreachable", ["network", "Limits", "--no-network"]),
        ("URLError", "<urlopen error [Errno -3] Temporary failure in name resolution>", ["Limits"]),
        (
            "MemoryError",
            "Unable to allocate 381. MiB for an array with shape (50000000,) and data type float64",
            ["Limits", "--memory"],
        ),
        (
            "ResourceExhaustedError",
            "OOM when allocating tensor with shape[800000000] and type float on /job:localhost",
            ["[800000000]", "float", "Limits", "--memory"],
        ),
    ],
)
def test_what_a_limit_stopped_names_the_limit(type_: str, message: str, said: list[str]) -> None:
    """Messages as seen with a limit set (TensorFlow 2.21, NumPy 2, Linux)."""
    words = explain_error(Trace("a\nb\nc", failure=Failure(type_, message, 3, "")))
    assert "Line 3" in words
    assert not [part for part in said if part not in words], words


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("AttributeError", "module 'keras' has no attribute 'ops'"),
        ("AttributeError", "module 'tensorflow.keras' has no attribute 'ops'"),
        ("ImportError", "cannot import name 'ops' from 'keras' (/site-packages/keras/__init__.py)"),
    ],
)
def test_a_part_of_keras_3_under_keras_2(type_: str, message: str) -> None:
    """The messages of TensorFlow 2.15, which comes with Keras 2."""
    words = explain_error(Trace("a\nb", failure=Failure(type_, message, 2, "")))
    assert "Line 2 uses ops of Keras 3" in words
    assert "TensorFlow 2.16" in words


@pytest.mark.parametrize(
    ("type_", "message", "said"),
    [
        ("AttributeError", "'Dense' object has no attribute 'kernel'", "first called with data"),
        (
            "ValueError",
            "Unexpectedly found an instance of type `<class 'numpy.ndarray'>`. Expected a symbolic "
            "tensor instance.",
            "an argument of type numpy.ndarray beside its input",
        ),
        (
            "ValueError",
            "One of the dimensions in the output is <= 0 due to downsampling in conv2d_1. Consider "
            "increasing the input size. Received input shape [1, 4, 4, 1] which would produce …",
            "a layer is larger than its input, of shape [1, 4, 4, 1]",
        ),
    ],
)
def test_a_message_of_keras_2(type_: str, message: str, said: str) -> None:
    """The messages of TensorFlow 2.15."""
    assert said in explain_error(Trace("a\nb", failure=Failure(type_, message, 2, "")))


def test_a_matrix_that_is_not_positive_definite() -> None:
    """The message of TensorFlow 2.15; later ones give NaN on a CPU."""
    message = (
        "Cholesky decomposition was not successful. The input might not be valid. [Op:Cholesky]"
    )
    words = explain_error(Trace("a\nb", failure=Failure("InvalidArgumentError", message, 2, "")))
    assert "line 2" in words
    assert "diagonal" in words


def test_predict_under_a_tape_of_keras_2() -> None:
    """Keras 2 hands on tensors of the graph that ``predict`` runs (TensorFlow 2.15)."""
    s = Script("net = model()\nout = net.predict(x, verbose=0)\ntape.gradient(out, x)\n")
    s.op("IteratorGetNext", [], line=2)
    message = "No gradient defined for operation'IteratorGetNext' (op type: IteratorGetNext). In …"
    trace = replace(s.trace(), failure=Failure("LookupError", message, 3, ""))
    assert "Call the model itself in its place: net(x)." in explain_error(trace)
    (edit,) = edits_for_error(trace, ParsedSource(trace.source))
    assert "out = net(x)\n" in edit.new_text


def test_an_argument_that_cannot_be_called() -> None:
    s = Script("def loss(model, x):\n    return model(x)\nl = loss(t, m)\n")
    s.bind("model", s.tensor(), line=1)
    message = "'tensorflow.python.framework.ops.EagerTensor' object is not callable"
    words = explain_error(replace(s.trace(), failure=Failure("TypeError", message, 2, "")))
    assert "the order of its arguments is model, x" in words


def test_an_attribute_beside_what_cannot_be_called_is_not_blamed() -> None:
    failure = Failure("TypeError", "'float' object is not callable", 3, "")
    words = explain_error(Trace("xs = [1.0]\nt = f()\nxs[0](2) + t.numpy()", failure=failure))
    assert "numpy" not in words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y = None\nz = y + 1.0", "line 1 gives it None"),
        ("y = None\ny = f()\nz = y + g", ""),
        ("y = None\nif c:\n    y = f()\nz = y + g", "line 1 gives it None"),
        ("def h():\n    y = None\ny = f()\nz = y + g", ""),
        ("y = None\nfor x in xs:\n    y = cell(x, y)", "line 1 gives it None"),
    ],
)
def test_none_is_what_a_name_was_given_last(text: str, words: str) -> None:
    message = "Attempt to convert a value (None) with an unsupported type to a Tensor."
    failure = Failure("ValueError", message, text.count("\n") + 1, "")
    said = explain_error(Trace(text, failure=failure))
    assert words in said
    assert bool(words) == bool(said)


def test_a_gradient_call_whose_error_ended_a_compiled_function_is_not_said_to_be_caught(
    recorder: Recorder,
) -> None:
    """AutoGraph raises another exception, with the words of the first one in its own."""
    trace = _recorded(
        "import tensorflow as tf\n@tf.function\ndef f(x):\n    with tf.GradientTape() as tape:\n"
        "        y = tf.unique(x)[0] * x\n    return tape.gradient(y, x)\nf(tf.Variable([1.0]))",
        recorder,
    )
    (call,) = trace.calls
    assert trace.failure is not None
    assert call.error not in ("", f"{trace.failure.type}: {trace.failure.message}")
    assert diagnose(trace).warnings == ()


@pytest.mark.parametrize(
    ("message", "is_same"),
    [
        ("x", True),
        ("the x of another error", False),
        ('in user code:\n\n    File "a.py", line 2, in f  *\n\n    ValueError: x\n', True),
        ("Exception encountered when calling Net.call().\n\nx\n\nArguments received …", True),
        ("in user code:\n\n    KeyError: y\n", False),
    ],
)
def test_the_exception_of_a_gradient_call_is_known_again(message: str, is_same: bool) -> None:
    s = Script("tape.gradient(y, w)")
    w = s.variable("w", value=1.0)
    with s.call(s.tape(), [s.read(w)], [w]) as results:
        results.append(0)
    call = replace(s.trace().calls[0], ended=False, error="ValueError: x")
    assert is_from(Failure("ValueError", message, 1, ""), call) == is_same


def test_an_error_in_a_traced_function_has_the_line_inside(recorder: Recorder) -> None:
    trace = _recorded(
        "import tensorflow as tf\n@tf.function\ndef f(x):\n    print(x.numpy())\n"
        "f(tf.constant(1.0))",
        recorder,
    )
    assert [error.line for error in diagnose(trace).errors] == [4]
    assert trace.failure is not None
    assert trace.failure.line == 5


def test_an_error_of_the_users_own_keeps_its_words() -> None:
    failure = Failure("ValueError", "the batch is empty", 3, "")
    assert (
        explain_error(Trace("a\nb\nraise ValueError('the batch is empty')", failure=failure)) == ""
    )
    assert explain_error(Trace("")) == ""


CAUGHT = (
    TAPE
    + """
for turn in range(2):
    try:
        tape.gradient(y, x)
    except RuntimeError:
        print("caught")
"""
)


def test_a_gradient_call_whose_error_was_caught(recorder: Recorder) -> None:
    """Its error is explained in a warning; the call that came back has its result."""
    diagnosis = diagnose(_recorded(CAUGHT, recorder))
    assert [len(call.findings) for call in diagnosis.calls] == [1]
    assert not diagnosis.errors
    (warned,) = diagnosis.warnings
    assert (warned.kind, warned.line) == ("caught-error", 9)
    assert "line 9 asks for was not computed: gradient() raised RuntimeError" in warned.message
    assert "persistent=True" in warned.message


def test_an_uncaught_error_of_a_gradient_call_is_no_caught_one(recorder: Recorder) -> None:
    text = TAPE + "tape.gradient(y, x)\ntape.gradient(y, x)"
    diagnosis = diagnose(_recorded(text, recorder))
    assert not diagnosis.warnings
    assert diagnosis.error is not None
    assert "persistent=True" in diagnosis.error.explanation


def test_a_caught_error_is_told_beside_one_of_the_same_words_that_was_not(
    recorder: Recorder,
) -> None:
    diagnosis = diagnose(_recorded(CAUGHT + "tape.gradient(y, x)", recorder))
    assert [(warned.kind, warned.line) for warned in diagnosis.warnings] == [("caught-error", 9)]
    assert [error.line for error in diagnosis.errors] == [12]


def test_later_errors_of_a_page_are_explained_as_well() -> None:
    failures = [Failure("URLError", "<urlopen error [Errno -3]>", line, "") for line in (1, 3)]
    trace = Trace("a\nb\nc", failure=failures[0], later_failures=(failures[1],))
    first, second = diagnose(trace).errors
    assert "Line 1" in first.explanation
    assert "Line 3" in second.explanation


def test_a_name_of_a_failed_import_is_told_as_such() -> None:
    failures = [
        Failure("ModuleNotFoundError", "No module named 'matplotlib'", 1, "", (1,)),
        Failure("NameError", "name 'plt' is not defined", 3, "", (3,)),
        Failure("NameError", "name 'other' is not defined", 4, "", (4,)),
    ]
    text = "import matplotlib.pyplot as plt\nx = 1\nplt.plot(x)\nother(x)"
    trace = Trace(text, failure=failures[0], later_failures=tuple(failures[1:]))
    _, second, third = diagnose(trace).errors
    assert "which line 1 would have defined: it raised ModuleNotFoundError" in second.explanation
    assert "nothing before it defines" in third.explanation


def test_the_command_names_the_interpreter_that_lacks_a_package(recorder: Recorder) -> None:
    trace = _recorded("import skimage.io", recorder)
    (error,) = diagnose(trace).errors
    assert trace.failure is not None
    assert trace.failure.python.endswith("python")
    assert Path(trace.failure.python).is_absolute()
    python = shlex.quote(trace.failure.python)
    assert error.command == f"{python} -m pip install scikit-image"


@pytest.mark.parametrize(
    ("type_", "message", "command"),
    [
        (
            "ModuleNotFoundError",
            "No module named 'pandas'",
            "'/my env/python' -m pip install pandas",
        ),
        (
            "ModuleNotFoundError",
            "No module named 'distutils'",
            "'/my env/python' -m pip install setuptools",
        ),
        ("ModuleNotFoundError", "No module named 'helpers'", ""),  # may be a file of the user's
        ("ModuleNotFoundError", "No module named 'pandas.core.old'", ""),  # pandas is there
        ("ImportError", "cannot import name 'x' from 'pandas'", ""),
        ("ValueError", "No module named 'pandas'", ""),
    ],
)
def test_a_command_is_given_for_a_package_that_is_known(
    type_: str, message: str, command: str
) -> None:
    failure = Failure(type_, message, 1, "", (1,), python="/my env/python")
    (error,) = diagnose(Trace("import x", failure=failure)).errors
    assert error.command == command


def test_a_saved_snippet_is_told_where_its_own_files_are_looked_for(
    recorder: Recorder, tmp_path: Path
) -> None:
    for text, expected in (
        ("import a_module_nobody_has", "a_module_nobody_has.py, put it into /"),
        ("open('data.csv')", f"It was looked for in {tmp_path}. Write the whole path"),
    ):
        (error,) = diagnose(_recorded(text, recorder, tmp_path)).errors
        assert expected in error.explanation


def _recorded(text: str, recorder: Recorder, folder: Path | None = None) -> Trace:
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(text, directory=folder))
    trace = live.wait(60)
    live.release()
    return trace


def test_old_names_are_not_in_this_tensorflow(recorder: Recorder) -> None:
    """No old name exists in this TensorFlow, and every new name does."""
    from tapeviz.recording.live import Snippet

    text = f"""
import operator
import tensorflow as tf
def has(name):
    try:
        operator.attrgetter(name)(tf)
        return True
    except AttributeError:
        return False
print(list(filter(has, {sorted(NEW_NAMES)})))
print([name for name in {sorted(RENAMED.values())} if not has(name)])
"""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    assert "".join(text for _, text in trace.printed).split() == ["[]", "[]"]
