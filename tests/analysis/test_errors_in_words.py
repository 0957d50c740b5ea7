"""Messages as TensorFlow, Keras, NumPy and Python word them, each explained; nothing is run."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from tapeviz.analysis.errors.case import innermost_line, raised_by_called
from tapeviz.analysis.errors.explain import explain_error
from tapeviz.analysis.errors.python.documented import sentences
from tapeviz.analysis.errors.table import explanations, read_row
from tapeviz.trace import events as e
from tapeviz.trace.model import Failure, Trace

from ..traces import Script

CALLED = """{{{{function_node __wrapped__IteratorGetNext}}}} {raised}
Traceback (most recent call last):

  File "/x/tensorflow/python/ops/script_ops.py", line 269, in __call__
    ret = func(*args)

  File "/x/tensorflow/python/data/ops/from_generator_op.py", line 198, in generator_py_func
    values = next(generator_state.get_iterator(iterator_id))

{frames}
{raised}


 [[{{{{node PyFunc}}}}]] [Op:IteratorGetNext] name: """
"""The message of an op that called Python code which raised (TensorFlow 2.15-2.21)."""

IN_LAYER = 'Input 0 of layer "lstm_1" is incompatible with the layer: expected ndim=3, found ndim='
MESSAGES: dict[str, tuple[str, str, str, str]] = {
    "branches that return other structures": (
        "if flag:\n    pass",
        "TypeError",
        "'retval_' must have the same nested structure in the main and else branches:\n\nThe two "
        "structures don't have the same nested structure.",
        "holds both of its branches, and they return different things",
    ),
    "labels and predictions that a compiled loss subtracts": (
        "m.fit(x, y)",
        "ValueError",
        "Dimensions must be equal, but are 2 and 3 for '{{node compile_loss/mse/sub}} = Sub[T=DT_"
        "FLOAT](data_1, dense/BiasAdd)' with input shapes: [32,2], [32,3].",
        "labels of shape [32,2] and predictions of shape [32,3], and compares them element by "
        "element. Give the last layer 2 units",
    ),
    "a model made of a tensor with values": (
        "m = tf.keras.Model(x, y)",
        "ValueError",
        "All `inputs` values must be KerasTensors. Received: inputs=[[1.]] including invalid value "
        "[[1.]] of type <class 'tensorflow.python.framework.ops.EagerTensor'>",
        "The inputs are made by tf.keras.Input(shape)",
    ),
    "a tensor that a compiled function kept": (
        "kept = []\ndef f(x):\n    kept.append(x + 1)\nkept[0] * 2",
        "TypeError",
        "<tf.Tensor 'add:0'> is out of scope and cannot be used here.\n\n<tf.Tensor 'add:0'> was "
        'defined here:\n    File "snippet.py", line 3, in f\n',
        "a tf.function that is done, made on line 3. Such",
    ),
    "a tensor that a layer made in build": (
        "class Layer:\n    def build(self, shape):\n        self.b = 2 * self.w\nx * self.b",
        "TypeError",
        "<tf.Tensor 'mul:0'> is out of scope and cannot be used here.\n\n<tf.Tensor 'mul:0'> was "
        'defined here:\n    File "snippet.py", line 3, in build\n\nThe tensor cannot be accessed '
        "from here, because it was defined in FuncGraph(name=scratch_graph, id=1), which is out of "
        "scope.",
        "Keras built the model, made on line 3. A layer",
    ),
    "a layer that a compiled function makes anew": (
        "@tf.function\ndef f(x):\n    dense = tf.keras.layers.Dense(4)\n    return dense(x)",
        "ValueError",
        "tf.function only supports singleton tf.Variables created on the first call.",
        "Line 3 makes dense anew whenever f runs: make it once, outside of f.",
    ),
    "weights of another model": (
        "model.load_weights(path)",
        "ValueError",
        "A total of 2 objects could not be loaded. Example error message for object <Dense>:\n\n"
        "The shape of the target variable and the shape of the target value in "
        "`variable.assign(value)` must match. variable.shape=(4, 32), Received: value.shape=(4, 16)"
        ". Target variable: <Variable path=dense/kernel>",
        "has a weight of shape (4, 16) where this model has one of shape (4, 32)",
    ),
    "weights of another model under Keras 2": (
        "model.load_weights(path)",
        "ValueError",
        "Cannot assign value to variable ' dense/kernel:0': Shape mismatch.The variable shape "
        "(4, 32), and the assigned value shape (4, 16) are incompatible.",
        "has a weight of shape (4, 16) where this model has one of shape (4, 32)",
    ),
    "an argument of an optimizer of Keras 2 that is misspelt": (
        "opt = tf.keras.optimizers.Adam(beta1=0.9)",
        "TypeError",
        "beta1 is not a valid argument, kwargs should be empty  for `optimizer_experimental`.",
        "an argument beta1, which it does not take.",
    ),
    "a train_step that returns a number under Keras 2": (
        "class M(tf.keras.Model):\n    def train_step(self, data): return 1.0\nm.fit(x)",
        "AttributeError",
        "'float' object has no attribute 'items'",
        "train_step (line 2) of the model that line 3 runs returns something else than a dict",
    ),
    "a loop over the keys of a dict": (
        'for name, target in {"a": 1.0}:\n    pass',
        "ValueError",
        "not enough values to unpack (expected 2, got 1)",
        'Write {"a": 1.0}.items() to get pairs of a key and its value.',
    ),
    "a variable of a layer that = would replace": (
        "layer.kernel -= step",
        "AttributeError",
        "property 'kernel' of 'Dense' object has no setter",
        "in place, as by layer.kernel.assign(value), or assign_sub(value) for -=",
    ),
    "whole numbers beside wide floats": (
        "y = tf.matmul(X, w)",
        "InvalidArgumentError",
        "cannot compute MatMul as input #1(zero-based) was expected to be a int64 tensor but is a "
        "double tensor [Op:MatMul]",
        "Make both of one dtype: tf.cast(…, tf.float64)",
    ),
    "a function that something else calls": (
        "def rate(step):\n    return 0.1\nopt = SGD(learning_rate=rate)\nopt.apply_gradients(p)",
        "TypeError",
        "rate() missing 1 required positional argument: 'step'",
        "rate (line 1) was called without step: line 3 gives it to SGD, which calls it in its own",
    ),
    "a batch of unknown length as a shape": (
        "noise = tf.random.normal(x.shape)",
        "ValueError",
        "Cannot convert a partially known TensorShape (None, 3) to a Tensor.",
        "Write tf.shape(x) in place of x.shape",
    ),
    "a layer as the output of a model": (
        "m = tf.keras.Model(x, y)",
        "ValueError",
        "All `outputs` values must be KerasTensors. Received: outputs=<Dense name=d, built=False> "
        "including invalid value <Dense name=d, built=False> of type <class 'Dense'>",
        "gives a model a layer, Dense, among its outputs",
    ),
    "several whole numbers in brackets": (
        "s = e[:, tags]",
        "TypeError",
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        "tf.int32/tf.int64 tensors are valid indices, got <tf.Tensor: shape=(2,), dtype=int32, "
        "numpy=array([0, 1], dtype=int32)>",
        "of shape (2,), and the brackets of a tensor take single ones. tf.gather(",
    ),
    "three names for the pairs of enumerate": (
        "for i, x, y in enumerate(ds):\n    pass",
        "ValueError",
        "not enough values to unpack (expected 3, got 2)",
        "into parentheses: for i, (x, y) in enumerate(ds):.",
    ),
    "labels without the axis of the outputs": (
        "loss = bce(y, model(x))",
        "ValueError",
        "Arguments `target` and `output` must have the same rank (ndim). Received: "
        "target.shape=(2,), output.shape=(2, 1)",
        "Give the labels an axis at the end",
    ),
    "more classes than units": (
        "loss = cce(y, model(x))",
        "ValueError",
        "Arguments `target` and `output` must have the same shape. Received: "
        "target.shape=(2, 3), output.shape=(2, 4)",
        "Give the last layer 3 units",
    ),
    "a tape that is pickled": (
        "pickle.dumps({'tape': tape})",
        "TypeError",
        "cannot pickle 'tfe.Tape' object",
        "an object that cannot be taken apart, tfe.Tape, or that holds such a part",
    ),
    "a function that NumPy dropped": (
        "n = np.product(w.shape)",
        "AttributeError",
        "module 'numpy' has no attribute 'product'",
        "Write np.prod",
    ),
    "an if that AutoGraph is told not to convert": (
        "@tf.function(autograph=False)\ndef f(x):\n    if x > 0: return x",
        "OperatorNotAllowedInGraphError",
        "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.",
        "With autograph=False, on line 1, TensorFlow converts no if or while",
    ),
    "a GPU whose memory is full": (
        "y = tf.matmul(x, x)",
        "InternalError",
        "Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:"
        "localhost/replica:0/task:0/device:GPU:0 in order to run MatMul: Dst tensor is not "
        "initialized. [Op:MatMul]",
        "",
    ),
    "a check of TensorFlow's that the snippet makes, whose message says all": (
        "tf.debugging.assert_positive(sigma, 'sigma must be positive')",
        "InvalidArgumentError",
        "sigma must be positive\nCondition x > 0 did not hold element-wise:\nx (shape=() ...) = -1",
        "",
    ),
    "shapes that a function of TensorFlow wants to be the same, which names no op": (
        "kept = tf.boolean_mask(seq, mask)",
        "ValueError",
        "Shapes (2, 5) and (2, 4) are incompatible",
        "tf.boolean_mask got the shapes (2, 5) and (2, 4), which do not fit. For tf.boolean_mask, "
        "both must have equally many axes, each of one length in both",
    ),
    "an iterator without more elements": (
        "x = next(batches)",
        "StopIteration",
        "",
        "Line 1 asks batches for another element, and it has given its last one",
    ),
    "an iterator without more elements in a compiled function": (
        "x = next(it)",
        "OutOfRangeError",
        "End of sequence\n\t [[{{node IteratorGetNext}}]] [Op:__inference_step_16]",
        "Line 1 asks it for another element",
    ),
    "a dataset without elements": (
        "x = next(iter(ds))",
        "StopIteration",
        "",
        "Line 1 takes the first element of ds, and there is none",
    ),
    "a learning rate that is an int": (
        "opt = tf.keras.optimizers.SGD(1)",
        "ValueError",
        "Argument `learning_rate` should be float, or an instance of LearningRateSchedule, or a "
        "callable (that takes in the current iteration value and returns the corresponding "
        "learning rate value). Received instead: learning_rate=1",
        "Line 1 gives an optimizer of Keras 3 a learning rate that is no float of Python, as 1,",
    ),
    "a StopIteration of the snippet's own": ("raise StopIteration", "StopIteration", "", ""),
    "a function for one part of two": (
        "ds = ds.map(lambda x: x)",
        "TypeError",
        "in user code:\n\n    TypeError: outer_factory.<locals>.inner_factory.<locals>.<lambda>() "
        "takes 1 positional argument but 2 were given\n",
        "that line 1 gives to map takes 1 of its 2 arguments",
    ),
    "counted elements that are no pairs": (
        "for i, (x, y) in enumerate(ds):\n    pass",
        "ValueError",
        "not enough values to unpack (expected 2, got 1)",
        "Line 1 gives each element of ds 2 names",
    ),
    "elements that are no pairs": (
        "for x, y in ds:\n    pass",
        "ValueError",
        "too many values to unpack (expected 2)",
        "Line 1 gives each element of ds 2 names, and one of them has not 2 parts",
    ),
    "another tuple than the elements": (
        "for x, y in ds: a, b, c = x",
        "ValueError",
        "too many values to unpack (expected 3)",
        "",
    ),
    "an element that has the wrong shape": (
        "for x in ds: pass",
        "InvalidArgumentError",
        CALLED.format(
            raised="TypeError: `generator` yielded an element of shape (1,) where an element of "
            "shape (2,) was expected.",
            frames="",
        ),
        "whose generator yielded one of shape (1,); the output_signature given to from_generator "
        "says (2,)",
    ),
    "elements that are no batch": (
        "for x in ds: pass",
        "InvalidArgumentError",
        "Cannot batch tensors with different shapes in component 0. First element had shape [1] "
        "and element 1 had shape [2]. [Op:IteratorGetNext] name: ",
        "a batch of elements of the shapes [1] and [2]",
    ),
    "no labels": ("m.fit(x)", "ValueError", "None values not supported.", "got no labels"),
    "a train_step without return": (
        "m.fit(x, y)",
        "ValueError",
        "Attr 'Toutput_types' of 'OptionalFromValue' Op passed list of length 0 less than min 1.",
        "train_step or test_step of the model that line 1 trains returns nothing",
    ),
    "a train_step without return under Keras 2": (
        "m.fit(x, y)",
        "TypeError",
        "_minimum_control_deps(outputs)):\n\n    TypeError: Can not convert a NoneType into a Te…",
        "train_step or test_step of the model that line 1 trains returns nothing",
    ),
    "a checkpoint": (
        "c.restore('t/ckpt-1')",
        "NotFoundError",
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        "t/ckpt-1\n Please double-check …",
        "Line 1 opens the file t/ckpt-1, which is not there",
    ),
    "a picture": (
        "tf.io.read_file('cat.jpg')",
        "NotFoundError",
        "{{function_node __wrapped__ReadFile_device_/CPU:0}} cat.jpg; No such file or directory "
        "[Op:ReadFile]",
        "Line 1 opens the file cat.jpg, which is not there",
    ),
    "a file of weights": (
        "m.load_weights('w.h5')",
        "FileNotFoundError",
        "[Errno 2] Unable to synchronously open file (unable to open file: name = 'w.h5', errno = "
        "2, error message = 'No such file or directory', flags = 0, o_flags = 0)",
        "Line 1 opens the file w.h5",
    ),
    "a file without a name": (
        "open('')",
        "FileNotFoundError",
        "[Errno 2] No such file or directory: ''",
        "a file whose name is empty",
    ),
    "a model of Keras 3": (
        "load_model('my models/model.keras')",
        "ValueError",
        "File not found: filepath=my models/model.keras. Please ensure the file is an accessible "
        "`.keras` zip file.",
        "Line 1 opens the file my models/model.keras",
    ),
    "a class that a saved model needs": (
        "load_model('m.keras')",
        "TypeError",
        "… Could not locate class 'Twice'. Make sure custom classes …",
        "custom_objects={'Twice': Twice}",
    ),
    "a tuple given to a layer": (
        "d(batch)",
        "ValueError",
        'Layer "dense" expects 1 input(s), but it received 2 input tensors. Inputs received: […]',
        "takes one tensor and got 2, in a list or tuple",
    ),
    "a list of numbers given to a layer": (
        "d([1.0, 2.0])",
        "ValueError",
        'Layer "dense" expects 1 input(s), but it received 2 input tensors. Inputs received: '
        "[<tf.Tensor: shape=(), dtype=float32, numpy=1.0>, <tf.Tensor: shape=(), dtype=float32, "
        "numpy=2.0>]",
        "Make one tensor of the list",
    ),
    "a model of two inputs": (
        "m(x)",
        "ValueError",
        'Layer "model" expects 2 input(s), but it received 1 input tensors. Inputs received: […]',
        "takes 2 inputs and got 1",
    ),
    "a recurrent layer that keeps its last step only": (
        "m = Sequential([LSTM(4), LSTM(2)])",
        "ValueError",
        f"{IN_LAYER}2. Full shape received: (2, 4)",
        "return_sequences=True",
    ),
    "a model without one of its inputs": (
        "tf.keras.Model(i, h)",
        "ValueError",
        "Output with path `` is not connected to `inputs`",
        "a tf.keras.Input that is not among the inputs given",
    ),
    "a function among layers": (
        "Sequential([tf.nn.relu])",
        "ValueError",
        "Only instances of `keras.Layer` can be added to a Sequential model. Received: <function>",
        "tf.keras.layers.Lambda(f)",
    ),
    "one-hot labels for a sparse loss": (
        "loss(y, p)",
        "ValueError",
        "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape=(4, 3) of "
        "rank 2 and logits.shape=(4, 3) of rank 2",
        "labels have one axis less",
    ),
    "one-hot labels for a sparse loss of Keras 3": (
        "loss(y, p)",
        "ValueError",
        "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target.shape=(4, 3), "
        "output.shape=(4, 3)",
        "predictions of shape (4, 3). A sparse cross-entropy",
    ),
    "pictures of predictions for a sparse loss": (
        "loss(y, p)",
        "ValueError",
        "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target.shape=(2,), "
        "output.shape=(2, 6, 6, 10)",
        "GlobalAveragePooling2D takes axes away",
    ),
    "a layer reshape of Keras 2": (
        "y = layer(x)",
        "ValueError",
        "total size of new array must be unchanged, input_shape = [784], output_shape = [7, 7, 32]",
        "[784], and the shape [7, 7, 32] that it is to give them has 1568 elements",
    ),
    "a variable times in place": (
        "v *= 2",
        "RuntimeError",
        "`var *= value` with `tf.Variable`s is not supported. Use `var.assign(var * value)` to "
        "modify the variable, or `out = var * value` if you need to get a new output Tensor.",
        "Write var.assign(var * value) to change",
    ),
    "a layer that a large model does not have": (
        "m.get_layer('conv_9')",
        "ValueError",
        f"No such layer: conv_9. Existing layers are: {[f'conv_{place}' for place in range(9)]}.",
        "none of its 9 layers has that name; near to it are conv_8, conv_7, conv_6, and the last",
    ),
    "a question to a symbolic output of Keras 2": (
        "if h > 0: pass",
        "TypeError",
        "Keras symbolic inputs/outputs do not implement `__len__`. You may be trying to pass …",
        "hands the symbolic input or output of a Keras model",
    ),
    "labels and logits in each other's place": (
        "loss = tf.nn.sparse_softmax_cross_entropy_with_logits(logits, labels)",
        "ValueError",
        "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape=(1, 2) of "
        "rank 2 and logits.shape=(1,) of rank 1",
        "give them by name, as in labels=y",
    ),
    "the first variable of a layer that was not called": (
        "w = layer.trainable_variables[0]",
        "IndexError",
        "list index out of range",
        "has none before. Call it once",
    ),
    "a function of another library in a module of TensorFlow": (
        "y = tf.math.mean(x)",
        "AttributeError",
        "module 'tensorflow._api.v2.math' has no attribute 'mean'",
        "is tf.reduce_mean",
    ),
    "an option of a loss given to its call": (
        "loss = bce(y, p, from_logits=True)",
        "TypeError",
        "Loss.__call__() got an unexpected keyword argument 'from_logits'",
        "Options of a loss are given where it is made",
    ),
    "a misspelt argument of a layer": (
        "y = model(x, train=True)",
        "TypeError",
        "Sequential.call() got an unexpected keyword argument 'train'",
        "gives Sequential.call an argument train, which it does not take",
    ),
    "an argument of a layer that Keras 2 does not name": (
        "Dense(2, rate=0.1)",
        "TypeError",
        "('Keyword argument not understood:', 'rate')",
        "gives Dense an argument rate, which it does not take",
    ),
    "a compiled method without self": (
        "class C:\n    @tf.function\n    def f(x):\n        return x\nC().f(1.0)",
        "TypeError",
        "Binding inputs to tf.function failed due to `too many positional arguments`. Received "
        "args: (1.0,) and kwargs: {} for signature: ().",
        "Line 3 defines the method f without self",
    ),
    "an element of a history": (
        "h['loss']",
        "TypeError",
        "'History' object is not subscriptable",
        "h.history['loss']",
    ),
    "an element of a function": (
        "y = f[x]",
        "TypeError",
        "'function' object is not subscriptable",
        "Call it with parentheses",
    ),
    "an element of a method": (
        "y = x.numpy[0]",
        "TypeError",
        "'method' object is not subscriptable",
        "Call it with parentheses: x.numpy()[0].",
    ),
    "an element of a number": (
        "y = n[0]",
        "TypeError",
        "'float' object is not subscriptable",
        "a single Python number (float)",
    ),
    "a dense layer on an axis without a length": (
        "y = d(x)",
        "ValueError",
        "The last dimension of the inputs to a Dense layer should be defined. Found None. Full "
        "input shape received: (2, None)",
        "the length of that axis is not known",
    ),
    "strings among numbers": (
        "y = w * x",
        "InvalidArgumentError",
        "cannot compute Mul as input #1(zero-based) was expected to be a float tensor but is a "
        "string tensor [Op:Mul] name: ",
        "tf.strings.to_number(text)",
    ),
    "dtypes in the function of a dataset": (
        "ds.map(lambda x: x / 2.0)",
        "TypeError",
        "`x` and `y` must have the same dtype, got tf.int64 != tf.float32.",
        "Line 1 combines an int64 tensor with a float32 one",
    ),
    "a branch that returns None": (
        "if x > 0: return x",
        "ValueError",
        "'retval_' is None at the end of the else branch.",
        "the else branch returns None",
    ),
    "a symbolic tensor in a text": (
        "print(f'{s:.3f}')",
        "TypeError",
        "unsupported format string passed to SymbolicTensor.__format__",
        "tf.print shows values at each call",
    ),
    "a list in a text": (
        "print(f'{g:.3f}')",
        "TypeError",
        "unsupported format string passed to list.__format__",
        "Line 1 writes a list as one number",
    ),
    "a symbolic tensor, counted": (
        "for i, x in enumerate(xs): pass",
        "OperatorNotAllowedInGraphError",
        "Iterating over a symbolic `tf.Tensor` is not allowed.",
        "goes over a symbolic tensor by enumerate",
    ),
    "a symbolic tensor in a comprehension": (
        "y = sum([x for x in xs])",
        "OperatorNotAllowedInGraphError",
        "Iterating over a symbolic `tf.Tensor` is not allowed.",
        "goes over a symbolic tensor in a comprehension",
    ),
    "minimize of Keras 2": (
        "opt.minimize(loss, [w])",
        "ValueError",
        "`tape` is required when a `Tensor` loss is passed. Received: loss=5.0, tape=None.",
        "minimize(lambda: …, variables)",
    ),
    "a loop of Python that a tensor ends": (
        "while True: pass",
        "NotImplementedError",
        "The condition of while loop started as non-Tensor, then changed to Tensor. This may …",
        "while tf.constant(True):",
    ),
    "a tape without parentheses": (
        "with tf.GradientTape as t: pass",
        "TypeError",
        "'type' object does not support the context manager protocol",
        "with tf.GradientTape():",
    ),
    "a tape without parentheses on Python 3.10": (
        "with tf.GradientTape as t: pass",
        "AttributeError",
        "__enter__",
        "with tf.GradientTape():",
    ),
    "a method without parentheses": (
        "with tape.stop_recording: pass",
        "TypeError",
        "'method' object does not support the context manager protocol",
        "with tape.stop_recording():",
    ),
    "a value that no with statement takes": (
        "with x: pass",
        "AttributeError",
        "__enter__",
        "",
    ),
    "several elements, any of which may be beyond the end": (
        "w = a[1] + b[2]",
        "IndexError",
        "list index out of range",
        "",
    ),
    "indices for other updates": (
        "tf.tensor_scatter_nd_update(x, i, u)",
        "InvalidArgumentError",
        "Outer dimensions of indices and update must match. Indices shape: [2,1], updates …",
        "there is one update for each place",
    ),
    "the length of a dataset": (
        "len(ds)",
        "TypeError",
        "The dataset length is unknown.",
        "Count them in a loop",
    ),
    "a SavedModel that is not there": (
        "tf.saved_model.load('m')",
        "OSError",
        "SavedModel file does not exist at: m/{saved_model.pbtxt|saved_model.pb}",
        "opens the file m, which is not there",
    ),
    "another checkpoint": (
        "c.restore(p).assert_consumed()",
        "AssertionError",
        "Found 1 Python objects that were not bound to checkpointed values, likely due to …",
        "do not have the same parts",
    ),
    "a text before a tensor": (
        "print('g: ' + g)",
        "TypeError",
        "Cannot convert 'g: ' to EagerTensor of dtype float",
        "print('g: ', x)",
    ),
    "a number in quotes": (
        "lr * g",
        "TypeError",
        "Cannot convert '0.1' to EagerTensor of dtype float",
        "computes with '0.1', which is a text",
    ),
    "a single tensor for tf.py_function": (
        "tf.py_function(f, x, tf.float32)",
        "TypeError",
        "Cannot iterate over a scalar tensor.",
        "Write [x] in place of x",
    ),
    "the dtype of a function in Python": (
        "y = tf.numpy_function(f, [x], tf.float32)",
        "InvalidArgumentError",
        "0-th value returned by pyfunc_0 is double, but expects float\n\t [[{{node PyFunc}}]]",
        "what it got: 0-th value returned by pyfunc_0 is double, but expects float.",
    ),
    "the body of a loop that returns too little": (
        "tf.while_loop(c, b, (0, 1.0))",
        "TypeError",
        "'int' object is not iterable",
        "a value for each loop variable",
    ),
    "output for outputs": (
        "tf.keras.Model(inputs=i, output=o)",
        "ValueError",
        "Unrecognized keyword arguments passed to Model: {'inputs': <KerasTensor>, 'output': <Ke…",
        "tf.keras.Model(inputs=…, outputs=…)",
    ),
    "an old keyword of fit": (
        "m.fit(x, y, nb_epoch=2)",
        "TypeError",
        "TensorFlowTrainer.fit() got an unexpected keyword argument 'nb_epoch'",
        "Write epochs=",
    ),
    "an old name for a parameter of the snippet's own": (
        "def step(w, rate): pass\nstep(w, lr=0.1)",
        "TypeError",
        "step() got an unexpected keyword argument 'lr'",
        "It takes w, rate.",
    ),
    "a name that a compiled loop has to know before": (
        "for x in data:\n    worst = x",
        "ValueError",
        "'worst' must be defined before the loop",
        "Give worst a tensor of this shape and dtype before the loop",
    ),
    "a name that grows in a compiled loop": (
        "for i in tf.range(n):\n    out = tf.concat([out, x], 0)",
        "ValueError",
        "'out' has shape (0, 2) before the loop, but shape (None, 2) after one iteration.",
        "if not, say by tf.autograph.experimental.set_loop_options(shape_invariants",
    ),
    "a keyword that a library gives a method of the snippet": (
        "class F1(Metric):\n    def update_state(self, y, p): pass\nm.fit(x, y)",
        "TypeError",
        "F1.update_state() got an unexpected keyword argument 'sample_weight'",
        "Give it that: def update_state(self, y, p, sample_weight=None).",
    ),
    "arguments in the order of another function": (
        "def loss(model, x, y):\n    return model(x)\nloss(x, y, model)",
        "TypeError",
        "'EagerTensor' object is not callable",
        "Line 3 calls loss with x, y, model, and line 1 takes these in another order: model, x, y.",
    ),
    "keys that are expected otherwise": (
        'm.compile(loss={"class": "mse", "b": "mse"})\nm.fit(x, y)',
        "ValueError",
        "Expected keys ['a', 'b'] in loss dict, but found loss.keys()=['class', 'b']",
        "Line 2 needs a, and was given class (line 1) in place of that",
    ),
    "a number of NumPy in JSON": (
        "json.dumps(log)",
        "TypeError",
        "Object of type float32 is not JSON serializable",
        "met a value of type float32. Put float(x)",
    ),
    "an optimizer of a strategy": (
        "m.fit(x, y)",
        "RuntimeError",
        'Need to be inside "with strategy.scope()" for <MirroredStrategy object at 0x7f>',
        "in one block with strategy.scope():",
    ),
    "a checkpoint of another model": (
        "checkpoint.restore(path)",
        "ValueError",
        "Received incompatible tensor with shape (4, 16) when attempting to restore variable with "
        "shape (4, 32) and name Variable:0.",
        "has a weight of shape (4, 16) where this model has one of shape (4, 32)",
    ),
    "a class that is no module": (
        "class Net:\n    pass\nNet().variables",
        "AttributeError",
        "'Net' object has no attribute 'variables'",
        "Write class Net(tf.Module):",
    ),
    "parentheses for an element": (
        "losses = []\nn = losses(0)",
        "TypeError",
        "'list' object is not callable",
        "taken by brackets: losses[0]",
    ),
    "an __init__ that leaves out that of its base": (
        "class Net(Base):\n    def __init__(self):\n        self.v = 1\nprint(Net().lr)",
        "AttributeError",
        "'Net' object has no attribute 'lr'",
        "does not call super().__init__(), by which Base sets up",
    ),
    "a misspelt name in a class whose __init__ leaves out that of its base": (
        "class Net(Base):\n    def __init__(self):\n        self.loss = 1\nprint(Net().lss)",
        "AttributeError",
        "'Net' object has no attribute 'lss'",
        "It has loss: write that",
    ),
    "pictures without an axis for channels": (
        "Conv2D(3, 3, input_shape=(8, 8))",
        "ValueError",
        "Input 0 with name 'None' of layer 'conv2d' is incompatible with the layer: expected "
        "min_ndim=4, found ndim=3. Full shape received: (None, 8, 8)",
        "None is the axis of the samples, so another one is missing",
    ),
    "a list given to a function of math": (
        "y = math.sqrt([1.0, 4.0])",
        "TypeError",
        "must be real number, not list",
        "tf.math.sqrt takes tensors",
    ),
    "a tensor given to a function of math": (
        "y = math.log(tf.reduce_sum(x, 0))",
        "TypeError",
        "only 0-dimensional arrays can be converted to Python scalars",
        "tf.math.log takes tensors",
    ),
    "a file that a dataset reads": (
        "for i in ds: print(i)",
        "NotFoundError",
        "{{function_node __wrapped__IteratorGetNext_device_/CPU:0}} Error in user-defined function "
        "passed to MapDataset:1 transformation with iterator: Iterator::Root::ParallelMapV2: "
        "a.png; No such file or directory\n\t [[{{node ReadFile}}]] [Op:IteratorGetNext] name: ",
        "opens the file a.png, which",
    ),
    "an argument of fit that is misspelt": (
        "m.fit(x, y, epoch=3)",
        "TypeError",
        "TensorFlowTrainer.fit() got an unexpected keyword argument 'epoch'",
        "an argument epoch, which it does not take. Leave it out, or look up its name.",
    ),
    "an argument of the fit of another library": (
        "m.fit(x, y, epoch=3)",
        "TypeError",
        "LogisticRegression.fit() got an unexpected keyword argument 'epoch'",
        "Leave it out, or look up its name",
    ),
    "a tensor made a number beside a function of math": (
        "y = float(w) / math.sqrt(2.0)",
        "TypeError",
        "only 0-dimensional arrays can be converted to Python scalars",
        "makes a Python number of a tensor",
    ),
    "a class as the loss, in Keras 2": (
        "m.fit(x, y)",
        "TypeError",
        "Failed to convert elements of <keras.src.losses.BinaryCrossentropy object at 0x7f> to "
        "Tensor. Consider casting elements to a supported type.",
        "Give compile an object: tf.keras.losses.BinaryCrossentropy().",
    ),
    "a loss that returns nothing": (
        "def my_loss(y, p):\n    print(y - p)\nm.compile(loss=my_loss)\nm.fit(x, y)",
        "ValueError",
        "None values not supported.",
        "my_loss (line 1), which line 3 gives to compile, returns nothing",
    ),
    "an argument of a model's call": (
        "Net()(x)",
        "TypeError",
        "missing a required argument: 'mask'",
        "without its argument mask",
    ),
    "a picture of another size": (
        "m(x)",
        "ValueError",
        "Input 0 with name 'input_layer' of layer 'vgg16' is incompatible with the layer: expected "
        "shape=(None, 224, 224, 3), found shape=(1, 32, 32, 3)",
        "by tf.image.resize",
    ),
    "an array of lists": (
        "x = tf.constant(rows)",
        "ValueError",
        "Failed to convert a NumPy array to a Tensor (Unsupported object type list).",
        "among them one of type list. Make its elements",
    ),
    "an array with None in it": (
        "x = tf.constant(rows)",
        "ValueError",
        "Failed to convert a NumPy array to a Tensor (Unsupported object type NoneType).",
        "among them one of type NoneType",
    ),
    "padding in small letters": (
        "y = tf.nn.conv2d(x, k, 1, 'same')",
        "InvalidArgumentError",
        'Value for attr \'padding\' of "same" is not in the list of allowed values: "SAME", '
        '"VALID", "EXPLICIT"\n\t; NodeDef: {{node _MklNativeConv2D}}; '
        "Op<name=_MklNativeConv2D; signature=input:T, filter:T -> output:T> [Op:Conv2D] name: ",
        'padding\' of "same" is not in the list of allowed values: "SAME", "VALID", "EXPLICIT".',
    ),
    "filters for fewer channels": (
        "y = tf.nn.conv2d(x, k, 1, 'SAME')",
        "InvalidArgumentError",
        "{{function_node __wrapped__Conv2D_device_/CPU:0}} output depth must be evenly divisible "
        "by number of groups: 4 vs 3 [Op:Conv2D] name: ",
        "output depth must be evenly divisible by number of groups: 4 vs 3.",
    ),
    "gradients that are no pairs, in Keras 2": (
        "opt.apply_gradients(grads)",
        "ValueError",
        "too many values to unpack (expected 2)",
        "zip(gradients, variables)",
    ),
    "a model without call, in Keras 2": (
        "Net()(x)",
        "NotImplementedError",
        "Exception encountered when calling layer 'net' (type Net).\n\nUnimplemented "
        "`tf.keras.Model.call()`: if you intend to create a `Model` with the Functional API, …",
        "no method named call",
    ),
    "an optimizer in small letters": (
        "from tensorflow.keras.optimizers import adam",
        "ImportError",
        "cannot import name 'adam' from 'tensorflow.keras.optimizers' (keras/_tf_keras/…)",
        "with capital letters: Adam",
    ),
    "what Keras 3 keeps under tensorflow": (
        "from keras.preprocessing.image import ImageDataGenerator",
        "ImportError",
        "cannot import name 'ImageDataGenerator' from 'keras.preprocessing.image' (keras/…)",
        "Write tensorflow.keras.preprocessing.image in place",
    ),
    "a part of a module of Keras": (
        "from keras.layers.core import Dense",
        "ModuleNotFoundError",
        "No module named 'keras.layers.core'",
        "is imported from keras.layers itself",
    ),
    "an element that is not there yet": (
        "losses[i] = l",
        "IndexError",
        "list assignment index out of range",
        "values.append(x)",
    ),
    "words that were not adapted": (
        "s(['a'])",
        "FailedPreconditionError",
        "{{function_node __wrapped__LookupTableFindV2}} Table not initialized. [Op:…]",
        "layer.adapt(texts)",
    ),
    "shapes that Concatenate cannot join": (
        "c([x, y])",
        "ValueError",
        "A `Concatenate` layer requires inputs with matching shapes except for the concatenation "
        "axis. Received: input_shape=[(2, 3), (3, 2)]",
        "tensors of the shapes (2, 3) and (3, 2)",
    ),
    "a method that is not called": (
        "print(g.numpy.item())",
        "AttributeError",
        "'function' object has no attribute 'item'",
        "Its parentheses are missing: g.numpy().item.",
    ),
    "another input of a model of Keras 2": (
        "m(x)",
        "ValueError",
        'Input 0 of layer "sequential" is incompatible with the layer: expected shape=(None, 784), '
        "found shape=(4, 28, 28)",
        "takes an input of shape (None, 784), and got one of shape (4, 28, 28)",
    ),
    "variables that an optimizer of Keras 2 does not know": (
        "opt.apply_gradients(pairs)",
        "KeyError",
        "'The optimizer cannot recognize variable Variable:0. This usually means …'",
        "The optimizer on line 1 was made for other variables",
    ),
    "a layer of Keras 2 that is not set up": (
        "L()",
        "RuntimeError",
        "You must call `super().__init__()` in the layer constructor.",
        "Write super().__init__() as the first line",
    ),
    "a metric that Keras 2 does not know": (
        "m.fit(x, y)",
        "TypeError",
        'File "keras/src/metrics/base_metric.py", line 723, in update_state  **\n    matches = '
        "ag_fn(y_true, y_pred)\n\n    TypeError: 'str' object is not callable",
        "a word that Keras does not know",
    ),
    "decay of an optimizer": (
        "opt = SGD(decay=1e-4)",
        "ValueError",
        "decay is deprecated in the new Keras optimizer, please check the docstring …",
        "InverseTimeDecay",
    ),
    "an attribute read without self": (
        "class A:\n    def build(self):\n        self.w = 1\n    def call(self):\n        return w",
        "NameError",
        "Exception encountered when calling A.call().\n\nname 'w' is not defined\n\nArguments …",
        "write self.w",
    ),
    "second derivatives of one tape": (
        "t.hessian(y, x)",
        "AttributeError",
        "'GradientTape' object has no attribute 'hessian'",
        "outer.jacobian(g, x)",
    ),
    "an argument that a compiled function does not take": (
        "f(x=x, y=3)",
        "TypeError",
        "Binding inputs to tf.function failed due to `got an unexpected keyword argument 'y'`. …",
        "gives f an argument y, which it does not take",
    ),
    "an attribute that a function lacks": (
        "def model(x): pass\nmodel.trainable_variables",
        "AttributeError",
        "'function' object has no attribute 'trainable_variables'",
        "Line 2 asks model, of type function, for trainable_variables, which it does not have.",
    ),
    "a return in a loop over a tensor": (
        "for i in tf.range(3):\n    pass",
        "NotImplementedError",
        "a return statement cannot be placed inside this TensorFlow loop; this may happen if a "
        "return statement depends on a static Python condition such as a hyperparameter",
        "a return cannot leave that early",
    ),
    "values in place of the branches of tf.cond": (
        "y = tf.cond(x > 0, x * 2, x * 3)",
        "TypeError",
        "'true_fn' must be callable.",
        "Write lambda: in front of each",
    ),
    "another dtype than that of the input of map_fn": (
        "y = tf.map_fn(f, n)",
        "InvalidArgumentError",
        "TensorArray dtype is int32 but Op is trying to write dtype float32 ",
        "fn_output_signature=tf.float32",
    ),
    "another dtype than that of a TensorArray": (
        "ta = ta.write(0, x)",
        "InvalidArgumentError",
        "TensorArray dtype is int32 but Op is trying to write dtype float32 ",
        "Cast it, as in tf.cast(x, tf.int32)",
    ),
    "another dtype than that of a TensorArray of a session": (
        "ta = ta.write(0, x)",
        "InvalidArgumentError",
        "TensorArray dtype is double but Op is trying to write dtype float",
        "Cast it, as in tf.cast(x, tf.float64)",
    ),
    "an element of a TensorArray that was read": (
        "b = ta.read(0)",
        "InvalidArgumentError",
        "Could not read index 0 twice because it was cleared after a previous read (perhaps try "
        "setting clear_after_read = false?)",
        "Line 1 runs ta.read, which cannot work with what it got: Could not read index 0 twice",
    ),
    "a body of a loop that gives one value of two": (
        "tf.while_loop(c, lambda i, s: i + 1, [i, s])",
        "ValueError",
        "The two structures don't have the same nested structure.",
        "has to return each loop variable",
    ),
    "an argument that the signature leaves out": (
        "@tf.function(input_signature=s)",
        "TypeError",
        "input_signature missing type constraint for y",
        "says nothing of the argument y",
    ),
    "a function that was saved without a trace": (
        "r(x)",
        "ValueError",
        "Found zero restored functions for caller function.",
        "was saved without a trace",
    ),
    "an optimizer that Keras 2 does not know": (
        "m.compile('adamm', 'mse')",
        "ValueError",
        "Unknown optimizer: 'adamm'. Please ensure you are using a "
        "`keras.utils.custom_object_scope`",
        "Keras knows no optimizer by the name adamm",
    ),
    "a layer of a saved model that Keras 2 does not know": (
        "m = tf.keras.models.load_model(path)",
        "ValueError",
        "Unknown layer: 'My'. Please ensure you are using a `keras.utils.custom_object_scope`",
        "custom_objects={'My': My}",
    ),
    "a key of something else beside a metric": (
        "h = m.fit(x, y)\nprint(h.history['loss'], rates['acc'])",
        "KeyError",
        "'acc'",
        "",
    ),
    "a history of the snippet's own": ("run.history['acc']", "KeyError", "'acc'", ""),
    "the value of a number of Python": (
        "print(total.numpy())",
        "AttributeError",
        "'float' object has no attribute 'numpy'",
        "asks total, of type float, for numpy, which it does not have. It is a value of Python",
    ),
    "a module that no version 2 has": (
        "tf.estimator.DNNClassifier()",
        "AttributeError",
        "module 'tensorflow' has no attribute 'estimator'",
        "has no tf.estimator. Use tf.keras: model.fit, or a loop with a tape of your own.",
    ),
    "another dtype than map_fn was told": (
        "y = tf.map_fn(f, n, fn_output_signature=tf.int32)",
        "InvalidArgumentError",
        "TensorArray dtype is int32 but Op is trying to write dtype float32 ",
        "the call says that they are int32. Say what it gives: fn_output_signature=tf.float32",
    ),
    "a method that models had": (
        "m.fit_generator(batches)",
        "AttributeError",
        "'Sequential' object has no attribute 'fit_generator'",
        "Use fit, which takes generators",
    ),
    "a method that models had, of a class that derives from one": (
        "class Net(keras.Model): pass\nclass Wide(Net): pass\nWide().predict_proba(x)",
        "AttributeError",
        "'Wide' object has no attribute 'predict_proba'",
        "Use predict, which gives",
    ),
    "a method that models had, of another class": (
        "class Tree: pass\nTree().predict_proba(x)",
        "AttributeError",
        "'Tree' object has no attribute 'predict_proba'",
        "asks an object of the class Tree",
    ),
    "a list where a loss takes a tensor": (
        "loss([1, 3], y)",
        "AttributeError",
        "'list' object has no attribute 'shape'",
        "leads to code that asks a value of type list for shape. Tensors and arrays have it",
    ),
    "a class of losses under another name": (
        "loss = tf.keras.losses.MeanSquaredError\nloss(y, p)",
        "ValueError",
        "The truth value of an array with more than one element is ambiguous.",
        "as in tf.keras.losses.MeanSquaredError()(labels, predictions)",
    ),
    "a class of losses under another name, in Keras 2": (
        "loss = tf.keras.losses.MeanSquaredError\nloss(y, p)",
        "TypeError",
        "Cannot convert 'auto' to EagerTensor of dtype float",
        "as in tf.keras.losses.MeanSquaredError()(labels, predictions)",
    ),
    "a function of tf.nn": (
        "y = tf.softmax(x)",
        "AttributeError",
        "module 'tensorflow' has no attribute 'softmax'",
        "is tf.nn.softmax: write that on line 1",
    ),
    "a loss of TensorFlow 1": (
        "tf.losses.softmax_cross_entropy(y, p)",
        "AttributeError",
        "module 'keras._tf_keras.keras.losses' has no attribute 'softmax_cross_entropy'",
        "Use tf.nn.softmax_cross_entropy_with_logits",
    ),
    "a function of the backend": (
        "K.mean(y)",
        "AttributeError",
        "module 'keras.backend' has no attribute 'mean'",
        "Write tensorflow.keras.backend in place of keras.backend.",
    ),
    "a function that Keras 2 dropped": (
        "m = tf.keras.utils.multi_gpu_model(m, 2)",
        "AttributeError",
        "module 'keras.api._v2.keras.utils' has no attribute 'multi_gpu_model'",
        "Keras 2, which line 1 uses, has no multi_gpu_model",
    ),
    "texts to numbers": (
        "y = tf.cast(x, tf.float32)",
        "UnimplementedError",
        "Cast string to float is not supported [Op:Cast] name: ",
        "tf.strings.to_number",
    ),
    "samples of another size": (
        "m = tf.keras.Sequential([i, tf.keras.layers.Reshape((2, 3))])",
        "ValueError",
        "The total size of the tensor must be unchanged. Received: input_shape=(5,), "
        "target_shape=(2, 3)",
        "(5,), and the shape (2, 3) that it is to give them has 6 elements, not 5",
    ),
    "a Python number for a layer of Keras 3": (
        "layer(x, 1.0)",
        "ValueError",
        "Only input tensors may be passed as positional arguments. The following argument value "
        "should be passed as a keyword argument: 1.0 (of type <class 'float'>)",
        "with 1.0, a Python value, as a positional argument",
    ),
    "a layer that sees a ragged tensor": (
        "d(r)",
        "ValueError",
        "Shapes used to initialize variables must be fully-defined (no `None` dimensions). "
        "Received: shape=(None, 2) for variable path='dense/kernel'",
        "the length of the last axis of its input",
    ),
    "a constant that is called lr": (
        "lr = tf.constant(0.1)\nlr.assign(0.01)",
        "AttributeError",
        "'tensorflow.python.framework.ops.EagerTensor' object has no attribute 'assign'",
        "Line 2 tries to change",
    ),
    "a model of Keras 2 that was not set up": (
        "m = M()",
        "RuntimeError",
        "It looks like you are subclassing `Model` and you forgot to call `super().__init__()`.",
        "Write super().__init__() as the first line",
    ),
    "a device that this machine has not": (
        "gpus = tf.config.list_physical_devices('GPU')\nuse(gpus[0])",
        "IndexError",
        "list index out of range",
        "Line 2 takes device 0 of a list, and TensorFlow finds fewer",
    ),
    "a text that is no number": (
        "float(s)",
        "ValueError",
        "could not convert string to float: 'x'",
        "makes a number of the text 'x'",
    ),
    "a layer of a list in a compiled function": (
        "def step(x):\n    d['a'] = tf.ones(3)\n    return layers[0](x)",
        "ValueError",
        "tf.function-decorated function tried to create variables on non-first call.",
        "at its first call only. Call the layer or make the variable before",
    ),
    "a condition in a function beside one without AutoGraph": (
        "@tf.function(autograph=False)\ndef f(x): return x\n"
        "@tf.function\ndef g(x):\n    return [a for a in x if a > 0]",
        "TypeError",
        "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.",
        "Use tf.cond or tf.where, or leave graph mode.",
    ),
    "elements taken apart in a comprehension": (
        "rows = [(1, 2, 3)]\nys = [a for a, b in rows]",
        "ValueError",
        "too many values to unpack (expected 2)",
        "",
    ),
    "too many by position for a static method": (
        "class A:\n    @staticmethod\n    def f(a, *, b=1): return a\nA().f(1, 2)",
        "TypeError",
        "A.f() takes 1 positional argument but 2 were given",
        "A.f with 2 arguments by position, and line 3 defines it with 1: a, and by name b=.",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_explained(name: str) -> None:
    text, type_, message, said = MESSAGES[name]
    line = len(text.removesuffix("    pass").splitlines())
    trace = Trace(text, failure=Failure(type_, message, line, "", (line,)))
    words = explain_error(trace)
    assert said in words
    assert bool(words) == bool(said)
    assert len(re.findall(r"\.(?= [A-Z]|$)", words)) <= 3


GENERATOR = "data = {'a': 1}\ndef gen():\n    yield data['b']\nfor x in ds:\n    pass"


def test_the_line_of_python_code_that_an_op_called() -> None:
    """The error ends at the op; its message has the traceback of the code that the op called."""
    frames = '  File "snippet.py", line 3, in gen\n    yield data[k]\n'
    message = CALLED.format(raised="KeyError: 'b'", frames=frames)
    failure = Failure("UnknownError", message, 4, "", (4,))
    trace = Trace(GENERATOR, failure=failure, filename="snippet.py")
    assert innermost_line(trace, failure) == 3
    words = explain_error(trace)
    assert "ran the generator of a dataset in Python for line 4" in words
    assert "raised KeyError: 'b' on line 3" in words


def test_the_line_of_python_code_that_an_op_called_in_a_converted_function() -> None:
    frames = '  File "snippet.py", line 3, in gen\n    yield data[k]\n'
    message = CALLED.format(raised="UnknownError: KeyError: 'b'", frames=frames)
    message = "in user code:\n\n" + "\n".join(f"    {each}" for each in message.splitlines())
    failure = Failure("UnknownError", message, 4, "", (4,))
    words = explain_error(Trace(GENERATOR, failure=failure, filename="snippet.py"))
    assert "raised KeyError: 'b' on line 3" in words


def test_a_long_message_without_a_traceback_is_read_once() -> None:
    """Each of its lines may begin an exception: looked at for each it would take minutes."""
    message = 'File "script_ops.py", line 269, in __call__\n' + "abc: def\n" * 100_000
    assert raised_by_called(Failure("UnknownError", message, 4, "", (4,)), "snippet.py") is None


def test_what_the_names_of_an_assert_held() -> None:
    s = Script("g = tape.gradient(y, x)\nassert g.shape == (3,)")
    g = s.tensor((2,), value=[2.0, 4.0])
    s.bind("g", g, line=1)
    words = explain_error(s.trace(), Failure("AssertionError", "", 2, "", (2,)))
    assert "found g.shape == (3,) to be false: g is [2., 4.] (shape (2,))" in words


def test_an_assert_in_a_loop_held_what_a_later_line_gave() -> None:
    s = Script("a = 1.0\nfor _ in x:\n    assert a < 5\n    a *= 9.0\ndef f():\n    a = 2.0")
    for line, value in ((1, 1.0), (4, 9.0), (6, 2.0)):  # the last one is another a
        s.bind("a", s.tensor((), value=value), line=line)
    words = explain_error(s.trace(), Failure("AssertionError", "", 3, "", (3,)))
    assert "a is 9.0. " in words


def test_names_in_the_body_of_a_loop_were_not_given_to_its_head() -> None:
    s = Script("for x in ds:\n    loss = loss + x")
    s.bind("loss", s.tensor((), value=3.0), line=2)
    message = "Unknown image file format. [Op:IteratorGetNext] name: "
    words = explain_error(s.trace(), Failure("InvalidArgumentError", message, 1, "", (1,)))
    assert "Line 1 runs IteratorGetNext, which cannot work" in words
    assert "loss" not in words


HELD: dict[str, tuple[str, str, str, list[e.HeldValue], str]] = {
    "a key that has nothing to do with the loop": (
        "for x, y in loader:\n    z = config['nme']",
        "KeyError",
        "'nme'",
        [
            e.HeldValue("loader", "Loader", keys=["rows"]),
            e.HeldValue("config", "dict", size=1, keys=["name"]),
        ],
        "Line 2 takes the element nme of config, a dict whose keys are name. Write name",
    ),
    "a key that is spelt in another way": (
        "y = batch['images'] @ w",
        "KeyError",
        "'images'",
        [e.HeldValue("batch", "dict", size=2, keys=["image", "label"])],
        "takes the element images of batch, a dict whose keys are image, label. Write image",
    ),
    "a key of another dict": (
        "y = batch['image'] + f(x)",
        "KeyError",
        "'images'",
        [e.HeldValue("batch", "dict", size=2, keys=["image", "label"])],
        "When line 1 raised this, batch has the keys image, label.",
    ),
    "a place beyond the end, in a loop": (
        "for i in range(n):\n    x = self.w[i] + b[i]",
        "IndexError",
        "list index out of range",
        [
            e.HeldValue("i", "int", "3"),
            e.HeldValue("b", "list", size=9),
            e.HeldValue("self.w", "ListWrapper", size=3),
        ],
        "takes element 3 of self.w (i is 3), which has 3 elements, numbered 0 to 2. "
        "Let the loop on line 1 go over range(len(self.w)).",
    ),
    "an element of what is empty": (
        "x = losses[k - 1]",
        "IndexError",
        "list index out of range",
        [e.HeldValue("losses", "list", size=0), e.HeldValue("k", "int", "0")],
        "takes element -1 of losses (k - 1 is -1), which is empty",
    ),
    "a key of a dict in another one": (
        'n = settings["model"]["hidden"]',
        "KeyError",
        "'hidden'",
        [
            e.HeldValue("settings", "dict", size=2, keys=["model", "rate"]),
            e.HeldValue("settings['model']", "dict", size=1, keys=["hidden_units"]),
        ],
        "of settings['model'], a dict whose keys are hidden_units. Write hidden_units in place",
    ),
    "a field of an object": (
        "class Settings:\n    steps: int = 3\nrange(s.n_steps)",
        "AttributeError",
        "'Settings' object has no attribute 'n_steps'",
        [],
        "It has steps: write that",
    ),
    "an argument that is None by default": (
        "def __init__(self, model, opt=None, *, k=1):\n    self.opt = opt\nself.opt.apply(g)",
        "AttributeError",
        "'NoneType' object has no attribute 'apply'",
        [e.HeldValue("self.opt", "NoneType", "None")],
        "line 2 gives it the argument opt of __init__ (line 1), whose default is None",
    ),
    "half of a whole number as a size": (
        "y = tf.reshape(x, [2, n])",
        "InvalidArgumentError",
        "Value for attr 'Tshape' of float is not in the list of allowed values: int32, int64\n\t; "
        "NodeDef: {{node Reshape}}; Op<name=Reshape",
        [e.HeldValue("n", "float", "3.0")],
        "gives Reshape n, which is 3.0, a float, where it takes",
    ),
    "half of a whole number beside another float": (
        "y = tf.reshape(x * scale, [n / 2, 2])",
        "InvalidArgumentError",
        "Value for attr 'Tshape' of float is not in the list of allowed values: int32, int64\n\t; "
        "NodeDef: {{node Reshape}}; Op<name=Reshape",
        [e.HeldValue("n", "int", "4"), e.HeldValue("scale", "float", "0.5")],
        "gives Reshape the float n / 2, where it takes int32, int64 only",
    ),
    "a name that another function gives None": (
        "def start(step=None):\n    q = step\nz = q + 1",
        "TypeError",
        "unsupported operand type(s) for +: 'NoneType' and 'int'",
        [e.HeldValue("q", "NoneType", "None")],
        "Line 3 works with q, which is None then. Look at what gives it its value",
    ),
    "a method that was given a tensor's name": (
        "def learn(self, x):\n    self.loss = self.loss(x)",
        "TypeError",
        "'tensorflow.python.framework.ops.EagerTensor' object is not callable",
        [e.HeldValue("self.loss", "EagerTensor", shape=[], dtype="float32")],
        "calls self.loss and gives the same name to what comes back",
    ),
    "an argument of a function of the snippet": (
        "def step(x, y, optimizer): pass\nstep(x, y)",
        "TypeError",
        "step() missing 1 required positional argument: 'optimizer'",
        [],
        "calls step without optimizer. The definition on line 1 takes x, y, optimizer.",
    ),
    "pictures of which one was halved": (
        "y = join([a, b])",
        "ValueError",
        "A `Concatenate` layer requires inputs with matching shapes except for the concatenation "
        "axis. Received: input_shape=[(None, 30, 30, 8), (None, 31, 31, 8)]",
        [],
        "An odd size that is halved",
    ),
    "a tuple that is asked for a key": (
        "loss = f(batch['x'] @ w)",
        "TypeError",
        "tuple indices must be integers or slices, not str",
        [e.HeldValue("batch", "tuple", size=2), e.HeldValue("w", "list", size=2)],
        "takes an element of batch, a tuple by a str, and the elements of a tuple have numbers",
    ),
    "the next element of a list": (
        "x = next(batches)",
        "TypeError",
        "'list' object is not an iterator",
        [],
        "Make an iterator of it once",
    ),
    "texts among numbers": (
        "y = x @ w",
        "InvalidArgumentError",
        "Value for attr 'T' of string is not in the list of allowed values: half, float\n\t; "
        "NodeDef: {{node MatMul}}; Op<name=MatMul",
        [],
        "gives MatMul a tensor of texts, and it takes numbers",
    ),
    "an argument of an optimizer that is misspelt": (
        "opt = tf.keras.optimizers.Adam(beta1=0.9)",
        "ValueError",
        "Argument(s) not recognized: {'beta1': 0.9}",
        [
            e.HeldValue(
                "tf.keras.optimizers.Adam", "type", takes="(learning_rate=0, beta_1=0, **kwargs)"
            )
        ],
        "an argument beta1, which it does not take. Write beta_1=",
    ),
    "a function that returns a value in some cases only": (
        "def f(x, kind):\n    if kind: return x\nloss = f(1.0, '')\ny = loss * 2.0",
        "TypeError",
        "unsupported operand type(s) for *: 'NoneType' and 'float'",
        [e.HeldValue("loss", "NoneType", "None")],
        "f (line 1) returned None to line 3. It does so where it comes to its end",
    ),
    "an array taken apart into two names": (
        "k, b = dense.get_weights()",
        "ValueError",
        "not enough values to unpack (expected 2, got 1)",
        [],
        "takes dense.get_weights() apart into 2 names, and it has 1 part. Print it,",
    ),
    "a loss that Keras gives two arguments": (
        "class Own(tf.keras.losses.Loss):\n    def call(self, p): return p\nOwn()(y, p)",
        "TypeError",
        "Own.call() takes 2 positional arguments but 3 were given",
        [],
        "Own.call with 2 arguments by position, and line 2 defines it with 1: p. Keras gives",
    ),
    "a list of layers that is called": (
        "return self.blocks(x)",
        "TypeError",
        "Exception encountered when calling MLP.call().\n\n'TrackedList' object is not callable",
        [e.HeldValue("self.blocks", "TrackedList", size=2)],
        "calls self.blocks, which holds 2 elements in a list, and a list is no function.",
    ),
    "a text and a number": (
        "print('loss: ' + loss)",
        "TypeError",
        'can only concatenate str (not "numpy.float32") to str',
        [],
        "adds a text and a value of type numpy.float32. Let print write both, as in print('loss:',",
    ),
    "a loop that takes keys for pairs": (
        "for name, g in grads:\n    w[name].assign_sub(g)",
        "KeyError",
        "'w'",
        [
            e.HeldValue("grads", "dict", size=2, keys=["wx", "wh"]),
            e.HeldValue("w", "dict", size=2, keys=["wx", "wh"]),
        ],
        "The loop on line 1 goes over grads, a dict, and that gives its keys",
    ),
    "class numbers where rows are needed": (
        "loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)",
        "InvalidArgumentError",
        "logits and labels must be broadcastable: logits_size=[4,3] labels_size=[1,4] "
        "[Op:SoftmaxCrossEntropyWithLogits]",
        [],
        "as tf.one_hot(labels, 3) gives",
    ),
    "a method of another library's optimizers": (
        "opt.zero_grad()",
        "AttributeError",
        "'SGD' object has no attribute 'zero_grad'",
        [],
        "leave the line out",
    ),
    "a name that meant None": (
        "y = x * scale",
        "TypeError",
        "unsupported operand type(s) for *: 'float' and 'NoneType'",
        [e.HeldValue("x", "float", "0.5"), e.HeldValue("scale", "NoneType", "None")],
        "works with scale, which is None then",
    ),
    "an attribute that a method which did not run gives": (
        "class Scale(tf.keras.layers.Layer):\n    def built(self, s): self.w = 1\n"
        "    def call(self, x): return x @ self.w",
        "AttributeError",
        "'Scale' object has no attribute 'w'",
        [],
        "its method built (line 2) gives it, and that has not done so. Keras runs a method named "
        "build by itself",
    ),
    "an exception of Python's that nothing else explains": (
        "n = compute(sizes, rate)",
        "ValueError",
        "no such thing",
        [
            e.HeldValue("sizes", "tuple", size=1),
            e.HeldValue("rate", "float", "0.5"),
            e.HeldValue("x", "str"),
        ],
        "When line 1 raised this, rate is 0.5, sizes is a tuple of 1 element.",
    ),
    "too many arguments of a function of TensorFlow": (
        "y = tf.pow(x, 2, 3, 4)",
        "TypeError",
        "Too many arguments were given. Expected 3 but got 4.",
        [e.HeldValue("tf.pow", "function", takes="(x, y, name=0)")],
        "gives tf.pow 4 arguments by position, and it takes x, y, name.",
    ),
    "an argument that a function of TensorFlow lacks": (
        "t = tf.one_hot(y)",
        "TypeError",
        "Missing required positional argument",
        [e.HeldValue("tf.one_hot", "function", takes="(indices, depth, on_value=0)")],
        "calls tf.one_hot without depth. It takes indices, depth, on_value.",
    ),
    "tensors that are no list": (
        "y = tf.concat(a, b, axis=0)",
        "TypeError",
        "Got multiple values for argument 'axis'",
        [e.HeldValue("tf.concat", "function", takes="(values, axis, name=0)")],
        "twice: by name, and b by position. a and b go into one argument, values, as a list: "
        "tf.concat([a, b], axis=0).",
    ),
    "a shape in pieces": (
        "w = np.zeros(3, n)",
        "TypeError",
        "Cannot interpret '4' as a data type",
        [
            e.HeldValue("np.zeros", "builtin_function_or_method", takes="(shape, dtype=0)"),
            e.HeldValue("n", "int", "4"),
        ],
        "calls np.zeros with shape = 3, dtype = n (4). 3 and n go into one argument, shape, as a "
        "list: np.zeros([3, n]).",
    ),
    "a call of damaged parameters": (
        "f(x)",
        "ValueError",
        "no such thing",
        [e.HeldValue("f", "function", takes="(a b c)"), e.HeldValue("x", "int", "4")],
        "When line 1 raised this, x is 4.",
    ),
    "a text that is multiplied": (
        "v = v - rate * g",
        "TypeError",
        "can't multiply sequence by non-int of type 'float'",
        [e.HeldValue("rate", "str", "'0.1'")],
        "computes with rate, which is a text. Make a number of it first",
    ),
    "a list that is None since an element was added": (
        "losses = []\nlosses = losses.append(1.0)\nlosses.append(2.0)",
        "AttributeError",
        "'NoneType' object has no attribute 'append'",
        [e.HeldValue("losses", "NoneType", "None")],
        "Write losses.append(1.0) on a line of its own",
    ),
    "a loop that never ran": (
        "for b in batches:\n    count += 1\nprint(total / count)",
        "ZeroDivisionError",
        "float division by zero",
        [e.HeldValue("count", "int", "0"), e.HeldValue("batches", "list", size=0)],
        "count is 0. The loop on line 1 goes over batches, which is empty.",
    ),
    "a number of fit that needs data": (
        "best = logs['val_loss']",
        "KeyError",
        "'val_loss'",
        [e.HeldValue("logs", "dict", size=1, keys=["loss"])],
        "fit of Keras gives numbers of val_ only if it is given validation_data",
    ),
    "single numbers that are taken apart": (
        "for i, x in losses: pass",
        "TypeError",
        "cannot unpack non-iterable numpy.float32 object",
        [],
        "one of them is a single float32. Give it one name; for i, x in enumerate(losses)",
    ),
    "an element that a tensor does not have": (
        "y = f(states[:, 5])",
        "InvalidArgumentError",
        "slice index 5 of dimension 1 out of bounds. [Op:StridedSlice] name: strided_slice/",
        [e.HeldValue("states", "EagerTensor", shape=[2, 5, 8], dtype="float32")],
        "takes element 5 along axis 1 of states, whose shape is (2, 5, 8): it has 5 elements there",
    ),
    "a lambda that gets a pair as one argument": (
        "best = min(log, key=lambda s, l: l)",
        "TypeError",
        "<lambda>() missing 1 required positional argument: 'l'",
        [],
        "gives min a lambda with the parameters s, l, and it is called with another number",
    ),
    "an argument that a method of Python's lacks": (
        "out.insert(total)",
        "TypeError",
        "insert expected 2 arguments, got 1",
        [e.HeldValue("out.insert", "builtin_function_or_method", takes="(index, object, /)")],
        "calls out.insert without object. It takes index, object.",
    ),
    "a class as a callback": (
        "m.fit(x, y, callbacks=[tf.keras.callbacks.EarlyStopping])",
        "TypeError",
        "Callback.set_model() missing 1 required positional argument: 'model'",
        [e.HeldValue("tf.keras.callbacks.EarlyStopping", "type", takes="(monitor=0)")],
        "Make an object: tf.keras.callbacks.EarlyStopping().",
    ),
    "a gradient without sources": (
        "g = tape.gradient(y)",
        "TypeError",
        "GradientTape.gradient() missing 1 required positional argument: 'sources'",
        [e.HeldValue("tape.gradient", "method", takes="(target, sources, unconnected=0)")],
        "calls tape.gradient without sources. It takes target, sources, unconnected.",
    ),
    "names of two dtypes": (
        "y = tf.matmul(Xn, w)",
        "InvalidArgumentError",
        "cannot compute MatMul as input #1(zero-based) was expected to be a double tensor but is a "
        "float tensor [Op:MatMul] name: ",
        [
            e.HeldValue("Xn", "ndarray", shape=[2, 2], dtype="float64"),
            e.HeldValue("w", "ResourceVariable", shape=[2, 2], dtype="float32"),
        ],
        "combines Xn of dtype float64 with w of dtype float32. TensorFlow never converts dtypes by "
        "itself. Make both of one dtype: tf.cast(Xn, tf.float32)",
    ),
    "a small array": (
        "i = np.random.choice(3, p=probs)",
        "ValueError",
        "probabilities do not sum to 1",
        [
            e.HeldValue("np.random.choice", "method", takes="(a, size=0, replace=0, p=0)"),
            e.HeldValue("probs", "ndarray", "[0.2, 0.9]", shape=[2], dtype="float64"),
        ],
        "calls np.random.choice with a = 3, p = probs ([0.2, 0.9] (shape (2,))).",
    ),
    "an operand with an axis missing": (
        "c = data - means",
        "ValueError",
        "operands could not be broadcast together with shapes (4,6) (4,) ",
        [
            e.HeldValue("data", "ndarray", shape=[4, 6], dtype="float64"),
            e.HeldValue("means", "ndarray", shape=[4], dtype="float64"),
        ],
        "means[..., None], of shape [4, 1], fits; else look what each axis means.",
    ),
    "an operand with an axis missing in the middle": (
        "mu = enc(x)\nc = mu + seq",
        "InvalidArgumentError",
        "Exception encountered when calling Net.call().\n\n\x1b[1mIncompatible shapes: [4,6] vs. "
        "[4,5,6] [Op:AddV2] name: \x1b[0m\n\nArguments received by Net.call():\n  x=1",
        [
            e.HeldValue("mu", "EagerTensor", shape=[4, 6], dtype="float32"),
            e.HeldValue("seq", "EagerTensor", shape=[4, 5, 6], dtype="float32"),
        ],
        "mu[:, None], of shape [4, 1, 6], fits; else look what each axis means.",
    ),
    "a text that multiplies a tensor": (
        "for x in d:\n    0\nw * x",
        "AttributeError",
        "'numpy.float32' object has no attribute '__index__'",
        [e.HeldValue("w", "ResourceVariable"), e.HeldValue("x", "str", "'a'")],
        "Line 3 computes with x, which is a text.",
    ),
    "an element of a variable that is assigned": (
        "v = tf.Variable([1.0, 2.0])\nfor w in v:\n    w.assign_sub(1.0)",
        "AttributeError",
        "'tensorflow.python.framework.ops.EagerTensor' object has no attribute 'assign_sub'",
        [e.HeldValue("w", "EagerTensor", shape=[], dtype="float32")],
        "which also keeps the gradient. w comes from the loop on line 2.",
    ),
    "a name that meant a variable": (
        "x = tf.Variable(1.0)\nx = x - 1.0\nx.assign(2.0)",
        "AttributeError",
        "'tensorflow.python.framework.ops.EagerTensor' object has no attribute 'assign'",
        [e.HeldValue("x", "EagerTensor", shape=[], dtype="float32")],
        "If the name meant one before, change that in place, v.assign_sub(…); else",
    ),
    "more parts than names": (
        "p, q = parts",
        "ValueError",
        "too many values to unpack (expected 2)",
        [e.HeldValue("parts", "list", size=3)],
        "Line 1 takes parts apart into 2 names, and it has 3 parts.",
    ),
    "operands of other sizes": (
        "x = img\nh = conv(x)\ny = h + x",
        "InvalidArgumentError",
        "Incompatible shapes: [1,16,16,3] vs. [1,32,32,3] [Op:AddV2] name: ",
        [
            e.HeldValue("h", "EagerTensor", shape=[1, 16, 16, 3], dtype="float32"),
            e.HeldValue("x", "EagerTensor", shape=[1, 32, 32, 3], dtype="float32"),
        ],
        "along axes 1 and 2. h is made on line 2 as conv(x), from x of shape (1, 32, 32, 3); x is",
    ),
    "a mask of rows for scores of pairs": (
        "s = tf.where(mask, s, -1e9)",
        "InvalidArgumentError",
        "condition [4,10], then [4,10,10], and else [] must be broadcastable [Op:SelectV2]",
        [e.HeldValue("tf.where", "function", takes="(condition, x=0, y=0, name=0)")],
        "mask[:, None], of shape [4, 1, 10], or mask[..., None], of shape [4, 10, 1], fits",
    ),
    "an axis that is not given": (
        "a, b = tf.split(h, 2)",
        "InvalidArgumentError",
        "Number of ways to split should evenly divide the split dimension, but got split_dim 0 "
        "(size = 5) and num_split 2 [Op:Split] name: split",
        [
            e.HeldValue(
                "tf.split",
                "function",
                takes="(value, num_or_size_splits, axis=0, num=0, name=0)",
                defaults={"axis": 0},
            ),
            e.HeldValue("h", "EagerTensor", shape=[5, 6], dtype="float32"),
        ],
        "num_or_size_splits = 2, axis = 0 by default.",
    ),
    "a weight whose arguments have no names": (
        'self.w = self.add_weight((3, 4), "zeros", True)',
        "ValueError",
        "Invalid dtype: True",
        [e.HeldValue("self.add_weight", "method", takes="(*args, shape=0, dtype=0, name=0)")],
        "without the names of its parameters, so one of them may have come to dtype.",
    ),
    "a ragged tensor": (
        "y = tf.matmul(rt, w)",
        "InvalidArgumentError",
        "The matrices in `a` and `b` may not be ragged in their innermost dimension.",
        [e.HeldValue("rt", "RaggedTensor"), e.HeldValue("tf.matmul", "f", takes="(a, b)")],
        "rt is a RaggedTensor: its rows have different lengths. rt.to_tensor() fills",
    ),
    "both losses of a function": (
        "def losses(a):\n    return a, 2 * a\nboth = losses(x)\ny = both / 2",
        "TypeError",
        "unsupported operand type(s) for /: 'tuple' and 'int'",
        [e.HeldValue("both", "tuple", size=2)],
        "returns on line 2: a tuple of a and 2 * a. Give each a name, as in a, part2 = losses(x)",
    ),
    "gradients and variables in dicts": (
        "opt.apply_gradients(zip(grads, params))",
        "AttributeError",
        "'str' object has no attribute '_unique_id'",
        [e.HeldValue(n, "dict", size=2, keys=["w", "b"]) for n in ("grads", "params")],
        "zip goes over their keys. Give the gradient and the variable of each key: [(grads[key], "
        "params[key]) for key in params].",
    ),
    "inputs of a model that takes them in one tuple": (
        "class M(tf.keras.Model):\n    def call(self, inputs):\n        x, n = inputs\ny = m(a, b)",
        "TypeError",
        "too many positional arguments",
        [e.HeldValue("m", "M", takes="(inputs)")],
        "call (line 2) takes them out of inputs, so give them as one tuple: m((a, b)).",
    ),
    "both results of a layer": (
        "h = gru(x)\ny = dense(h)",
        "ValueError",
        'Layer "dense" expects 1 input(s), but it received 2 input tensors. Inputs received: []',
        [e.HeldValue("h", "tuple", size=2)],
        "Line 1 gives h the 2 results of gru(x), a tuple. Give each a name there, or take",
    ),
    "a whole number for a root": (
        "x = x * tf.sqrt(self.d)",
        "InvalidArgumentError",
        "Value for attr 'T' of int32 is not in the list of allowed values: half, float\n\t; "
        "NodeDef: {{node Sqrt}}; Op<name=Sqrt; signature=x:T -> y:T> [Op:Sqrt] name: ",
        [
            e.HeldValue("self.d", "int", "8"),
            e.HeldValue("tf.sqrt", "function", takes="(x, name=0)"),
        ],
        "gives Sqrt self.d, which is 8, a whole number, and it takes float16, float32 only. Cast "
        "it, as in tf.cast(self.d, tf.float32)",
    ),
    "a tensor and a variable for zip": (
        "opt.apply_gradients(zip(g, w))",
        "TypeError",
        "Cannot iterate over a scalar tensor.",
        [e.HeldValue(name, "Tensor", shape=[], dtype="float32") for name in ("g", "w")],
        "zip goes over their elements. Put each into a list: zip([g], [w]).",
    ),
    "a batch of train_step": (
        "class M(tf.keras.Model):\n    def train_step(self, data):\n        y = self.f(data)",
        "ValueError",
        'Layer "f" expects 1 input(s), but it received 2 input tensors. Inputs received: []',
        [e.HeldValue("data", "tuple", size=2)],
        "data is all that fit was given, the inputs and the labels. Take them apart first: x, y = "
        "data.",
    ),
    "a sum that begins with a whole number": (
        "total = 0\nfor t in tf.range(3):\n    total += x",
        "TypeError",
        "Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of argument 'x'.",
        [e.HeldValue("total", "SymbolicTensor", shape=[], dtype="int32")],
        "combines total, which line 1 begins with the whole number 0, with a tensor of floats.",
    ),
    "a loss of several elements that is printed": (
        "n = float(loss)",
        "TypeError",
        "only 0-dimensional arrays can be converted to Python scalars",
        [e.HeldValue("loss", "EagerTensor", shape=[6], dtype="float32")],
        "or of an array that has axes (loss has shape (6,) and dtype float32). Take one element",
    ),
    "two lists that are multiplied": (
        "loss = lp * returns",
        "TypeError",
        "can't multiply sequence by non-int of type 'list'",
        [e.HeldValue(name, "list", size=5) for name in ("lp", "returns")],
        "Line 1 multiplies lp by returns, and Python multiplies no lists element by element.",
    ),
    "a state for another number of units": (
        "out, state = self.gru(x, initial_state=hidden)",
        "InvalidArgumentError",
        "Matrix size-incompatible: In[0]: [2,32], In[1]: [16,48] [Op:MatMul] name: ",
        [e.HeldValue("hidden", "EagerTensor", shape=[2, 32], dtype="float32")],
        "Make hidden with 16 elements along its last axis, or what it is multiplied with",
    ),
    "pictures for a layer of rows": (
        "h = tf.matmul(x, weights['h1'])",
        "InvalidArgumentError",
        "Matrix size-incompatible: In[0]: [8,28,28], In[1]: [784,256] [Op:BatchMatMulV2]",
        [
            e.HeldValue("x", "EagerTensor", shape=[8, 28, 28], dtype="float32"),
            e.HeldValue("weights['h1']", "EagerTensor", shape=[784, 256], dtype="float32"),
        ],
        "x fits with its last axes in one: tf.reshape(x, [-1, 784]).",
    ),
    "a loss among the gradients": (
        "def grad(x):\n    return loss, grads\ng = grad(x)\nopt.apply_gradients(zip(g, ws))",
        "InvalidArgumentError",
        "Shapes of all inputs must match: values[0].shape = [2,1] != values[1].shape = [1]",
        [e.HeldValue("g", "tuple", size=2, kinds=["EagerTensor of shape ()", "list"])],
        "among them is a list. Line 3 gives g all that grad returns on line 2",
    ),
    "an element of a shape that is no list of shapes": (
        "class L:\n    def build(self, shapes):\n        n = shapes[0][-1]",
        "TypeError",
        "'int' object is not subscriptable",
        [
            e.HeldValue("shapes[0]", "int", "5"),
            e.HeldValue("shapes", "tuple", size=2, kinds=["int"]),
        ],
        "the first argument of call, so its last axis is shapes[-1].",
    ),
    "a weight for another number of inputs": (
        "h = x @ self.w",
        "InvalidArgumentError",
        "Matrix size-incompatible: In[0]: [32,8], In[1]: [10,16] [Op:MatMul] name: ",
        [
            e.HeldValue("x", "EagerTensor", shape=[32, 8], dtype="float32"),
            e.HeldValue("self.w", "ResourceVariable", shape=[10, 16], dtype="float32"),
        ],
        "If x is right, make self.w with the shape [8, 16], or reshape x.",
    ),
    "an attribute that another value on the line has": (
        "library(y.shape, k)",
        "AttributeError",
        "'list' object has no attribute 'shape'",
        [e.HeldValue("y", "EagerTensor", shape=[2], dtype="float32")],
        "Line 1 leads to code that asks a value of type list for shape (y has shape (2,)",
    ),
    "a letter of einsum for two lengths": (
        "tf.einsum('bi,ji->bj', x, w)",
        "InvalidArgumentError",
        "Expected dimension 3 at axis 1 of the input shaped [3,4] but got dimension 4 [Op:Einsum]",
        [
            e.HeldValue("x", "EagerTensor", shape=[2, 3], dtype="float32"),
            e.HeldValue("w", "ResourceVariable", shape=[3, 4], dtype="float32"),
        ],
        "the letter i stands for axis 1 of x (3 long) and axis 1 of w (4 long). A letter stands "
        'for axes of one length. "bi,ij->bj" would fit.',
    ),
    "a term of einsum with too few letters": (
        "tf.einsum('bi,ij->bj', x, w)",
        "InvalidArgumentError",
        "Expected input 0 to have rank 2 but got: 3 [Op:Einsum]",
        [
            e.HeldValue("x", "EagerTensor", shape=[2, 5, 3], dtype="float32"),
            e.HeldValue("w", "ResourceVariable", shape=[3, 4], dtype="float32"),
        ],
        "the term bi stands for x, which has the shape (2, 5, 3).",
    ),
    "operands of einsum in a list": (  # the term of v is not the second one
        "tf.einsum('ab,bcd,d->ac', *pair, v)",
        "InvalidArgumentError",
        "Expected dimension 5 at axis 2 of the input shaped [3,4,6] but got 6 [Op:Einsum]",
        [e.HeldValue("v", "ResourceVariable", shape=[5], dtype="float32")],
        "Line 1 runs Einsum, which cannot work with what it got: Expected dimension 5 at axis 2",
    ),
    "arguments of strategy.run that are no tuple": (
        "strategy.run(step, args=x)",
        "ValueError",
        "positional args must be a list or tuple, got <class 'EagerTensor'>",
        [],
        "strategy.run(step, args=(x,))",
    ),
    "numbers of elements for gather_nd": (
        "tf.gather_nd(q, actions)",
        "InvalidArgumentError",
        "index innermost dimension length must be <= params rank; saw: 5 vs. 2 [Op:GatherNd]",
        [
            e.HeldValue("q", "EagerTensor", shape=[5, 2], dtype="float32"),
            e.HeldValue("actions", "EagerTensor", shape=[5], dtype="int32"),
        ],
        "is 5 long, and it names one element of a tensor of 2 axes: at most 2 numbers",
    ),
    "an argument that the message names": (
        "tf.tile(a, 2)",
        "InvalidArgumentError",
        "Expected multiples to be 1-D, but got shape [] [Op:Tile]",
        [
            e.HeldValue(
                "tf.tile",
                "function",
                takes="(input, multiples)",
                says="    input: Can be of any rank.\n    multiples: 1-D.\n",
            )
        ],
        "the documentation of tf.tile says of multiples: 1-D.",
    ),
    "a key of a dict after a dot": (
        "rate = cfg.model.rate",
        "AttributeError",
        "'dict' object has no attribute 'rate'",
        [e.HeldValue("cfg.model", "dict", size=1, keys=["rate"])],
        "asks cfg.model, of type dict, for rate, which it does not have. A dict gives what it",
    ),
    "a None among the values of a loop": (
        "for g, v in pairs:\n    v.assign_sub(g * 0.1)",
        "TypeError",
        "unsupported operand type(s) for *: 'NoneType' and 'float'",
        [e.HeldValue("g", "NoneType", "None")],
        "the loop on line 1 goes over values of which one is None",
    ),
    "the result of a function that returns in some cases only": (
        "def f(x):\n    if x: return x\ny = 2.0 * f(z)",
        "TypeError",
        "unsupported operand type(s) for *: 'float' and 'NoneType'",
        [e.HeldValue("z", "float", "0.0")],
        "works with f(z), which is None: f (line 1) returned None to line 3.",
    ),
    "an operator in a compiled function": (
        "return tf.reduce_sum(outs.stack() * tf.ones([4, 2]))",
        "ValueError",
        "Dimensions must be equal, but are 3 and 4 for '{{node mul}} = Mul[T=DT_FLOAT](a, b)' with "
        "input shapes: [3,2], [4,2].",
        [],
        "Mul got outs.stack() of shape [3, 2] and tf.ones([4, 2]) of shape [4, 2]",
    ),
    "the smallest of nothing": (
        "best = min(losses)",
        "ValueError",
        "min() iterable argument is empty",
        [],
        "asks for the min of nothing",
    ),
    "arrays of different shapes": (
        "a = np.stack(rows)",
        "ValueError",
        "all input arrays must have the same shape",
        [
            e.HeldValue("np.stack", "function", takes="(arrays, axis=0)"),
            e.HeldValue(
                "rows", "list", size=4, kinds=["ndarray of shape (3,)", "ndarray of shape (2,)"]
            ),
        ],
        "arrays = rows (a list of 4 elements: ndarray of shape (3,), ndarray of shape (2,))",
    ),
    "a method whose object is gone": (
        "def f(self): return self.w",
        "AttributeError",
        'in user code:\n\n    File "/a/b.py", line 1, in f  *\n        return self.w\n\n    '
        "AttributeError: 'NoneType' object has no attribute 'w'\n",
        [e.HeldValue("self", "NoneType", "None")],
        "a method under tf.function whose object is gone",
    ),
    "a function that is made and not returned": (
        "def make():\n    def f(x): return x\nf = make()\nf(1.0)",
        "TypeError",
        "'NoneType' object is not callable",
        [e.HeldValue("f", "NoneType", "None")],
        "make (line 1) returns nothing to line 3",
    ),
    "a key that can change": (
        "seen[w] = 1",
        "TypeError",
        "unhashable type: 'numpy.ndarray'",
        [e.HeldValue("seen", "dict", size=0)],
        "Line 1 uses a value of type ndarray as the key",
    ),
    "a tensor whose value is not known": (
        "raise ValueError(x)",
        "ValueError",
        "x",
        [e.HeldValue("x", "EagerTensor", "", 7, [2, 3], "float32")],
        "When line 1 raised this, x has shape (2, 3).",
    ),
    "a key for a variable": (
        "for p in params:\n    p.assign(1.0)",
        "AttributeError",
        "'str' object has no attribute 'assign'",
        [
            e.HeldValue("p", "str", value="'w'"),
            e.HeldValue("params", "dict", size=1, keys=["w"], kinds=["ResourceVariable"]),
        ],
        "The loop on line 1 goes over params, a dict, and that gives its keys.",
    ),
    "a text that comes from no dict": (
        "for p in names:\n    p.assign(1.0)",
        "AttributeError",
        "'str' object has no attribute 'assign'",
        [e.HeldValue("p", "str"), e.HeldValue("names", "list", size=1)],
        "Line 2 asks p, which is a text, for assign, which it does not have. p comes from",
    ),
    "a dict of variables for one of them": (
        "p.assign_sub(g)",
        "AttributeError",
        "'dict' object has no attribute 'assign_sub'",
        [e.HeldValue("p", "dict", size=1, keys=["w"], kinds=["ResourceVariable of shape (2,)"])],
        "What it holds are tensors, which have it: p['w'].assign_sub.",
    ),
    "a mask in a longer operand": (
        "y = logits + (1.0 - mask) * big",
        "InvalidArgumentError",
        "Incompatible shapes: [3,4,6,6] vs. [3,6] [Op:AddV2] name: ",
        [
            e.HeldValue("logits", "EagerTensor", shape=[3, 4, 6, 6], dtype="float32"),
            e.HeldValue("mask", "EagerTensor", shape=[3, 6], dtype="float32"),
            e.HeldValue("big", "float", value="-1e9"),
        ],
        "mask[:, None, None], of shape [3, 1, 1, 6]",
    ),
    "labels among what fit is given": (
        "m.fit(x, y, verbose=0)",
        "ValueError",
        "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target.shape=(16, 5),"
        " output.shape=(16, 5)",
        [
            e.HeldValue("x", "ndarray", shape=[64, 9], dtype="float32"),
            e.HeldValue("y", "ndarray", shape=[64, 5], dtype="float32"),
        ],
        "predictions of shape (16, 5) (y has shape (64, 5)).",
    ),
    "a reshape of several samples": (
        "tf.reshape(h, [-1, 392])",
        "InvalidArgumentError",
        "Input to reshape is a tensor with 1728 values, but the requested shape requires a "
        "multiple of 392 [Op:Reshape]",
        [
            e.HeldValue("tf.reshape", "function", takes="(tensor, shape, name=0)"),
            e.HeldValue("h", "EagerTensor", shape=[6, 6, 6, 8], dtype="float32"),
        ],
        "Each of the 6 rows along its first axis has 288 elements.",
    ),
    "a condition of whole numbers": (
        "tf.where(mask, a, b)",
        "InvalidArgumentError",
        "cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor but is a "
        "int32 tensor [Op:SelectV2] name: ",
        [e.HeldValue("mask", "EagerTensor", shape=[3], dtype="int32")],
        "with mask of dtype int32. TensorFlow never converts dtypes by itself. Make both of one "
        "dtype: tf.cast(mask, tf.bool)",
    ),
    "an object of a class whose call returns nothing": (
        "class D(Model):\n    def call(self, x):\n        self.d(x)\na, b = d(x), d(y)\n"
        "tf.ones_like(a)",
        "ValueError",
        "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>)",
        [e.HeldValue(name, "NoneType", value="None") for name in "ab"] + [e.HeldValue("d", "D")],
        "which is None: call (line 2) returns nothing to line 4.",
    ),
    "a slice that is shorter than was asked for": (
        "y = x + table[:n]",
        "InvalidArgumentError",
        "Incompatible shapes: [2,60,16] vs. [50,16] [Op:AddV2] name: ",
        [
            e.HeldValue("x", "EagerTensor", shape=[2, 60, 16], dtype="float32"),
            e.HeldValue("table", "EagerTensor", shape=[50, 16], dtype="float32"),
            e.HeldValue("table[:n]", "EagerTensor", shape=[50, 16], dtype="float32"),
            e.HeldValue("n", "int", value="60"),
        ],
        "table has 50 rows, and table[:n] asks for 60: a slice beyond the end gives what is there.",
    ),
    "an input for the class of a layer": (
        "y = Double(h)",
        "TypeError",
        "Layer.__init__() takes 1 positional argument but 2 were given",
        [
            e.HeldValue("Double", "type", takes="(*, name=0)"),
            e.HeldValue("h", "KerasTensor", shape=[None, 4], dtype="float32"),
        ],
        "Make the object first, and call it: Double()(h).",
    ),
    "texts in an array": (
        "y = tf.linalg.matvec(x, w)",
        "InvalidArgumentError",
        "Value for attr 'T' of string is not in the list of allowed values: half, float; NodeDef: "
        "{{node MatMul}}",
        [e.HeldValue("x", "ndarray", shape=[3, 2], dtype="<U3")],
        "gives MatMul x, an array of texts, and it takes numbers. Write x.astype('float32')",
    ),
    "a part of a count": (
        "a = [*range(n)]",
        "TypeError",
        "'float' object cannot be interpreted as an integer",
        [e.HeldValue("range", "type"), e.HeldValue("n", "float", value="6.25")],
        "as range does (n is 6.25).",
    ),
    "a method that is not quite __init__": (
        "class Net:\n    def __int__(self):\n        self.d = 1\nNet().d",
        "AttributeError",
        "'Net' object has no attribute 'd'",
        [],
        "Python runs a method named __init__ by itself, and none named __int__.",
    ),
    "a function that returns in some cases": (
        "def rate(epoch, lr):\n    if epoch > 1:\n        return lr\nm.fit(x)",
        "ValueError",
        "The output of the `schedule` function should be a float. Got: None",
        [],
        "rate (line 1) returns a value in some cases only",
    ),
    "a layer that is loaded": (
        "class Scale(Layer):\n    def __init__(self, factor):\n        pass\nload_model(path)",
        "TypeError",
        "Exception encountered: Scale.__init__() got an unexpected keyword argument 'trainable'",
        [],
        "def __init__(self, factor, **kwargs), hand them on by super().__init__(**kwargs)",
    ),
    "a class that is no layer": (
        "class Rate:\n    def __init__(self, lr):\n        pass\nRate(**options)",
        "TypeError",
        "Rate.__init__() got an unexpected keyword argument 'decay'",
        [],
        "Give it that: def __init__(self, lr, decay=None).",
    ),
    "a shape with None for the batch": (
        "def pick(x):\n    if x: return x\nm(x)",
        "ValueError",
        "wanted shape (None, 4), found (2, 3)",
        [e.HeldValue("x", "ndarray", shape=[2, 3], dtype="float64")],
        "When line 3 raised this, x has shape (2, 3)",
    ),
    "a list of tensors for a variable": (
        "xs.assign(y)",
        "AttributeError",
        "'list' object has no attribute 'assign'",
        [e.HeldValue("xs", "list", size=1, kinds=["EagerTensor of shape (2,)"])],
        "Line 1 asks xs, which is a list of 1 element, for assign, which it does not have.",
    ),
    "a list of variables for an array": (
        "xs.ndim",
        "AttributeError",
        "'list' object has no attribute 'ndim'",
        [e.HeldValue("xs", "list", size=1, kinds=["ResourceVariable of shape (2,)"])],
        "Tensors and arrays have it: tf.constant(xs) makes a tensor of it.",
    ),
    "a list that is filled in a function": (
        "def put(self, s, a):\n    self.buffer.append((s, a))\ns, a, r = zip(*self.buffer)",
        "ValueError",
        "not enough values to unpack (expected 3, got 2)",
        [e.HeldValue("self.buffer", "list", size=4)],
        "self.buffer is filled on line 2 by self.buffer.append((s, a)).",
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_what_names_held_is_told(name: str) -> None:
    text, type_, message, held, said = HELD[name]
    line = len(text.splitlines())
    failure = Failure(type_, message, line, "", (line,), held=tuple(held))
    words = explain_error(Trace(text, failure=failure))
    assert said in words
    assert len(re.findall(r"\.(?= [A-Z]|$)", words)) <= 3


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x, z = a, k\nwith tape:\n    f(x)", 3, "x is made on line 1 as a."),
        ("x, z = a\nf(x)", 2, "x is made on line 1."),
        ("y = a\ndef g(x):\n    f(x)\ng(y)", 3, "x is y of line 4, and y is made on line 1 as a."),
        ("x = a\nf(x)\nx = b", 2, "x is made on line 1 as a."),
        ("def g(x):\n    f(x)\ng(a)", 2, "x is a of line 3."),
        ("def g(x):\n    f(x)\ng(a), g(b)", 2, ""),  # either of them raised
        ("def g(x):\n    f(x)\ng(x)", 2, ""),
        ("for x in a:\n    f(x)", 2, "x comes from the loop on line 1."),
        ("x = y = a\nif c:\n    x = b\nf(x)", 4, ""),  # the branch may not have run
        ("if c:\n    x = b\nelse:\n    f(x)", 4, ""),
        ("x = a\nfor i in j:\n    f(x)\n    x = b", 3, ""),  # made below in later turns
        ("x = a\ndef g():\n    f(x)\nx = b\ng()", 3, ""),
        (
            "def g():\n    x = []\n    x.append(a)\ndef h(x):\n    f(x)\nh(b)",
            5,
            "x is b of line 6.",
        ),
    ],
)
def test_where_a_value_was_made(text: str, line: int, said: str) -> None:
    held = (e.HeldValue("x", "ndarray", shape=[2], dtype="float64"),)
    lines = (len(text.splitlines()), line)
    failure = Failure("ValueError", "bad shape", line, "", lines, held=held)
    words = explain_error(Trace(text, failure=failure))
    assert (
        words == f"When line {line} raised this, x has shape (2,) and dtype float64. {said}".strip()
    )


def test_the_binding_that_was_recorded_tells_where_a_value_was_made() -> None:
    held = (e.HeldValue("x", "EagerTensor", shape=[2], dtype="float32"),)
    s = Script("x = a\nif c:\n    x = b\nf(x)")
    for line, said in ((1, False), (3, True)):
        s.bind("x", s.tensor(), line=line)
        failure = Failure("ValueError", "bad shape", 4, "", (4,), held=held)
        assert ("x is made on line 3 as b" in explain_error(s.trace(), failure)) == said
    s = Script("x = a\ndef g():\n    x = b\ng()\nf(x)")
    for line in (1, 3):  # the later one is of another x
        s.bind("x", s.tensor(), line=line)
    failure = Failure("ValueError", "bad shape", 5, "", (5,), held=held)
    assert "x is made on line 1 as a" in explain_error(s.trace(), failure)


@pytest.mark.parametrize(
    ("says", "asked"),
    [
        (
            "    t: A `Tensor`. Must be one of the following types: `int32`.\n"
            "      Shape is `[M, M]`.\n"
            "    name: A name.\n\n  Returns:\n    rank: its rank\n",
            {"t": "Shape is [M, M]", "name": ""},
        ),
        (
            "a1, a2, ... : sequence of array_like\n    Their sum.\nout : ndarray\n\n"
            "Returns\n-----\nb : list",
            {"a1": "sequence of array_like", "out": ""},
        ),
        (
            f"  n: A list {'x' * 250}. It must be\n    sorted.\n\n    Of any length.",
            {"n": "It must be sorted"},
        ),
    ],
)
def test_what_a_docstring_asks_of_arguments(says: str, asked: dict[str, str]) -> None:
    assert sentences(says) == asked


def test_the_name_that_python_proposes() -> None:
    message = "module 'keras.losses' has no attribute 'MeanSquareError'"
    printed = f"AttributeError: {message}. Did you mean: 'MeanSquaredError'?\n"
    failure = Failure("AttributeError", message, 1, printed, (1,))
    words = explain_error(Trace("loss = tf.keras.losses.MeanSquareError()", failure=failure))
    assert words.endswith("A name that is spelt nearly so is MeanSquaredError.")


def test_the_name_that_python_proposes_for_one_that_is_not_defined() -> None:
    printed = "NameError: name 'row' is not defined. Did you mean: 'rows'?\n"
    failure = Failure("NameError", "name 'row' is not defined", 1, printed, (1,))
    words = explain_error(Trace("n = len(row)", failure=failure))
    assert "A name that is spelt nearly so is rows" in words


def test_an_index_error_of_a_library_says_nothing_of_the_list_that_it_was_given() -> None:
    for name, line, words in (
        ("a.py", 1, ""),
        ("b.py", 1, "takes element 0 of m.weights"),
        ("b.py", 9, ""),  # a file of the same name, of another folder
    ):
        raised = f'Traceback:\n  File "a.py", line 1\n    File "/x/b.py", line {line}\n'
        failure = Failure("IndexError", "list index out of range", 1, raised, (1,))
        said = explain_error(Trace("month(m.weights[0])", failure=failure, filename=name))
        assert words in said if words else said == ""


def test_a_function_that_makes_an_optimizer_is_no_loss() -> None:
    text = "def rate():\n    print(1)\nm.compile(Adam(rate), loss=mse)\nm.fit(x, y)"
    failure = Failure("ValueError", "None values not supported.", 4, "", (4,))
    assert "returns nothing" not in explain_error(Trace(text, failure=failure))


def test_the_lines_of_a_recursion_without_an_end() -> None:
    failure = Failure("RecursionError", "maximum recursion depth exceeded", 2, "", (3, 2, 2, 2))
    words = explain_error(Trace("def f(n):\n    return f(n - 1)\nf(3)", failure=failure))
    assert "calls itself through line 2 without an end" in words


def test_only_a_rate_that_reads_the_count_of_steps_comes_from_a_schedule() -> None:
    s = Script("o.lr = agent.lr = 0.1  # Decay\no.learning_rate.assign(1.0)\nagent.lr.assign(1.0)")
    s.read(s.variable("sgd/iteration", line=1), line=2)
    for line, said in ((2, "made with a schedule"), (3, "Line 3 tries to change a tensor")):
        message = "'EagerTensor' object has no attribute 'assign'"
        failure = Failure("AttributeError", message, line, "", (line,))
        assert said in explain_error(s.trace(), failure)


def test_a_list_of_variables_is_no_variable_that_zip_goes_over() -> None:
    s = Script("w = [v, c]\nopt.apply_gradients(zip(g, w))")
    v = s.variable("v")
    s.events.append(e.NameBound("w", 0, tensors=[(v, [0]), (s.tensor(), [1])]))
    message = "'tensorflow.python.framework.ops.EagerTensor' object has no attribute '_unique_id'"
    words = explain_error(s.trace(), Failure("AttributeError", message, 2, "", (2,)))
    assert "elements of a variable" not in words


def test_a_list_of_one_gradient_for_a_variable() -> None:
    s = Script("g = t.gradient(y, [x])\nx.assign_sub(g)")
    s.bind("g", s.tensor(), line=1)
    failure = Failure(
        "InvalidArgumentError",
        "Cannot update variable with shape [] using a Tensor with shape [1], shapes must be equal.",
        2,
        "",
        (2,),
    )
    assert "a value of another shape" in explain_error(s.trace(), failure)
    s.events[-1] = e.NameBound("g", s.site(1), [(1, [0])])
    assert "Take its element, g[0]." in explain_error(s.trace(), failure)


def test_pairs_that_are_turned_round() -> None:
    s = Script("g = tape.gradient(y, [w])\nopt.apply_gradients(zip([w], g))")
    w, y, g = s.variable("w"), s.tensor(), s.tensor()
    with s.call(s.tape(), [y], [w], line=1) as results:
        results.append(g)
    s.bind("g", g, line=1)
    message = "'tensorflow.python.framework.ops.EagerTensor' object has no attribute '_unique_id'"
    words = explain_error(s.trace(), Failure("AttributeError", message, 2, "", (2,)))
    assert "Write zip(g, [w])." in words


parser = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")


def may_begin_with_a_repeat(items: Iterable[tuple[Any, Any]]) -> bool:
    """Whether a parsed pattern may begin with a repeat without a limit, and at any letter."""
    for kind, given in items:
        if str(kind) in ("AT", "ASSERT", "ASSERT_NOT"):
            return False
        is_repeat = str(kind) in ("MAX_REPEAT", "MIN_REPEAT")
        if is_repeat and given[1] == parser.MAXREPEAT:
            return True
        branches = given[1] if str(kind) == "BRANCH" else ()
        parts = [*branches, *((given[-1],) if is_repeat or str(kind) == "SUBPATTERN" else ())]
        if any(map(may_begin_with_a_repeat, parts)):
            return True
        is_optional = is_repeat and not given[0]
        if not is_optional and not any(part.getwidth()[0] == 0 for part in parts):
            return False
    return False


def test_a_search_begins_once_in_a_long_word() -> None:
    """Else it takes the square of the word's length, for which the window would stand still."""
    patterns = [pattern for pattern, _ in explanations()]
    assert [p for p in patterns if may_begin_with_a_repeat(parser.parse(p, re.DOTALL))] == []
    for pattern in (r"\w+ a", r"'?(\w*)b", r"(a|\d+ x)", r"(?:x?|y)[\w.]+"):
        assert may_begin_with_a_repeat(parser.parse(pattern))
    assert not may_begin_with_a_repeat(parser.parse(r"(?<!\w)\w+|a\w+"))


def alternatives(pattern: str) -> list[str]:
    """Split a pattern at each ``|`` that stands in no group."""
    found, depth = [""], 0
    for part in re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", pattern, re.DOTALL):
        depth += {"(": 1, ")": -1}.get(part, 0)
        if part == "|" and not depth:
            found.append("")
        else:
            found[-1] += part
    return found


def hidden_rows(rows: Iterable[tuple[str, Any]]) -> list[str]:
    """Find the patterns that a row before has as well, whose words never pass the message on."""
    answered, found = set(), []
    for pattern, explain in rows:
        found += [each for each in alternatives(pattern) if each in answered]
        if isinstance(explain, str) or 'return ""' not in inspect.getsource(explain):
            answered.update(alternatives(pattern))
    return found


def test_no_row_stands_behind_one_that_answers_the_same_pattern() -> None:
    assert hidden_rows(explanations()) == []
    assert hidden_rows([(r"a|b(c|d)[|]", "words"), (r"b(c|d)[|]", "others")]) == ["b(c|d)[|]"]


def test_a_paragraph_of_the_file_is_a_row() -> None:
    for pattern, explain in explanations():
        groups = re.compile(pattern).groups
        assert callable(explain) or explain.format(*[""] * groups, line=7), pattern
    assert read_row("one {SHAPE},\n|two\n    A word {line}\n    and {0}.") == (
        r"one (\[[\d,? ]*\]|\([\d,None ]*\)),|two",
        "A word {line} and {0}.",
    )
    with pytest.raises(AttributeError):
        read_row("one\n    -> python.names.nothing")
