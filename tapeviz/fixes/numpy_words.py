"""Say in TensorFlow's names what a name of NumPy or ``math`` means."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from .plan import enclosed
from .source import ParsedSource, argument, called_name, dotted

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
multiply ones_like pad pow reshape roll round sign sin sinh sort sqrt square squeeze stack subtract
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
    "linalg.norm": "norm",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "nanmean": "reduce_mean",
    "nansum": "reduce_sum",
    "negative": "negative",
    "power": "pow",
    "prod": "reduce_prod",
    "std": "math.reduce_std",
    "sum": "reduce_sum",
    "trace": "linalg.trace",
    "var": "math.reduce_variance",
}
FUNCTIONS = {
    **{name: f"{{tf}}.experimental.numpy.{name}({{all}})" for name in _EXPERIMENTAL.split()},
    **{name: f"{{tf}}.{name}({{all}})" for name in _TF.split()},
    **{name: f"{{tf}}.math.{name}({{all}})" for name in _MATH.split()},
    **{f"linalg.{name}": f"{{tf}}.linalg.{name}({{all}})" for name in _LINALG.split()},
    **{name: f"{{tf}}.{other}({{all}})" for name, other in _OTHER_NAME.items()},
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
    """The code in TensorFlow of a call of NumPy's or math's ``function``, one of ``FUNCTIONS``."""
    tf, code = source.tf, source.code
    if function in _BY_ARGUMENTS and (text := _BY_ARGUMENTS[function](source, call)):
        return text
    plain = [code(arg.value) for arg in call.args if arg.keyword is None]
    axis = argument(call, 1, "axis")
    return FUNCTIONS[function].format(
        tf=tf,
        all=", ".join(code(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for arg in call.args),
        a=plain[0] if plain else code(call.args[0].value),
        b=plain[1] if len(plain) > 1 else "",
        axis=code(axis.value) if axis is not None else "0",
    )


def _given(source: ParsedSource, call: cst.Call, position: int, *keywords: str) -> str:
    given = argument(call, position, *keywords)
    return source.code(enclosed(given.value)) if given is not None else ""


def _log(source: ParsedSource, call: cst.Call) -> str:
    """``math.log(x, base)``; empty without a base."""
    x, base = _given(source, call, 0), _given(source, call, 1)
    base = f"{base}.0" if base.isdigit() else base
    return f"({source.tf}.math.log({x}) / {source.tf}.math.log({base}))" if base else ""


def _convolved(source: ParsedSource, call: cst.Call) -> str:
    """TensorFlow's convolution does not flip the kernel, and pads by hand."""
    tf = source.tf
    a, v, mode = (_given(source, call, *at) for at in ((0, "a"), (1, "v"), (2, "mode")))
    n = f"{tf}.size({v})"
    pads = {"full": f"[{n} - 1, {n} - 1]", "same": f"[{n} // 2, ({n} - 1) // 2]", "valid": "[0, 0]"}
    around = f"[[0, 0], {pads.get(mode.strip(chr(34) + chr(39)), pads['full'])}, [0, 0]]"
    padded = f"{tf}.pad({tf}.reshape({a}, [1, -1, 1]), {around})"
    kernel = f"{tf}.reshape({tf}.reverse({v}, [0]), [-1, 1, 1])"
    return f'{tf}.nn.conv1d({padded}, {kernel}, 1, "VALID")[0, :, 0]'


def _interpolated(source: ParsedSource, call: cst.Call) -> str:
    """The height of the first point and, of each piece, the slope times the part of it passed."""
    tf = source.tf
    x, *points = (_given(source, call, *at) for at in ((0, "x"), (1, "xp"), (2, "fp")))
    passed = f"{tf}.clip_by_value({tf}.expand_dims(x, -1) - xp[:-1], 0.0, xp[1:] - xp[:-1])"
    rest = f"{tf}.reduce_sum({passed} * (fp[1:] - fp[:-1]) / (xp[1:] - xp[:-1]), -1)"
    given = ", ".join((x, *(f"{tf}.cast({each}, {tf}.float32)" for each in points)))
    return f"(lambda x, xp, fp: fp[0] + {rest})({given})"


def interpolated_by(source: ParsedSource, call: cst.Call) -> Callable[[cst.Call], str] | None:
    """The code for a call of what was made by ``scipy.interpolate.interp1d(xs, ys)``."""
    made = source.bound_to(call.func) if isinstance(call.func, cst.Name) else None
    if not isinstance(made, cst.Call) or dotted(made.func) != "scipy.interpolate.interp1d":
        return None
    points = [arg for arg in made.args if arg.keyword is None][:2]
    return lambda old: _interpolated(source, old.with_changes(args=[*old.args[:1], *points]))


def solved_vector(source: ParsedSource, call: cst.Call) -> str:
    """``np.linalg.solve(a, b)`` of a vector, which TensorFlow asks to be a column."""
    tf, a, b = source.tf, _given(source, call, 0, "a"), _given(source, call, 1, "b")
    return f"{tf}.linalg.solve({a}, {b}[:, {tf}.newaxis])[:, 0]"


def _area(source: ParsedSource, call: cst.Call) -> str:
    y, x, width = (_given(source, call, *at) for at in ((0, "y"), (1, "x"), (2, "dx")))
    width = f" * ({x}[1:] - {x}[:-1])" if x else f" * {width}" if width else ""
    return f"{source.tf}.reduce_sum(({y}[1:] + {y}[:-1]) / 2.0{width})"


def _area_by_parabolas(source: ParsedSource, call: cst.Call) -> str:
    """Simpson's rule, for an odd number of points at one distance."""
    y, x, width = (_given(source, call, *at) for at in ((0, "y"), (1, "x"), (2, "dx")))
    width = f"({x}[1] - {x}[0])" if x else width or "1.0"
    inner = f"4.0 * {source.tf}.reduce_sum({y}[1::2]) + 2.0 * {source.tf}.reduce_sum({y}[2:-1:2])"
    return f"({width} / 3.0 * ({y}[0] + {y}[-1] + {inner}))"


def _normal(form: str) -> Callable[[ParsedSource, cst.Call], str]:
    """A function of the normal distribution of ``{z}``, which is ``x`` less the mean by the
    deviation ``{s}``."""

    def code(source: ParsedSource, call: cst.Call) -> str:
        x, mean, deviation = (
            _given(source, call, *at) for at in ((0, "x"), (1, "loc"), (2, "scale"))
        )
        z = f"({x} - {mean})" if mean else x
        z = f"({z} / {deviation})" if deviation else z
        return form.format(tf=source.tf, z=z, s=deviation or "1.0")

    return code


def _entropy(source: ParsedSource, call: cst.Call) -> str:
    """The entropy of numbers that need not sum to 1, or their divergence from a second row."""
    tf, p, q = source.tf, _given(source, call, 0, "pk"), _given(source, call, 1, "qk")
    p = f"({p} / {tf}.reduce_sum({p}))"
    if not q:
        return f"(-{tf}.reduce_sum({tf}.math.xlogy({p}, {p})))"
    q = f"({q} / {tf}.reduce_sum({q}))"
    return f"{tf}.reduce_sum({tf}.math.xlogy({p}, {p} / {q}))"


_LOG_OF_ROOT = "0.9189385332046727"  # log(sqrt(2 pi))
_BY_ARGUMENTS: dict[str, Callable[[ParsedSource, cst.Call], str]]
_BY_ARGUMENTS = {"log": _log, "convolve": _convolved, "interp": _interpolated}
_BY_ARGUMENTS |= {"trapz": _area, "trapezoid": _area}
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
_BY_ARGUMENTS |= {
    **{f"signal.{name}": _convolved for name in ("convolve", "fftconvolve")},
    **{f"integrate.{name}": _area for name in ("trapz", "trapezoid")},
    **{f"integrate.{name}": _area_by_parabolas for name in ("simps", "simpson")},
    "stats.entropy": _entropy,
    "stats.norm.logpdf": _normal(
        f"(-0.5 * {{tf}}.square({{z}}) - {_LOG_OF_ROOT} - {{tf}}.math.log({{s}}))"
    ),
    "stats.norm.pdf": _normal(
        f"({{tf}}.exp(-0.5 * {{tf}}.square({{z}}) - {_LOG_OF_ROOT}) / {{s}})"
    ),
    "stats.norm.cdf": _normal("(0.5 * {tf}.math.erfc(-{z} / 1.4142135623730951))"),
}
FUNCTIONS |= dict.fromkeys(_BY_ARGUMENTS.keys() - FUNCTIONS.keys(), "")
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
    "cumsum": "{tf}.cumsum({x}{more})",
    "cumprod": "{tf}.math.cumprod({x}{more})",
    "trace": "{tf}.linalg.trace({x})",
    "ptp": "({tf}.reduce_max({x}) - {tf}.reduce_min({x}))",
    **{
        name: f"{{tf}}.experimental.numpy.{name}({{x}}{{more}})"
        for name in ("diagonal", "swapaxes")
    },
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
