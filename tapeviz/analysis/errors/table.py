"""The explanations of errors: a pattern of ``Type: message`` as TensorFlow 2.15 to 2.21, Keras 2
and 3, and Python 3.10 to 3.13 word it, and the words that tell what happened, why, and what to do.

In the words ``{line}`` and the groups ``{0}``, ``{1}`` of the pattern are filled in. Where more has
to be looked at, a function of the case has the words.
"""

from __future__ import annotations

from .case import Explain
from .python import (
    attributes,
    calls,
    checks,
    containers,
    modules,
    names,
    nones,
    operators,
    results,
    signatures,
)
from .python.values import WRONG_VALUES
from .tapes import gradient_functions, recording, targets
from .tensors import arguments, not_finite, operands, shapes_and_dtypes
from .tensors.autograph import AUTOGRAPH_ERRORS
from .tensors.forms import FORM_ERRORS
from .tensors.graphs import GRAPH_ERRORS
from .training import keras, models
from .training.datasets import DATASET_ERRORS
from .training.empty_list import NOT_CONNECTED
from .training.files import FILE_ERRORS
from .training.layers import LAYER_ERRORS
from .training.losses import LOSS_ERRORS

_CALLEE = r"(?<![\w.<>])(?:[\w.<>]*<locals>\.)?(?P<callee>[\w.]+)\(\)"
"""``Net.call()``, also of a class or function that a function made (``main.<locals>.Net.call()``).
"""
_SHAPE = r"(\[[\d,? ]*\]|\([\d,None ]*\))"
_COUNT = r"(\d+)"
_NO_KEYWORD = (
    r"Got an unexpected keyword argument|not recognized: \{|is not a valid argument, kwargs should"
    r"|Unrecognized keyword argument|Keyword argument not understood"
    r"|Binding inputs to tf\.function failed due to `got an unexpected keyword"
)
"""Messages of TensorFlow and Keras that do not name the function which takes no such keyword."""

EXPLANATIONS: tuple[tuple[str, str | Explain], ...] = (
    (
        r"Detected Infinity or NaN in output \d+ of .*? op \"(?P<op>\w+)\""
        r".*Tensor had (?P<found>[\w+, -]+) values",
        not_finite.detected,
    ),
    (r": Tensor had (?P<found>[\w+, -]+) values", not_finite.checked),
    (r"non-persistent GradientTape", recording.second_use),
    (
        r"gradient registry has no entry for: (\w+)|No gradient defined for operation.*?\(op type: "
        r"(\w+)\)",
        gradient_functions.no_registry,
    ),
    (r"KerasTensor.*not tf\.Tensor|symbolic.*watch", recording.symbolic_watch),
    (
        r"Passed in object <(?:Keras)?Variable path=|of type 'Variable', not tf",
        recording.keras_watch,
    ),
    (r"Passed in object .* of type '(\w+)', not tf\.Tensor", recording.no_tensor_watch),
    (r"'NoneType' object has no attribute '_tape'", recording.never_entered),
    (r"Tape is not recording", recording.not_recording),
    (
        r"Tape is still recording|Accumulator is already recording",
        "Line {line} enters a tape or accumulator whose block is open already. "
        "Each can be entered once at a time. "
        "Make a second one for the inner block, as in with tf.GradientTape() as inner:.",
    ),
    (
        r"must accept keyword argument 'variables'",
        "The function under tf.custom_gradient on line {line} uses a tf.Variable, and its "
        "gradient function does not say what becomes of that. "
        "Write def grad(dy, variables=None), and return two things from it: the gradients of the "
        "arguments, and a list with one for each variable.",
    ),
    (
        r"`var(?:iable)? (\S+=) value` with `tf\.Variable`s is not supported\. "
        r"Use `(var\w*\.assign.*?)`",
        "Line {line} changes a tf.Variable by {0}, which TensorFlow refuses: it leaves open "
        "whether the variable or a new tensor is meant. Write {1} to change the variable, which no "
        "gradient follows; or give the result, a tensor that gradients follow, a name of its own.",
    ),
    (
        r"'(\w+)' must be a Tensor, got <class '[\w.]*Variable'>",
        "Line {line} gives a tf.Variable as {0}, and that function takes tensors only. "
        "Give the tensor that the variable holds: variable.read_value().",
    ),
    (
        r"'(?P<name>\w+)' has (?P<form>shape|dtype) (?P<before>.+?) before the loop, but (?:shape|"
        r"dtype) (?P<after>.+?) after one iteration",
        shapes_and_dtypes.carried,
    ),
    (
        r"Input tensor [`'](?P<name>[\w/]+)(?::\d+)?[`'] enters the loop with (?P<form>shape) "
        r"(?P<before>.+?), but has shape (?P<after>.+?) after one iteration",
        shapes_and_dtypes.carried,
    ),
    (r"Type SparseTensor is not supported as a gradient", targets.sparse),
    (r"Argument `target` should be a list.*received None", targets.no_target),
    (r"argument `type_value`: None to a TensorFlow DType", targets.no_sources),
    (r"argument `type_value`: <(?:bound method|function) ", targets.uncalled_target),
    (r"argument `type_value`: '(\w+)' to a TensorFlow DType", targets.text_target),
    (
        r"(?:No pfor|pfor).*(?:converter|EagerPyFunc|not.* supported)|No converter.* defined",
        "jacobian on line {line} runs the backward pass for all elements at once (pfor), and "
        "one of the operations cannot be run so; tf.py_function is such a one. "
        "Write jacobian(y, x, experimental_use_pfor=False) with a persistent tape.",
    ),
    (
        r"No gradients provided for any variable",
        f"Every gradient that the optimizer was given is None, so there is nothing to apply. "
        f"{NOT_CONNECTED}",
    ),
    (r"^\w+Error: ", results.applied_otherwise),
    (
        r"_unique_id|takes 2 positional arguments but 3|(?:not enough|too many) values to unpack"
        r"|zip argument"
        r"|cannot iterate over a scalar|iterating over a symbolic|name_scope must be a string",
        models.no_pairs,
    ),
    (r"cannot iterate over a scalar|cannot unpack non-iterable", targets.unpacked),
    (r"(?:not enough|too many) values to unpack \(expected (\d+)", targets.unpacked_others),
    (
        r"AttributeError: '([\w.]+)' object has no attribute '(_id|dtype|shape|_tape)'",
        targets.no_tensor,
    ),
    (
        r"Cannot convert (?:the argument `type_value`: |value )(-?\d[\d.e+-]*) to a TensorFlow DT",
        targets.plain_number,
    ),
    (
        r"IndexedSlices",
        "Line {line} computes with a gradient that is a tf.IndexedSlices: what picked rows of "
        "a table, such as tf.gather or an Embedding, gives the gradients of those rows alone. "
        "Write tf.convert_to_tensor(g) to get a tensor of the shape of the table.",
    ),
    (r"^AssertionError", checks.own_assert),
    (
        r"Object of type (\w+) is not JSON serializable",
        "Line {line} writes JSON, which has numbers, texts, lists and dicts of Python only, and "
        "met a value of type {0}. Put float(x) or x.tolist() of arrays and tensors' numpy() there.",
    ),
    (
        r"Need to be inside \"with strategy\.scope\(\)\"|slot variable under the scope for",
        "Line {line} runs outside of a strategy's scope what works only inside, as where the "
        "optimizer was made in it and the model was not. Make model, variables and optimizer in "
        "one block with strategy.scope():.",
    ),
    *FILE_ERRORS,
    *DATASET_ERRORS,
    *WRONG_VALUES,
    *FORM_ERRORS,
    *arguments.ARGUMENT_ERRORS,
    *AUTOGRAPH_ERRORS,
    *LAYER_ERRORS,
    (r"NoneType|None values not supported", models.loss_without_return),
    (r"NoneType|None values not supported", models.none_used),
    (
        r"unsupported operand type\(s\) for (?P<sign>[^\s:]+)(?: or pow\(\))?: '(?P<first>[\w.]+)' "
        r"and '(?P<other>[\w.]+)'",
        operators.operands,
    ),
    (r"can't multiply sequence by non-int of type '(?!str')(\w+)'", operators.sequence_times),
    (
        r"'[<>]=?' not supported between instances of '(?P<first>[\w.]+)' and '(?P<other>[\w.]+)'",
        operators.compared,
    ),
    (r"\[Op:(?:Mul|Reshape|BroadcastGradientArgs)\]", gradient_functions.output_gradients),
    *LOSS_ERRORS,
    (
        r"Dimensions must be equal, but are \d+ and \d+ for .* with input shapes: "
        + _SHAPE
        + ", "
        + _SHAPE
        + r"\.",
        shapes_and_dtypes.shapes,
    ),
    (
        rf"condition {_SHAPE}, then {_SHAPE}, and else {_SHAPE} must be broadcastable",
        shapes_and_dtypes.selected,
    ),
    (r"Incompatible shapes: *" + _SHAPE + r" vs\.? *" + _SHAPE, shapes_and_dtypes.shapes),
    (
        r"operands could not be broadcast together with shapes " + _SHAPE + " " + _SHAPE,
        shapes_and_dtypes.shapes,
    ),
    (
        r"Matrix size-incompatible: In\[0\]: " + _SHAPE + r", In\[1\]: " + _SHAPE,
        shapes_and_dtypes.shapes,
    ),
    (
        shapes_and_dtypes.NOT_A_MATRIX,
        "Line {line} multiplies matrices, but a factor is a vector or a single number: tf.matmul "
        "and @ need two axes or more. Write tf.tensordot(a, b, 1) for vectors, tf.linalg.matvec(a, "
        "b) for a matrix and a vector, and a * b for numbers.",
    ),
    (r"logits_size=" + _SHAPE + r" labels_size=" + _SHAPE, shapes_and_dtypes.shapes),
    (
        r"Unexpectedly found an instance of type `<class '([\w.]+)'>`\. Expected a symbolic tensor",
        "Line {line} gives a layer of Keras an argument of type {0} beside its input, such as an "
        "initial_state. Keras 2 takes tensors for it. Give tf.convert_to_tensor(value), or the "
        "tensor from before it became an array, through which a gradient can pass.",
    ),
    (
        r"Expected an instance of (list|tuple), got <tf\.",
        "Line {line} gives Keras a Python {0} beside a tensor, as labels or predictions. Keras "
        "takes a {0} for the outputs of a model that has several, so the two do not match. "
        "Make it one tensor: tf.constant([…]).",
    ),
    (r"(?:Shapes|Dimensions) " + _SHAPE + r" and " + _SHAPE, shapes_and_dtypes.shapes),
    (r"expected to be an? (\w+) tensor but is an? (\w+) tensor", shapes_and_dtypes.dtypes),
    (r"must have the same dtype, got tf\.(\w+) != tf\.(\w+)", shapes_and_dtypes.dtypes),
    (r"has type (\w+) that does not match type (\w+) of", shapes_and_dtypes.dtypes),
    (r"conversion requested dtype (\w+) for Tensor with dtype (\w+)", shapes_and_dtypes.dtypes),
    (
        r"Cannot convert \[?([\d.e+-]+)\]? to EagerTensor of dtype (\w+)",
        shapes_and_dtypes.literal_dtype,
    ),
    (
        rf"Input to reshape is a tensor with {_COUNT} values, but the requested shape (?:has"
        rf"|requires a multiple of) {_COUNT}",
        shapes_and_dtypes.reshaped,
    ),
    (
        r"Cannot (?:update|assign value to) variable.*shape|assigned value shape",
        shapes_and_dtypes.assigned_shape,
    ),
    (
        r"Input (?:matrix )?is not invertible",
        "Line {line} needs the inverse of a matrix that has none; the gradients of det, solve "
        "and inv work with it. Add a little to its diagonal (matrix + 1e-6 * tf.eye(n)), or "
        "look for rows that are multiples of each other.",
    ),
    (
        r"Cholesky decomposition was not successful",
        "The matrix that line {line} decomposes is not positive definite, or holds NaN: a "
        "rounding error is enough where two of its rows are nearly equal. "
        "Add a little to its diagonal: matrix + 1e-6 * tf.eye(n).",
    ),
    (
        rf"indices(?:\[[\d,]*\])? = (-\d+) is not in \[0, {_COUNT}\)",
        "Line {line} looks up row {0} of a table, whose rows are counted from 0 to one less than "
        "{1}. Negative numbers often stand for what is not there, as where a lookup does not find "
        "a word: give these a row of their own, or leave them out.",
    ),
    (
        rf"indices(?:\[[\d,]*\])? = (\d+) is not in \[0, {_COUNT}\)",
        "Line {line} looks up row {0} of a table that has {1} rows, counted from 0. "
        "Make the table longer (input_dim of an Embedding), or look for what made that index.",
    ),
    (
        r"Attempting to slice scalar input",
        "Line {line} takes an element of a tensor that is a single number: its shape is (), so "
        "there is nothing to pick. Leave the index out, or look why the tensor has no axis: a "
        "reduction such as tf.reduce_mean took it, or one element was picked before.",
    ),
    (
        rf"slice index (-?\d+) of dimension {_COUNT} out of bounds"
        rf"|index (-?\d+) is out of bounds for axis {_COUNT} with size {_COUNT}",
        shapes_and_dtypes.beyond_axis,
    ),
    *GRAPH_ERRORS,
    *keras.KERAS_ERRORS,
    (
        r"(?:tensor|variable) is unhashable",
        "Line {line} uses a tensor where Python needs something that can be hashed: the key "
        "of a dict, a member of a set, or a number that an object is made with. "
        "Use tensor.ref() as key; a loss is an object first, as in "
        "tf.keras.losses.MeanSquaredError()(y, p).",
    ),
    (
        r"unhashable type: '(?:[\w.]+\.)?(\w+)'",
        "Line {line} uses a value of type {0} as the key of a dict or in a set, which take only "
        "values that never change. Use a number, a text or a tuple of such: float(x), "
        "tuple(values).",
    ),
    (
        r"^(?:SyntaxError|IndentationError|TabError)",
        "Python cannot read line {line}, so nothing of the snippet ran and no gradient was "
        "asked for. Fix the line and run it again.",
    ),
    (
        r"URL fetch failure|URLError|HTTPError|Name or service not known|ConnectionError"
        r"|Network is unreachable|Temporary failure in name resolution",
        "Line {line} needs the network, and it could not be reached. "
        "If the run has none (Limits beside Run, or --no-network), allow it; else look whether "
        "this machine is connected. "
        "A few random tensors of the same shapes will do to look at the gradients.",
    ),
    (
        r"ResourceExhaustedError.*shape *" + _SHAPE + r" and type (\w+)",
        "Line {line} needs memory for a tensor of shape {0} and type {1}, and there is not "
        "that much. If the run has a limit (Limits beside Run, or --memory), raise it; else "
        "work on fewer elements at a time.",
    ),
    (
        r"^MemoryError",
        "Line {line} needs more memory than there is. If the run has a limit (Limits beside "
        "Run, or --memory), raise it; else work on fewer elements at a time.",
    ),
    (
        r"module '(?P<module>keras[\w.]*|tensorflow\.keras[\w.]*)' has no attribute "
        r"'(?P<name>\w+)'",
        keras.missing_name,
    ),
    (
        r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]*keras[\w.]*)'",
        keras.missing_name,
    ),
    (
        r"Argument `learning_rate` should be float",
        "Line {line} gives an optimizer of Keras 3 a learning rate that is no float of Python, as "
        "1, a text, a tensor or a variable. It takes a float, a schedule or a function, and makes "
        "a variable of its own from it. Give float(rate), and change it later by "
        "optimizer.learning_rate.assign(new_rate).",
    ),
    (
        r"Could not interpret (loss|optimizer|metric|activation function|initializer|regularizer) "
        r"identifier: (\w+)",
        keras.unknown_identifier,
    ),
    (r"as_list\(\) is not defined on an unknown TensorShape", keras.unknown_rank),
    (r"NameError: .*?name '(\w+)' is not defined", names.undefined),
    (
        r"EOFError|StdinNotImplementedError|raw_input was called",
        "Line {line} waits for something to be typed, and a snippet runs without a keyboard here. "
        "Put the value into the text in place of the call of input().",
    ),
    (modules.NO_MODULE, modules.no_module),
    (
        r"ImportError: cannot import name '(\w+)' from '([\w.]+)'",
        "The installed {1} has no {0}: it was part of another version, or has moved. "
        "Look for its present name, or leave line {line} out if the gradient does not need it.",
    ),
    (r"'GradientTape' object has no attribute '(\w+)'", attributes.misspelt),
    (r"'(?:Resource)?Variable' object has no attribute 'ndim'", shapes_and_dtypes.no_ndim),
    (
        r"'?(?<![\w.])(?P<owner>[\w.]*(?:Tensor|Variable))'? object has no attribute "
        r"'(?P<name>\w+)'",
        attributes.tensor_method,
    ),
    (keras.OLD_METHOD, keras.old_method),
    (r"(?:Tensor|float)' object has no attribute '(?:items|keys)'", models.step_without_dict),
    (r"'(\w+)' object has no attribute '(\w+)'", models.no_method),
    (r"'(?P<owner>\w+)' object has no attribute '(?P<name>\w+)'", attributes.own_attribute),
    (
        r"object has no attribute 'lr'",
        "Line {line} asks an optimizer of Keras 3 for lr; the learning rate is called "
        "learning_rate there. Read it by float(optimizer.learning_rate), and change it by "
        "optimizer.learning_rate.assign(0.01).",
    ),
    (
        r"Binding inputs to tf\.function failed due to `too many positional arguments`.*"
        r"for signature: \((?P<parameters>.*?)\)\.",
        calls.too_many_for_compiled,
    ),
    (
        r"'(int|float|bool|complex|History|function|method|builtin_function_or_method)' object is "
        r"not subscriptable",
        calls.not_subscriptable,
    ),
    (
        _CALLEE + r" got an unexpected keyword argument '(?P<name>\w+)'",
        calls.unknown_keyword,
    ),
    (
        _CALLEE + r" takes [\w ]+? positional arguments? but (?P<given>\d+) (?:was|were) given",
        calls.wrong_count,
    ),
    (
        _CALLEE + r" missing \d+ required [\w-]+ arguments?: (?P<names>[^\n]+)",
        calls.missing_argument,
    ),
    (
        r"unexpected keyword argument|missing (?:a )?(?:\d+ )?required|multiple values for arg"
        r"|takes [\w ]+? arguments? |too many (?:positional )?arguments"
        r"|expected (?:at (?:least|most) )?\d+ arguments?, got \d"
        rf"|{_NO_KEYWORD}",
        signatures.misfit,
    ),
    (_NO_KEYWORD, calls.unknown_of_library),
    (
        r"missing a required argument: '(\w+)'",
        "Line {line} calls a layer, model or function without its argument {0}, which it needs. "
        "Give it in the call, or a default where it is defined.",
    ),
    (r"Attempt to convert a value \(None\)|NoneType|None values not supported", nones.none_given),
    (r"IndexError: list index out of range", targets.no_batch),
    (r"IndexError: list index out of range|KeyError", containers.no_key),
    (r"IndexError: (?:list|tuple) index out of range", containers.no_place),
    (
        r"(?P<kind>list|tuple) indices must be integers or slices, not (?P<index>[\w.]+)",
        containers.no_number,
    ),
    (
        r"You must call `super\(\)\.__init__\(\)` in the layer constructor"
        r"|It looks like you are subclassing `Model` and you forgot to call"
        r"|In layer '\w+', you forgot to call `super\(\)\.__init__\(\)`",
        "A layer or model that line {line} makes or uses has an __init__ that does not call the "
        "one of Keras, which sets the object up. Write super().__init__() as the first line of it.",
    ),
    (
        r"base_metric\.py.*TypeError: 'str' object is not callable",
        "The metrics given to model.compile have a word that Keras does not know, as fit on line "
        "{line} finds. Look up how it is spelt in tf.keras.metrics.",
    ),
    (
        r"decay is deprecated in the new Keras optimizer",
        "Line {line} gives an optimizer decay, which it does not take any more. For a learning "
        "rate that falls give a schedule as learning_rate, such as "
        "tf.keras.optimizers.schedules.InverseTimeDecay; for smaller weights weight_decay=.",
    ),
    (
        r"tf\.gradients is not supported when eager",
        "tf.gradients works on graphs only, and TensorFlow 2 runs each operation at once. "
        "There is no graph here that it could walk back. "
        "Compute inside with tf.GradientTape() as tape:, then call tape.gradient(y, x).",
    ),
    (
        r"Tensor'? object has no attribute '(?:numpy|eval)'|numpy\(\) is only available"
        r"|(?:float|int|complex)\(\) argument must be .*, not '\w*Tensor'",
        "Line {line} asks a symbolic tensor for its numbers, and it has none yet. Inside "
        "tf.function or a graph, Python runs once, before any value is there. Stay with tf "
        "operations there; use tf.print to look at values, and .numpy() outside.",
    ),
    (
        r"module 'tensorflow(?:\._api|\.v2|\.compat)*\.?([\w.]*)' has no attribute '(\w+)'",
        attributes.old_name,
    ),
    (
        r"Tensor' object has no attribute 'assign"
        r"|'[\w.]*(?:Tensor|Variable)' object does not support item assignment",
        shapes_and_dtypes.assigned_tensor,
    ),
    (r"module 'numpy' has no attribute '(?P<name>\w+)'\s*$", attributes.name_of_numpy),
    (
        r"only integer scalar arrays can be converted to a scalar index",
        shapes_and_dtypes.picked_by_many,
    ),
    (
        r"expected to return (\d+) gradients,? but returned (\d+)",
        "The gradient function of a tf.custom_gradient returned {1} gradients, and "
        "its function took {0} tensors. "
        "TensorFlow hands them out by position. Return one for each argument, in their order.",
    ),
    (
        r"'(?:[\w.]+\.)?(\w*List|ListWrapper|list|tuple|int|float|str|dict|NoneType|ndarray|\w*Tensor|"
        r"\w*Variable|TensorShape)' object is not callable",
        calls.called,
    ),
    (
        r"TypeError: (?:unsupported callable|.*cannot unpack|.*is not callable|cannot iterate)",
        gradient_functions.custom_pair,
    ),
    (r"output_gradients", gradient_functions.output_gradients),
    (
        r"has never been called and thus has no defined (input|output)",
        # ``Operation._inbound_nodes`` of Keras 3: a call on data adds no node to a layer.
        "Line {line} asks for the {0} of a layer or model that was never called on a "
        "tf.keras.Input; calls on data do not count. Of a Sequential model take .{0}s[0] in place "
        "of .{0}, or the {0} of one of its layers. Another layer or model must be called on a "
        "tf.keras.Input first.",
    ),
    (
        r"has not yet been built|have not yet been created|has never been called"
        r"|has no defined (?:input|output)"
        r"|must build the layer before|object has no attribute '(?:kernel|bias|embeddings)'",
        "Line {line} asks a layer or model for something that it gets only when it is first called "
        "with data. Call it once on an input, or give it tf.keras.Input(shape) first.",
    ),
    (
        r"AttributeError: '(?P<owner>[\w.]+)' object has no attribute '(?P<name>\w+)'",
        attributes.lacking,
    ),
    (
        r"^(?:AttributeError|NameError|ImportError): (?P<owner>module '[\w.]+'|'[\w.]+' object)?"
        r".*?(?:attribute|name) '(?P<name>\w+)'",
        attributes.near_name,
    ),
    (r"[Ee]xpected .*\['.*\].*\['.*\]", containers.words_apart),
    (
        r"\b(?:got|received|given|found|returned|was|value)\W+None(?![\w,])",
        nones.may_end_without_return,
    ),
    (
        r"^(?:InvalidArgument|Aborted|Unimplemented)Error: "
        r"(?!.*(?:\[Op:__|Graph execution error))(?:.*\[Op:(?P<op>\w+)\])?",
        arguments.refused,
    ),
    (r"^ValueError: .* for '?\{\{node [^}]*\}\} = (?P<op>\w+)\[", arguments.refused),
    (
        r"Graph execution error|\{\{node |\[Op:__(?:inference|forward)_",
        shapes_and_dtypes.raised_in_function,
    ),
    (r"", gradient_functions.inside_gradient),
    (r"^(?:\w+Error|Exception): ", operands.held_at_failure),
)
"""In the order in which they are asked; the first that has words is taken."""
