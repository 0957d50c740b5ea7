"""Say in TensorFlow's names what a name of NumPy, ``math`` or ``statistics`` means."""

from __future__ import annotations

import libcst as cst

from ..nodes import argument, bare, called_name, dotted
from ..source import ParsedSource
from .numpy_calls import BY_ARGUMENTS

# {a}, {b}: arguments; {rest}: those after the ones named, with a comma in front if there are any.
# The line between the two sorted elements around a place: weights by a triangle of width 2.
_AT_RANK = (
    "{{tf}}.reduce_sum({{tf}}.sort({{tf}}.reshape({{a}}, [-1])) * {{tf}}.nn.relu(1.0 - {{tf}}.abs("
    "{{tf}}.cast({{tf}}.range({{tf}}.size({{a}})), {{tf}}.float32) "
    "- {share} * {{tf}}.cast({{tf}}.size({{a}}) - 1, {{tf}}.float32))))"
)
_EXPERIMENTAL = """
append atleast_1d atleast_2d broadcast_to diag diagflat diagonal diff dot dstack flip fliplr flipud
hstack kron matmul meshgrid moveaxis polyval ptp repeat rot90 sinc split swapaxes take
take_along_axis tril triu true_divide vander vdot vstack
"""
_TF = """
abs add acosh asinh atan2 atanh cos cosh divide einsum exp expand_dims floor maximum minimum
multiply ones_like pad pow reshape round sign sin sinh sort sqrt square squeeze stack subtract
tan tanh tensordot tile transpose where zeros_like
"""
_MATH = "asin cumprod cumsum erf erfc expm1 lgamma log log1p reciprocal"
_LINALG = "cholesky det eigh eigvalsh inv pinv qr slogdet solve"
_OTHER_NAME = {
    "absolute": "abs",
    "acos": "acos",
    "amax": "reduce_max",
    "amin": "reduce_min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "atan": "atan",
    "average": "reduce_mean",
    "clip": "clip_by_value",
    "cross": "linalg.cross",
    "fabs": "abs",
    "fmean": "reduce_mean",
    "linalg.norm": "norm",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "nanmean": "reduce_mean",
    "nansum": "reduce_sum",
    "negative": "negative",
    "power": "pow",
    "pstdev": "math.reduce_std",
    "pvariance": "math.reduce_variance",
    "prod": "reduce_prod",
    "std": "math.reduce_std",
    "sum": "reduce_sum",
    "nanmax": "reduce_max",
    "nanmin": "reduce_min",
    "mod": "math.floormod",
    "remainder": "math.floormod",
    "fft.fftshift": "signal.fftshift",
    "fft.ifftshift": "signal.ifftshift",
    "full": "fill",
    "trace": "linalg.trace",
    "var": "math.reduce_variance",
}
FUNCTIONS = {
    **{name: f"{{tf}}.experimental.numpy.{name}({{all}})" for name in _EXPERIMENTAL.split()},
    **{name: f"{{tf}}.{name}({{all}})" for name in _TF.split()},
    **{name: f"{{tf}}.math.{name}({{all}})" for name in _MATH.split()},
    **{f"linalg.{name}": f"{{tf}}.linalg.{name}({{all}})" for name in _LINALG.split()},
    **{name: f"{{tf}}.{other}({{all}})" for name, other in _OTHER_NAME.items()},
    "argsort": "{tf}.argsort({a})",
    "linspace": "{tf}.linspace({all})",
    "nan_to_num": "{tf}.where({tf}.math.is_nan({a}), {tf}.zeros_like({a}), {a})",
    "hypot": "{tf}.sqrt({tf}.square({a}) + {tf}.square({b}))",
    "cbrt": "{tf}.sign({a}) * {tf}.pow({tf}.abs({a}), 1.0 / 3.0)",
    "exp2": "{tf}.pow(2.0, {a})",
    "gamma": "{tf}.exp({tf}.math.lgamma({a}))",
    "median": _AT_RANK.format(share="0.5"),
    "quantile": _AT_RANK.format(share="{b}"),
    "percentile": _AT_RANK.format(share="{b} / 100.0"),
    "radians": "({a} * (3.141592653589793 / 180.0))",
    "degrees": "({a} * (180.0 / 3.141592653589793))",
    "deg2rad": "({a} * (3.141592653589793 / 180.0))",
    "rad2deg": "({a} * (180.0 / 3.141592653589793))",
    "fsum": "{tf}.add_n({a})",
    "logaddexp": "{tf}.reduce_logsumexp({tf}.stack([{a}, {b}]), axis=0)",
    "log2": "({tf}.math.log({a}) / {tf}.math.log(2.0))",
    "log10": "({tf}.math.log({a}) / {tf}.math.log(10.0))",
    "concatenate": "{tf}.concat({a}, {axis})",
    "column_stack": "{tf}.stack({a}, axis=1)",
    "inner": "{tf}.tensordot({a}, {b}, [[-1], [-1]])",
    "outer": "{tf}.tensordot({a}, {b}, 0)",
    "ravel": "{tf}.reshape({a}, [-1])",
    "array": "{tf}.convert_to_tensor({a})",
    "asarray": "{tf}.convert_to_tensor({a})",
    "ascontiguousarray": "{tf}.convert_to_tensor({a})",
    "copy": "{tf}.identity({a})",
    "float32": "{tf}.cast({a}, {tf}.float32)",
    "float64": "{tf}.cast({a}, {tf}.float64)",
    "float16": "{tf}.cast({a}, {tf}.float16)",
    **{
        f"fft.{name}": f"{{tf}}.signal.{name}({{tf}}.cast({{a}}, {{tf}}.complex64))"
        for name in ("fft", "ifft")
    },
    "fft.fft2": "{tf}.signal.fft2d({tf}.cast({a}, {tf}.complex64))",
    "fft.ifft2": "{tf}.signal.ifft2d({tf}.cast({a}, {tf}.complex64))",
    "fft.rfft": "{tf}.signal.rfft({a})",
    "fft.irfft": "{tf}.signal.irfft({a})",
    "fft.rfft2": "{tf}.signal.rfft2d({a})",
    "real": "{tf}.math.real({a})",
    "imag": "{tf}.math.imag({a})",
    "angle": "{tf}.math.angle({a})",
}


def twin_of(source: ParsedSource, function: str, call: cst.Call) -> str:
    """The code in TensorFlow of a call of NumPy's or math's ``function``, one of ``FUNCTIONS``; the
    call itself where it is given something that the code has no place for."""
    tf, code = source.tf, source.code
    if function in BY_ARGUMENTS and (text := BY_ARGUMENTS[function](source, call)):
        return text
    form = FUNCTIONS[function]
    if not form:
        return code(call)
    dtype = next((arg for arg in call.args if arg.keyword and arg.keyword.value == "dtype"), None)
    if dtype is not None and "{all}" in form:  # only few of TensorFlow's take it
        call = call.with_changes(args=[arg for arg in call.args if arg is not dtype])
        form = f"{{tf}}.cast({form}, {_dtype_in_tensorflow(source, dtype.value)})"
    plain = [code(arg.value) for arg in call.args if arg.keyword is None]
    axis = argument(call, 1, "axis")
    return form.format(
        tf=tf,
        all=", ".join(code(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for arg in call.args),
        a=plain[0] if plain else code(call.args[0].value),
        b=plain[1] if len(plain) > 1 else "",
        axis=code(axis) if axis is not None else "0",
    )


def _dtype_in_tensorflow(source: ParsedSource, dtype: cst.BaseExpression) -> str:
    """``tf.float32`` for ``np.float32``; Python's ``float`` means the same dtype as elsewhere."""
    words = source.code(dtype).replace(f"{source.np}.", f"{source.tf}.")
    return f"{source.tf}.float32" if words in ("float", "'float32'", '"float32"') else words


# Of SciPy, whose modules have no name in common with NumPy's but linalg and fft.
FUNCTIONS |= {
    **{
        f"special.{name}": f"{{tf}}.math.{other}({{all}})"
        for name, other in (
            *(("erf", "erf"), ("erfc", "erfc"), ("erfinv", "erfinv"), ("gammaln", "lgamma")),
            *(("digamma", "digamma"), ("psi", "digamma"), ("xlogy", "xlogy"), ("expit", "sigmoid")),
            *(("log1p", "log1p"), ("expm1", "expm1"), ("betainc", "betainc"), ("i0", "bessel_i0")),
        )
    },
    "special.softmax": "{tf}.nn.softmax({all})",
    "special.log_softmax": "{tf}.nn.log_softmax({all})",
    "special.logsumexp": "{tf}.reduce_logsumexp({all})",
    "special.logit": "{tf}.math.log({a} / (1.0 - {a}))",
    "special.entr": "(-{tf}.math.xlogy({a}, {a}))",
    "special.gamma": "{tf}.exp({tf}.math.lgamma({a}))",
    "linalg.expm": "{tf}.linalg.expm({a})",
    "signal.fftconvolve": "",
    "spatial.distance.euclidean": "{tf}.norm({a} - {b})",
    "spatial.distance.cosine": (
        "(1.0 - {tf}.reduce_sum({a} * {b}) / ({tf}.norm({a}) * {tf}.norm({b})))"
    ),
    "spatial.distance.cdist": (
        "{tf}.norm({tf}.expand_dims({a}, 1) - {tf}.expand_dims({b}, 0), axis=-1)"
    ),
}
FUNCTIONS |= dict.fromkeys(BY_ARGUMENTS.keys() - FUNCTIONS.keys(), "")
PLAIN_TWINS = {
    name: form.removesuffix("({all})")
    for name, form in FUNCTIONS.items()
    if form.endswith("({all})")
}
"""Functions that take in TensorFlow what they take in NumPy: the one can stand for the other."""
# Methods of arrays and of variables that tensors do not have.
METHODS = {
    "read_value": "{tf}.identity({x})",
    "value": "{tf}.identity({x})",
    "sum": "{tf}.reduce_sum({x}{more})",
    "mean": "{tf}.reduce_mean({x}{more})",
    "prod": "{tf}.reduce_prod({x}{more})",
    "max": "{tf}.reduce_max({x}{more})",
    "min": "{tf}.reduce_min({x}{more})",
    "std": "{tf}.math.reduce_std({x}{more})",
    "var": "{tf}.math.reduce_variance({x}{more})",
    "dot": "{tf}.experimental.numpy.dot({x}{more})",
    "reshape": "{tf}.reshape({x}, {shape})",
    "transpose": "{tf}.transpose({x}{more})",
    "flatten": "{tf}.reshape({x}, [-1])",
    "ravel": "{tf}.reshape({x}, [-1])",
    "squeeze": "{tf}.squeeze({x}{more})",
    "astype": "{tf}.cast({x}, {dtype})",
    "copy": "{tf}.identity({x})",
    "clip": "{tf}.clip_by_value({x}{more})",
    "cumsum": "{tf}.cumsum({x}{more})",
    "cumprod": "{tf}.math.cumprod({x}{more})",
    "trace": "{tf}.linalg.trace({x})",
    "ptp": "({tf}.reduce_max({x}) - {tf}.reduce_min({x}))",
    **{
        name: f"{{tf}}.experimental.numpy.{name}({{x}}{{more}})"
        for name in ("diagonal", "swapaxes")
    },
}


def function_handed_on(source: ParsedSource, node: cst.CSTNode) -> str:
    """``tf.add`` for ``np.add`` where it is not called but handed on: ``reduce(np.add, rows)``."""
    module, _, name = (
        dotted(node).partition(".") if isinstance(node, cst.Attribute) else ("", "", "")
    )
    is_handed_on = isinstance(source.parent(node), (cst.Arg, cst.Element, cst.DictElement))
    known = module in (source.np, "math") and name in PLAIN_TWINS and is_handed_on
    return PLAIN_TWINS[name].format(tf=source.tf) if known else ""


def function_for_method(source: ParsedSource, call: cst.Call) -> cst.BaseExpression:
    """``p.sum(axis=0)`` → ``tf.reduce_sum(p, axis=0)``, of one of ``METHODS``."""
    code = source.code
    given = [code(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for arg in call.args]
    function = call.func
    assert isinstance(function, cst.Attribute)
    shape = given[0] if len(given) == 1 else f"[{', '.join(given)}]"
    text = METHODS[function.attr.value].format(
        tf=source.tf,
        x=code(bare(function.value)),
        more="".join(f", {size}" for size in given),
        shape=shape if shape.startswith(("[", "(")) or not shape else f"[{shape}]",
        dtype=_dtype_in_tensorflow(source, call.args[0].value) if call.args else "",
    )
    return cst.parse_expression(text)


# What hands a value to Python or NumPy: of a method the object stays, of a function its argument.
LEAVING_METHODS = frozenset(("numpy", "item", "tolist", "to_list", "__float__", "__array__"))
LEAVING_FUNCTIONS = frozenset(("float", "int", "bool", "complex"))
# Functions of keras.ops and keras.backend that give arrays.
KERAS_LEAVING_FUNCTIONS = frozenset(("convert_to_numpy", "eval", "get_value"))
# They cut digits off: what is left without them is another number, if but slightly.
ROUNDING_FUNCTIONS = frozenset(("round", "str", "repr", "format"))
# What makes a tensor of a value that is a tensor already.
ENTERING = ("constant", "convert_to_tensor", "Variable", "strings.to_number", "strings.as_string")
PREDICTING = frozenset(("predict", "predict_on_batch"))


def without_exit(value: cst.BaseExpression) -> cst.BaseExpression:
    """``t`` of ``float(t)``, of ``t.numpy()`` and of ``float(t.numpy())``."""
    while isinstance(value, cst.Call):
        if dotted(value.func) in LEAVING_FUNCTIONS and len(value.args) == 1:
            value = value.args[0].value
        elif isinstance(value.func, cst.Attribute) and called_name(value) in LEAVING_METHODS:
            value = value.func.value
        else:
            break
    return value
