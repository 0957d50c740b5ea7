"""Draws of NumPy's generators: the same draw as a function of its parameters, with a slope."""

from __future__ import annotations

import libcst as cst

from ..nodes import all_of, argument, called_name, dotted, is_call_to
from ..source import ParsedSource

_SCALED = "{{loc}} + {{scale}} * {{rng}}.{name}(size={{size}}).astype('float32')"
_NORMAL = "{rng}.standard_normal({size}).astype('float32')"
_EXPONENTIAL = "{rng}.standard_exponential({size}).astype('float32')"
_GAMMA = "{{tf}}.random.gamma({{shape_of_all}}, {a})"
_PLACED = (("loc", "scale"), ("0.0", "1.0"))
# From a draw without parameters, of the same stream: the code, the parameters, their defaults.
_OF_THE_STREAM = {
    "normal": (f"{{loc}} + {{scale}} * {_NORMAL}", *_PLACED),
    "uniform": (
        "{low} + ({high} - {low}) * {rng}.random({size}).astype('float32')",
        ("low", "high"),
        ("0.0", "1.0"),
    ),
    **{name: (_SCALED.format(name=name), *_PLACED) for name in ("gumbel", "laplace", "logistic")},
    "lognormal": (
        f"{{tf}}.exp({{mean}} + {{sigma}} * {_NORMAL})",
        ("mean", "sigma"),
        ("0.0", "1.0"),
    ),
    "exponential": (f"{{scale}} * {_EXPONENTIAL}", ("scale",), ("1.0",)),
    "rayleigh": (
        "{scale} * {rng}.rayleigh(size={size}).astype('float32')",
        ("scale",),
        ("1.0",),
    ),
    "weibull": (f"{{tf}}.pow({_EXPONENTIAL}, 1.0 / {{a}})", ("a",), ("1.0",)),
    "pareto": (f"{{tf}}.math.expm1({_EXPONENTIAL} / {{a}})", ("a",), ("1.0",)),
}
# By TensorFlow, of which a gamma has a slope by its shape (implicit reparameterization).
BY_GAMMA = {
    "gamma": ("{scale} * " + _GAMMA.format(a="{shape}"), ("shape", "scale"), ("1.0", "1.0")),
    "standard_gamma": (_GAMMA.format(a="{shape}"), ("shape",), ("1.0",)),
    "chisquare": ("2.0 * " + _GAMMA.format(a="0.5 * {df}"), ("df",), ("1.0",)),
    "beta": (
        f"(lambda g, h: g / (g + h))({_GAMMA.format(a='{a}')}, {_GAMMA.format(a='{b}')})",
        ("a", "b"),
        ("1.0", "1.0"),
    ),
    "dirichlet": (
        f"(lambda g: g / {{tf}}.reduce_sum(g, -1, keepdims=True))({_GAMMA.format(a='{alpha}')})",
        ("alpha",),
        ("1.0",),
    ),
}
_DRAWS = _OF_THE_STREAM | BY_GAMMA
_NEUTRAL = {"loc": 0, "mean": 0, "scale": 1, "sigma": 1}
"""Parameters that change nothing at this number: what is added, and what is multiplied."""
_GENERATORS = ("default_rng", "RandomState", "Generator")


def is_draw(source: ParsedSource, call: cst.Call) -> bool:
    """Whether it is a draw of NumPy's whose parameters are no plain numbers."""
    if called_name(call) not in _DRAWS or not isinstance(call.func, cst.Attribute):
        return False
    given = [arg for arg in call.args if arg.keyword is None or arg.keyword.value != "size"]
    has_numbers = all(isinstance(arg.value, cst.BaseNumber) for arg in given[:2])
    return not has_numbers and _is_generator(source, call.func.value)


def _is_generator(source: ParsedSource, node: cst.BaseExpression) -> bool:
    """Whether it is ``np.random``, is called ``rng``, or makes or was bound to a generator of
    NumPy's."""
    if isinstance(node, cst.Call):
        return called_name(node) in _GENERATORS
    path = dotted(node)
    last = path.rpartition(".")[2]
    if path == f"{source.np}.random" or "rng" in last:
        return True
    return any(
        is_call_to(assign.value, *_GENERATORS)
        and dotted(target.target).rpartition(".")[2] == last != ""
        for assign in all_of(source.module, cst.Assign)
        for target in assign.targets
    )


def drawn(source: ParsedSource, call: cst.Call) -> cst.BaseExpression:
    """``rng.normal(m, s)`` → ``m + s * rng.standard_normal(m.shape)``."""
    form, names, defaults = _DRAWS[called_name(call)]
    function, size = call.func, argument(call, len(names), "size")
    assert isinstance(function, cst.Attribute)
    written = source.code(size) if size is not None else ""
    parts = {"tf": source.tf, "rng": source.code(function.value), "size": written}
    for place, (name, default) in enumerate(zip(names, defaults, strict=True)):
        given = argument(call, place, name)
        parts[name] = source.operand(given) if given is not None else default
        if given is not None and not parts["size"] and not isinstance(given, cst.BaseNumber):
            parts["size"] = f"{parts[name]}.shape"
    is_list = written.startswith(("(", "["))
    parts["shape_of_all"] = written if is_list else f"[{written}]"
    for name, neutral in _NEUTRAL.items():
        term = f"{{{name}}} {'+' if neutral == 0 else '*'} "
        if parts.get(name) in (str(neutral), f"{neutral}.0"):
            form = form.replace(term, "")
    return cst.parse_expression(form.format(**parts))
