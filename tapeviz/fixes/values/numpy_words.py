"""Say in TensorFlow's names what a name of NumPy or ``math`` means."""

from __future__ import annotations

import libcst as cst

from ..source import called_name, dotted

# {a}, {b}: arguments; {rest}: those after the ones named, with a comma in front if there are any.
# The line between the two sorted elements around a place: weights by a triangle of width 2.
_AT_RANK = (
    "{{tf}}.reduce_sum({{tf}}.sort({{tf}}.reshape({{a}}, [-1])) * {{tf}}.nn.relu(1.0 - {{tf}}.abs("
    "{{tf}}.cast({{tf}}.range({{tf}}.size({{a}})), {{tf}}.float32) "
    "- {share} * {{tf}}.cast({{tf}}.size({{a}}) - 1, {{tf}}.float32))))"
)
FUNCTIONS = {
    **{name: f"{{tf}}.{name}({{all}})" for name in ("abs", "exp", "sqrt", "square", "sin", "cos")},
    **{name: f"{{tf}}.{name}({{all}})" for name in ("tan", "sinh", "cosh", "tanh", "maximum")},
    **{name: f"{{tf}}.{name}({{all}})" for name in ("minimum", "sign", "multiply", "add")},
    **{name: f"{{tf}}.{name}({{all}})" for name in ("subtract", "divide", "transpose", "reshape")},
    **{name: f"{{tf}}.{name}({{all}})" for name in ("stack", "tile", "where", "einsum", "matmul")},
    **{name: f"{{tf}}.{name}({{all}})" for name in ("ones_like", "zeros_like", "squeeze", "roll")},
    **{name: f"{{tf}}.{name}({{all}})" for name in ("round", "floor", "pow", "expand_dims", "pad")},
    **{name: f"{{tf}}.math.{name}({{all}})" for name in ("log", "log1p", "expm1", "cumsum")},
    **{name: f"{{tf}}.math.{name}({{all}})" for name in ("cumprod", "reciprocal", "erf", "asin")},
    "power": "{tf}.pow({all})",
    "absolute": "{tf}.abs({all})",
    "fabs": "{tf}.abs({all})",
    "negative": "{tf}.negative({all})",
    "arctan": "{tf}.atan({all})",
    "arcsin": "{tf}.asin({all})",
    "arccos": "{tf}.acos({all})",
    "arctan2": "{tf}.atan2({all})",
    "atan": "{tf}.atan({all})",
    "acos": "{tf}.acos({all})",
    "sum": "{tf}.reduce_sum({all})",
    "mean": "{tf}.reduce_mean({all})",
    "average": "{tf}.reduce_mean({all})",
    "prod": "{tf}.reduce_prod({all})",
    "max": "{tf}.reduce_max({all})",
    "amax": "{tf}.reduce_max({all})",
    "min": "{tf}.reduce_min({all})",
    "amin": "{tf}.reduce_min({all})",
    "var": "{tf}.math.reduce_variance({all})",
    "std": "{tf}.math.reduce_std({all})",
    "hypot": "{tf}.sqrt({tf}.square({a}) + {tf}.square({b}))",
    "cbrt": "{tf}.sign({a}) * {tf}.pow({tf}.abs({a}), 1.0 / 3.0)",
    "exp2": "{tf}.pow(2.0, {a})",
    "lgamma": "{tf}.math.lgamma({a})",
    "gamma": "{tf}.exp({tf}.math.lgamma({a}))",
    "erfc": "{tf}.math.erfc({a})",
    "asinh": "{tf}.asinh({a})",
    "acosh": "{tf}.acosh({a})",
    "atanh": "{tf}.atanh({a})",
    "arcsinh": "{tf}.asinh({a})",
    "arccosh": "{tf}.acosh({a})",
    "arctanh": "{tf}.atanh({a})",
    "atan2": "{tf}.atan2({all})",
    "median": _AT_RANK.format(share="0.5"),
    "quantile": _AT_RANK.format(share="{b}"),
    "percentile": _AT_RANK.format(share="{b} / 100.0"),
    "radians": "({a} * (3.141592653589793 / 180.0))",
    "degrees": "({a} * (180.0 / 3.141592653589793))",
    "deg2rad": "({a} * (3.141592653589793 / 180.0))",
    "rad2deg": "({a} * (180.0 / 3.141592653589793))",
    "fsum": "{tf}.add_n({a})",
    "nansum": "{tf}.reduce_sum({all})",
    "nanmean": "{tf}.reduce_mean({all})",
    "logaddexp": "{tf}.reduce_logsumexp({tf}.stack([{a}, {b}]), axis=0)",
    "diff": "{tf}.experimental.numpy.diff({all})",
    "sort": "{tf}.sort({all})",
    "cross": "{tf}.linalg.cross({all})",
    "log2": "({tf}.math.log({a}) / {tf}.math.log(2.0))",
    "log10": "({tf}.math.log({a}) / {tf}.math.log(10.0))",
    "clip": "{tf}.clip_by_value({all})",
    "concatenate": "{tf}.concat({a}, {axis})",
    "hstack": "{tf}.experimental.numpy.hstack({all})",
    "vstack": "{tf}.experimental.numpy.vstack({all})",
    "inner": "{tf}.tensordot({a}, {b}, [[-1], [-1]])",
    "outer": "{tf}.tensordot({a}, {b}, 0)",
    "tensordot": "{tf}.tensordot({all})",
    "dot": "{tf}.experimental.numpy.dot({all})",
    "trace": "{tf}.linalg.trace({all})",
    "diag": "{tf}.experimental.numpy.diag({all})",
    "ravel": "{tf}.reshape({a}, [-1])",
    "array": "{tf}.convert_to_tensor({a})",
    "asarray": "{tf}.convert_to_tensor({a})",
    "ascontiguousarray": "{tf}.convert_to_tensor({a})",
    "copy": "{tf}.identity({a})",
    "float32": "{tf}.cast({a}, {tf}.float32)",
    "float64": "{tf}.cast({a}, {tf}.float64)",
    "float16": "{tf}.cast({a}, {tf}.float16)",
    "squeeze": "{tf}.squeeze({all})",
    "linalg.norm": "{tf}.norm({all})",
    "linalg.inv": "{tf}.linalg.inv({all})",
    "linalg.det": "{tf}.linalg.det({all})",
    "linalg.solve": "{tf}.linalg.solve({all})",
    "linalg.cholesky": "{tf}.linalg.cholesky({all})",
    "fft.fft": "{tf}.signal.fft({tf}.cast({a}, {tf}.complex64))",
}
# Methods of arrays that tensors do not have.
METHODS = {
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
}
# What hands a value to Python or NumPy: of a method the object stays, of a function its argument.
LEAVING_METHODS = frozenset(("numpy", "item", "tolist", "__float__", "__array__"))
LEAVING_FUNCTIONS = frozenset(("float", "int", "bool", "complex"))
# Functions of keras.ops and keras.backend that give arrays.
KERAS_LEAVING_FUNCTIONS = frozenset(("convert_to_numpy", "get_value"))
# They cut digits off: what is left without them is another number, if but slightly.
ROUNDING_FUNCTIONS = frozenset(("round", "str", "repr", "format"))
# What makes a tensor of a value that is a tensor already.
ENTERING = ("constant", "convert_to_tensor", "Variable", "strings.to_number", "strings.as_string")
# Draws: what NumPy's generators compute from a draw without parameters, of the same stream.
DRAWS = {
    "normal": (
        "{loc} + {scale} * {rng}.standard_normal({size}).astype('float32')",
        ("loc", "scale"),
        ("0.0", "1.0"),
    ),
    "uniform": (
        "{low} + ({high} - {low}) * {rng}.random({size}).astype('float32')",
        ("low", "high"),
        ("0.0", "1.0"),
    ),
}
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
