"""Explain exceptions about what an operation or layer was given: its dtype, shape or axis."""

from __future__ import annotations

from .case import Case, Explain

_SHAPE = r"(\[[\d,?]*\])"
_LONG_NAMES = {"float": "float32", "double": "float64", "half": "float16"}
_AXES = {
    "3": "samples, steps and features",
    "4": "samples, height, width and channels",
    "5": "samples, three of space, and channels",
}
"""The axes of the inputs of recurrent layers and convolutions of Keras."""


def refused_dtype(case: Case) -> str:
    """A tensor of a dtype that an op has no kernel for."""
    given, allowed, op = case.match.groups()
    names = [_LONG_NAMES.get(each, each) for each in allowed.replace(" ", "").split(",")]
    wanted = next((each for each in ("float32", "int32") if each in names), names[0])
    remedy = ", or write the numbers with a decimal point" if wanted == "float32" else ""
    return (
        f"Line {case.line} gives {op} a tensor of dtype {_LONG_NAMES.get(given, given)}, and it "
        f"takes {', '.join(names)} only. Cast it, as in tf.cast(x, tf.{wanted}){remedy}."
    )


def axis_out_of_range(case: Case) -> str:
    """An axis that a tensor does not have: some messages have its number first, some its rank."""
    numbers = {key: number for key, number in case.match.groupdict().items() if number}
    axis = next(number for key, number in numbers.items() if key.startswith("axis"))
    rank = int(next(number for key, number in numbers.items() if key.startswith("rank")))
    have = "has no axis, since it is a single number"
    if rank:
        have = "has axis 0 only" if rank == 1 else f"has axes 0 to {rank - 1}"
    return (
        f"Line {case.line} names axis {axis} of a tensor that {have}. "
        f"Axes are counted from 0, or from the last one by -1, -2 and so on. "
        f"Look at the axis that is given, or print the tensor's shape just before."
    )


def layer_rank(case: Case) -> str:
    """An input of a Keras layer that has too few or too many axes."""
    layer, least, wanted, _, shape = case.match.groups()
    axes = f" ({_AXES[wanted]})" if wanted in _AXES else ""
    return (
        f"The layer {layer} that line {case.line} runs takes an input of {wanted} axes{axes}"
        f"{' or more' if least else ''}, and got one of shape {shape}. "
        f"A single sample needs an axis for the batch in front: x[tf.newaxis]. "
        f"Other axes come by tf.reshape or tf.expand_dims."
    )


def left_loop(case: Case) -> str:
    """A tensor of a loop's or branch's graph, used outside of it: kept in a list of Python's."""
    lines = case.defining_lines
    where = f" (line {lines[-1]})" if lines else ""
    return (
        f"A tensor that was made inside of a loop or a branch of a compiled function{where} is "
        f"used outside of it, as when the loop appends it to a Python list. Only names that the "
        f"loop gives a new value come out of it. Use a tf.TensorArray, ta = ta.write(i, value), "
        f"or loop over Python's range in place of tf.range."
    )


OF_ARGUMENTS: tuple[tuple[str, str | Explain], ...] = (
    (
        r"Value for attr '\w+' of (\w+) is not in the list of allowed values: ([\w, ]+?)\s*; "
        r"NodeDef: \{\{node (\w+)\}\}",
        refused_dtype,
    ),
    (
        r"Expected (?:concatenating )?dimensions? in the range \[-?\d+, (?P<rank1>\d+)\), but got "
        r"(?P<axis1>-?\d+)"
        r"|Invalid reduction dimension \(?(?P<axis2>-?\d+) for input with (?P<rank2>\d+)"
        r"|Tried to expand dim index (?P<axis3>-?\d+) for tensor with (?P<rank3>\d+)"
        r"|must be in the range \[-?\d+, (?P<rank4>\d+)\) where .* Received: dim=(?P<axis4>-?\d+)",
        axis_out_of_range,
    ),
    (
        r"Can not squeeze dim\[(-?\d+)\], expected a dimension of 1, got (\d+)",
        "Line {line} squeezes axis {0}, which has {1} elements. Only an axis of one element can be "
        "left out. Name another axis, or take one of its elements by an index.",
    ),
    (
        r"transpose expects a vector of size (\d+)\. But input\(1\) is a vector of size (\d+)",
        "Line {line} transposes a tensor of {0} axes by a perm of {1} numbers. perm names each "
        "axis of the tensor once. Look at perm, or print the tensor's shape just before.",
    ),
    (
        r"(?:Shapes of all inputs must match: values\[\d+\]\.shape = |must have the same size and "
        r"shape\.\s+Input \d+: )" + _SHAPE + r" != (?:values\[\d+\]\.shape =|input \d+:) " + _SHAPE,
        "Line {line} puts tensors of the shapes {0} and {1} together, and all have to have the "
        "same shape. tf.concat joins tensors that differ along one axis; else tf.reshape, "
        "tf.pad or tf.broadcast_to gives them one shape.",
    ),
    (
        r"input depth must be evenly divisible by filter depth: (\d+) vs (\d+)",
        "Line {line} convolves an input of {0} channels (its last axis) with filters for {1}. "
        "Filters have the shape [height, width, channels of the input, channels of the output]. "
        "Make the third number {0}, or look at the last axis of the input.",
    ),
    (
        r"of layer [\"']?(\w+)[\"']? is incompatible with the layer: expected (min_)?ndim=(\d+), "
        r"found ndim=(\d+)\. Full shape received: (\(.*?\))",
        layer_rank,
    ),
    (
        r"[`']([\w.]+)[`'] (?:must also be initialized in|is None at the end of) the (main|else) "
        r"branch",
        "The if on line {line} depends on a tensor, so a compiled function holds both of its "
        "branches, and the {1} branch gives {0} no value. Each branch has to give the same names "
        "a tensor. Give {0} a value before the if, or in that branch.",
    ),
    (
        r"the (main|else) branch must also have a return statement",
        "The if on line {line} depends on a tensor, so a compiled function holds both of its "
        "branches, and the {0} branch returns nothing. "
        "Return a tensor of the same shape and dtype in both.",
    ),
    (
        r"[`']([\w.]+)[`'] has (dtype|shape) (.+?) in the main branch, but (?:dtype|shape) (.+?) "
        r"in the else branch",
        "The if on line {line} depends on a tensor, so a compiled function holds both of its "
        "branches, and {0} has {1} {2} in the one and {3} in the other. "
        "Give it one {1} in both, as by tf.cast or 1.0 in place of 1.",
    ),
    (r"(?:InaccessibleTensorError|is out of scope).*FuncGraph\(name=(?:while|cond)", left_loop),
    (
        r"condition " + _SHAPE + r", then " + _SHAPE + r", and else " + _SHAPE,
        "On line {line} tf.where got a condition of shape {0} and values of the shapes {1} and "
        "{2}, which do not fit. Each axis must be equal in all three, or 1. "
        "Print the shapes just before; tf.where with the condition alone gives positions.",
    ),
    (
        r"evenly divide the split dimension, but got split_dim (\d+) \(size = (\d+)\) and "
        r"num_split (\d+)",
        "Line {line} splits an axis of {1} elements into {2} equal parts, and {1} is no multiple "
        "of {2}. Give the sizes of the parts as a list, or split another axis.",
    ),
    (
        r"non-rectangular Python sequence",
        "Line {line} makes a tensor of lists that have different lengths. A tensor has as many "
        "elements in each row. Pad the short ones, or make a tf.ragged.constant of them.",
    ),
    (
        r"Input to reshape is a tensor with (\d+) values, but the requested shape requires a "
        r"multiple of (\d+)",
        "Line {line} reshapes {0} elements into a shape that needs a multiple of {1}. A reshape "
        "keeps every element and adds none. Print the tensor's shape just before.",
    ),
    (
        r"Expected dimension (\d+) at axis (\d+) of the input shaped " + _SHAPE + r" but got "
        r"dimension (\d+)",
        "On line {line} tf.einsum got an input of shape {2}, whose axis {1} has {3} elements where "
        "another input has {0} for the same letter. Look at the letters, or print the shapes "
        "just before.",
    ),
    (
        r"indices\[[\d,]*\] = (\[[-\d, ]*\]) does not index into (?:param )?shape " + _SHAPE,
        "Line {line} names the place {0} of a tensor of shape {1}, which has none there. "
        "Places are counted from 0. Look at what made these indices.",
    ),
)
"""Rows of :data:`tapeviz.analysis.errors.table.EXPLANATIONS`: messages of TensorFlow 2.21 and
Keras 3."""
