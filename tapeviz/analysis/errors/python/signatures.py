"""Explain calls by the parameters of what is called: arguments that it lacks or does not take, and
what each parameter was given."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ....text.names import called_name, calls_in, dotted
from ....text.source import SourceText
from ....text.trees import parse_expression
from ....trace.model import Failure
from ....wording import listed
from ..case import Case

RENAMED_KEYWORDS = {
    **dict.fromkeys(("dim", "dimension", "reduction_indices", "squeeze_dims"), "axis"),
    "keep_dims": "keepdims",
    "lr": "learning_rate",
    "nb_epoch": "epochs",
    "nb_filter": "filters",
}
"""Keywords of TensorFlow 1 and of other libraries, and what TensorFlow 2 calls them."""
_SHAPES = ("shape", "size", "newshape", "target_shape")
"""Parameters that take several numbers as one argument."""
_MOST_LISTED = 8


@dataclass(frozen=True)
class BoundCall:
    """A call, and what it gives to each parameter.

    ``parameters``: all but ``*args`` and ``**kwargs``; ``given``: by parameter, in the order of the
    call; ``by_default``: parameters that are not given, and what they are then, where that is a
    number; ``surplus``: arguments by position that no parameter takes; ``spread``: those that go
    into ``*args``; ``unknown``: keywords that are no parameter; ``missing``: parameters without a
    default that get nothing; ``twice``: one that is given by position and by name.
    """

    callee: str
    call: ast.Call
    parameters: Sequence[str]
    given: Mapping[str, ast.expr]
    by_default: Mapping[str, int]
    surplus: Sequence[ast.expr]
    spread: Sequence[ast.expr]
    unknown: Sequence[str]
    missing: Sequence[str]
    twice: str

    @property
    def takes(self) -> str:
        """The parameters, for a sentence."""
        shown = [*self.parameters[:_MOST_LISTED]]
        return ", ".join(shown + ["…"] * (len(self.parameters) > _MOST_LISTED)) or "none"


def bound_calls(case: Case) -> Iterator[BoundCall]:
    """The call that raised, or all calls on the line where it is not known, if the parameters of
    what is called were recorded."""
    raised = case.raised_at
    is_known = raised is not None or case.failure.span.column >= 0
    calls = [raised] if isinstance(raised, ast.Call) else [] if is_known else case.calls
    for call in calls:
        held = case.held.get(ast.unparse(call.func))
        if held is not None and held.takes:
            with suppress(SyntaxError, ValueError):  # of a damaged recording
                function = parse_expression(f"lambda {held.takes[1:-1]}: 0")
                if isinstance(function, ast.Lambda):
                    yield _bind(case.text.segment(call.func), call, function.args, held.defaults)


def _bind(
    callee: str, call: ast.Call, arguments: ast.arguments, numbers: Mapping[str, int]
) -> BoundCall:
    """Give the arguments of a call to parameters, as Python does; after ``*values`` none by
    position."""
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    alone = [each.arg for each in arguments.kwonlyargs]
    plain = [*call.args]
    is_open = any(isinstance(each, ast.Starred) for each in plain)
    is_open |= any(each.arg is None for each in call.keywords)
    if is_open:
        plain = plain[: next((i for i, a in enumerate(plain) if isinstance(a, ast.Starred)), None)]
    given = dict(zip(positional, plain, strict=False))
    named = {each.arg: each.value for each in call.keywords if each.arg is not None}
    optional = positional[len(positional) - len(arguments.defaults) :]
    optional += [n for n, d in zip(alone, arguments.kw_defaults, strict=True) if d is not None]
    parameters, beyond = [*positional, *alone], plain[len(positional) :]
    return BoundCall(
        callee,
        call,
        parameters,
        given | {name: value for name, value in named.items() if name in parameters},
        {name: number for name, number in numbers.items() if name not in {*given, *named}},
        [] if arguments.vararg is not None else beyond,
        beyond if arguments.vararg is not None else [],
        [name for name in named if name not in parameters],
        [n for n in parameters if n not in {*given, *named, *optional}] if not is_open else [],
        next((name for name in named if name in given), ""),
    )


def misfit(case: Case) -> str:
    """Words for a call whose arguments do not fit the parameters of what it calls; empty if they
    do, as where a function further inside was called wrongly."""
    for bound in bound_calls(case):
        unknown = [name for name in bound.unknown if f"'{name}'" in case.failure.message]
        if unknown or (bound.unknown and not bound.missing and not bound.surplus):
            name = (unknown or bound.unknown)[0]
            return unknown_words(case.line, bound.callee, name, bound.parameters)
        if bound.twice:
            place = bound.parameters.index(bound.twice)
            return (
                f"Line {case.line} gives {bound.callee} its {bound.twice} twice: by name, and "
                f"{case.text.segment(bound.call.args[place])} by position. "
                f"{_together(case, bound, 0)}"
            ).strip()
        if bound.missing:
            return (
                f"Line {case.line} calls {bound.callee} without {listed(bound.missing)}. It takes "
                f"{bound.takes}. Give all that have no default, in that order or by name."
            )
        if bound.surplus:
            count, held = len(bound.call.args), case.held.get(ast.unparse(bound.surplus[0]))
            words = ", ".join(map(case.text.segment, bound.call.args))
            if (
                held is not None
                and held.dtype
                and case.type_of(bound.call.func) in ("type", "ABCMeta")
            ):
                return (
                    f"Line {case.line} gives {words} to the class {bound.callee}, which makes an "
                    f"object of it. Make the object first, and call it: {bound.callee}()({words})."
                )
            return (
                f"Line {case.line} gives {bound.callee} {count} argument{'s' * (count > 1)} by "
                f"position, and it takes {bound.takes}. "
                f"{shape_in_pieces(case, bound) or _in_one_tuple(case, bound)}"
            ).strip()
    return ""


def unknown_words(line: int, callee: str, name: str, parameters: Sequence[str]) -> str:
    """Words for a keyword that is none of the parameters; of these the nearest one."""
    near = difflib.get_close_matches(name, parameters, n=1)
    if RENAMED_KEYWORDS.get(name) in parameters or (name in RENAMED_KEYWORDS and not parameters):
        near = [RENAMED_KEYWORDS[name]]
    mend = "Leave it out, or look up its name."
    if near:
        mend = f"Write {near[0]}= in its place."
    elif parameters:
        mend = f"It takes {', '.join(parameters[:_MOST_LISTED])}"
        mend += ", …." if len(parameters) > _MOST_LISTED else "."
    return f"Line {line} gives {callee} an argument {name}, which it does not take. {mend}"


def crossed_words(text: SourceText, failure: Failure) -> str:
    """Words for a call that the exception came through which gives names to a function of the
    snippet that are names of its parameters, too, in another order; empty without."""
    functions = [node for node in text.nodes if isinstance(node, ast.FunctionDef)]
    for line in dict.fromkeys((failure.line, *reversed(failure.lines))):
        for call in calls_in(text.statement(line)):
            given = [*map(dotted, call.args)]
            for made in functions:
                wanted = in_order(given, [each.arg for each in made.args.args])
                if made.name == called_name(call) and wanted:
                    return (
                        f"Line {line} calls {made.name} with {', '.join(given)}, and line "
                        f"{made.lineno} takes these in another order: {', '.join(wanted)}."
                    )
    return ""


def in_order(given: Sequence[str], parameters: Sequence[str]) -> Sequence[str]:
    """The arguments by position in the order of the parameters of the same names; empty if these
    have other names, or the arguments stand in that order."""
    own = parameters[parameters[:1] == ["self"] :][: len(given)]
    return own if len(given) > 1 and own != given and sorted(own) == sorted(given) else ()


def shape_in_pieces(case: Case, bound: BoundCall) -> str:
    """Words for a shape whose numbers are arguments of their own: ``np.zeros(3, 4)``."""
    for place, name in enumerate(bound.parameters[: len(bound.call.args) - 1]):
        if name in _SHAPES and all(is_int(case, each) for each in bound.call.args[place:]):
            return _together(case, bound, place)
    return ""


def _in_one_tuple(case: Case, bound: BoundCall) -> str:
    """Words for a layer of the snippet whose ``call`` takes as many inputs out of its parameter."""
    for made in case.nodes(ast.FunctionDef):
        names = [each.arg for each in made.args.args]
        for assign in ast.walk(made) if names[1:] == [*bound.parameters] else ():
            if isinstance(assign, ast.Assign) and dotted(assign.value) == names[1]:
                parts = getattr(assign.targets[0], "elts", ())
                words = ", ".join(map(case.text.segment, bound.call.args))
                if len(parts) == len(bound.call.args):
                    return (
                        f"{made.name} (line {made.lineno}) takes them out of {names[1]}, so give "
                        f"them as one tuple: {bound.callee}(({words}))."
                    )
    return ""


def without_names(case: Case, bound: BoundCall) -> str:
    """Words for arguments by position of a function that has names for all of its parameters, and
    raised something about one that was not given by name: ``Layer.add_weight`` of Keras 3."""
    message = re.findall(r"\w+", case.failure.message)
    asked = [name for name in bound.parameters if name in message and name not in bound.given]
    if not bound.spread or not asked:
        return ""
    words = ", ".join(map(case.text.segment, bound.spread))
    return (
        f"Line {case.line} gives {bound.callee} {words} without the names of its parameters, so "
        f"one of them may have come to {asked[0]}. Give each by its name; it takes {bound.takes}."
    )


def _together(case: Case, bound: BoundCall, place: int) -> str:
    """A proposal to give all arguments by position from a place on as one list."""
    words = [case.text.segment(each) for each in bound.call.args]
    named = [case.text.segment(each) for each in bound.call.keywords]
    if len(words) - place < 2:
        return ""
    arguments = ", ".join([*words[:place], f"[{', '.join(words[place:])}]", *named])
    return (
        f"{' and '.join(words[place:])} go into one argument, {bound.parameters[place]}, as a "
        f"list: {bound.callee}({arguments})."
    )


def is_int(case: Case, node: ast.expr) -> bool:
    """Whether an argument is written as a whole number, or held one."""
    held = case.held.get(ast.unparse(node))
    is_constant = isinstance(node, ast.Constant) and type(node.value) is int
    return is_constant or (held is not None and held.type == "int")
