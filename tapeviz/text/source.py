"""The snippet's text, asked what stands where: lines, calls, the words for operands and ops."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from .branches import TextBranch, branches_by_name
from .names import called_name, dotted, names_in
from .trees import lines_of, parse_expression, parse_module

_TARGET_NAMES = ("target", "ys", "targets", "primals")
_SOURCE_NAMES = ("sources", "xs", "source")
_TAPES = ("GradientTape", "ForwardAccumulator")
_LONGEST_WORDS = 30
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_PACKAGES = ("tensorflow", "keras", "tf_keras")
_DECIDED = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Break, ast.Continue)


class TextSpan(NamedTuple):
    """A stretch of the text: lines from 1, columns from 0 in characters; -1 unknown."""

    line: int
    column: int = -1
    end_line: int = -1
    end_column: int = -1


def _chooses(node: ast.AST) -> bool:
    is_extreme = isinstance(node, ast.Call) and called_name(node) in ("max", "min")
    return is_extreme or isinstance(node, ast.IfExp) or bool(getattr(node, "ifs", ()))


_LAYERS = ("Layer", "Model", "Sequential")


class SourceText:
    """A snippet that can be asked what stands where. Text that does not parse has no calls."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._segments: dict[ast.AST, str] = {}

    @cached_property
    def tree(self) -> ast.Module | None:
        try:
            return parse_module(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree, each before those in it; none of a text that does not parse."""
        return tuple(ast.walk(self.tree)) if self.tree else ()

    @cached_property
    def branches(self) -> Mapping[str, Sequence[TextBranch]]:
        """The branches of the text by the names that they read."""
        return branches_by_name(self.tree) if self.tree else {}

    def code(self, line: int) -> str:
        """The text of a line, without its indentation; empty outside the text."""
        return self._stripped[line - 1] if 0 < line <= len(self.lines) else ""

    @cached_property
    def _stripped(self) -> tuple[str, ...]:
        """Each once: 20,000 causes may lie on a line."""
        return tuple(line.strip() for line in self.lines)

    def segment(self, node: ast.AST) -> str:
        """The text of a node in one line; cut out once, for a loop asks for it in each round."""
        if node not in self._segments:
            self._segments[node] = " ".join(self._cut_out(node).split())
        return self._segments[node]

    def _cut_out(self, node: ast.AST) -> str:
        """``ast.get_source_segment`` splits the whole text at each call."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        end_line, end = getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", None)
        lines = self._encoded[line - 1 : end_line] if line and end_line else []
        if not lines or end is None:
            return ""
        lines[-1] = lines[-1][:end]  # first: it may be the first line, too
        lines[0] = lines[0][column:]
        return b"".join(lines).decode()

    @cached_property
    def _encoded(self) -> list[bytes]:
        """The lines, with their ends, as Python's parser counts them: in UTF-8."""
        return [line.encode(errors="surrogatepass") for line in _LINE.findall(self.text)]

    def node_at(self, span: TextSpan, within: ast.AST) -> ast.expr | ast.AugAssign | None:
        """The expression, or ``+=``, in a tree that stands exactly there; None without."""
        if not 0 < span.line <= span.end_line <= len(self._encoded):
            return None
        begin, end = (
            len(self._encoded[line - 1].decode(errors="ignore")[:column].encode())
            for line, column in ((span.line, span.column), (span.end_line, span.end_column))
        )
        place = span.line, begin, span.end_line, end
        names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
        found = (
            node
            for node in ast.walk(within)
            if isinstance(node, (ast.expr, ast.AugAssign))
            if tuple(getattr(node, name) for name in names) == place
        )
        return next(found, None)

    def span(self, node: ast.expr) -> TextSpan:
        """Where an expression of the text stands, as the frames of a site tell it."""
        last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        begin, end = self._column(node.lineno, node.col_offset), self._column(last, end)
        return TextSpan(node.lineno, begin, last, end)

    def _column(self, line: int, offset: int) -> int:
        """The column in characters of one in UTF-8 bytes, as ``ast`` counts."""
        return len(self._encoded[line - 1][:offset].decode(errors="ignore"))

    @cached_property
    def _calls(self) -> dict[int, list[ast.Call]]:
        by_line: dict[int, list[ast.Call]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Call):
                by_line.setdefault(node.lineno, []).append(node)
        return by_line

    @cached_property
    def _opened_names(self) -> dict[int, list[str]]:
        by_line: dict[int, list[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.withitem):
                named = node.optional_vars
                name = named.id if isinstance(named, ast.Name) else ""
                by_line.setdefault(node.context_expr.lineno, []).append(name)
        return by_line

    def opened_name(self, line: int) -> str:
        """``tape`` of ``with tf.GradientTape() as tape``, if one object only is opened there."""
        names = self._opened_names.get(line, [])
        return names[0] if len(names) == 1 else ""

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return [node for node in self.nodes if isinstance(node, ast.stmt)]

    def statement(self, line: int) -> ast.stmt | None:
        """The smallest statement that covers the line."""
        return self._smallest.get(line)

    @cached_property
    def _smallest(self) -> dict[int, ast.stmt]:
        found: dict[int, ast.stmt] = {}
        for node in sorted(self._statements, key=lambda node: len(lines_of(node))):
            for line in lines_of(node):
                found.setdefault(line, node)
        return found

    def condition_on(self, line: int) -> str:
        """The text of the only condition on a line: of an ``if``, of ``tf.cond`` or of
        ``tf.switch_case``; else empty."""
        statement = self.statement(line)
        found = [
            self.segment(condition)
            for node in (ast.walk(statement) if statement is not None else ())
            if getattr(node, "lineno", 0) == line
            for condition in _conditions(node)
        ]
        return found[0] if len(found) == 1 else ""

    def counts_turns(self, line: int) -> bool:
        """Whether a loop over a range begins on the line."""
        statement = self.statement(line)
        if not isinstance(statement, ast.For) or statement.lineno != line:
            return False
        names = (
            n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "")
            for n in ast.walk(statement.iter)
        )
        return "range" in names

    def chooses_value(self, line: int) -> bool:
        """Whether a truth value on the line decides what a name is bound to or a function returns:
        a conditional expression, ``max``, ``min``, a comprehension with an ``if``, or an ``if`` or
        ``while`` that does more than call functions."""
        statement = self.statement(line)
        if not isinstance(statement, (ast.If, ast.While)):
            nodes = ast.walk(statement) if statement else ()
            return any(map(_chooses, nodes))
        branches = [*statement.body, *statement.orelse]
        return any(isinstance(n, _DECIDED) for part in branches for n in ast.walk(part))

    def call_at(self, span: TextSpan, method: str) -> ast.Call | None:
        """The call that ran there: by its columns, else the line's only call of that name."""
        name = method.rsplit(".", 1)[-1]
        candidates = self._calls.get(span.line, [])
        for call in candidates:
            if span.column >= 0 and self.span(call)[2:] == span[2:]:
                return call
        named = [call for call in candidates if called_name(call) == name]
        if len(named) == 1:
            return named[0]
        if named:
            return None
        statement = self.statement(span.line)
        inside = ast.walk(statement) if statement else ()
        named = [n for n in inside if isinstance(n, ast.Call) and called_name(n) == name]
        return named[0] if len(named) == 1 else None

    def words_at(self, span: TextSpan) -> str:
        """The snippet's words for the op that ran there: ``tf.argmax``, ``x // 2``."""
        node = self._expression_at(span)
        if isinstance(node, ast.Call):
            name = self.segment(node.func)
            return name if name.partition(".")[0] in self._tensorflow else ""
        words = self.expression_at(span)
        return self._shortened(node) if not words and isinstance(node, ast.BinOp) else words

    def _shortened(self, node: ast.BinOp) -> str:
        """``x / tf.norm(…)`` of a long quotient: calls without their arguments. Where that is still
        long, ``x / …``, or how each side begins."""
        without = ast.unparse(self._without_arguments(node))
        if len(without) <= 2 * _LONGEST_WORDS:
            return without
        sides = (node.left, node.right)
        words = [self.segment(side) for side in sides]
        short = [side if len(side) < _LONGEST_WORDS / 2 else "…" for side in words]
        if short == ["…", "…"]:
            cut = [f"{side[: _LONGEST_WORDS // 2 - 1]}…" for side in words]
            short = [
                f"({side})" if isinstance(of, ast.BinOp) else side
                for side, of in zip(cut, sides, strict=True)
            ]
        return ast.unparse(ast.BinOp(ast.Name(short[0]), node.op, ast.Name(short[1])))

    def _without_arguments(self, node: ast.expr, most: int = 2 * _LONGEST_WORDS) -> ast.expr:
        """Operators as they are, and long calls among what they combine as ``f(…)``. ``most``:
        operators inside one another that are taken apart; more would not fit."""
        if isinstance(node, ast.BinOp) and most:
            left, right = (
                self._without_arguments(side, most - 1) for side in (node.left, node.right)
            )
            return ast.BinOp(left, node.op, right)
        if isinstance(node, ast.UnaryOp) and most:
            return ast.UnaryOp(node.op, self._without_arguments(node.operand, most - 1))
        words = self.segment(node)
        if isinstance(node, ast.Call) and len(words) > _LONGEST_WORDS / 3:
            words = f"{self.segment(node.func)}(…)"
        return ast.Name(words)

    def expression_at(self, span: TextSpan) -> str:
        """The call or operator that stands there, as written; empty if it is long."""
        node = self._expression_at(span)
        words = self.segment(node) if node is not None else ""
        return words if len(words) <= _LONGEST_WORDS else ""

    def names_given(self, span: TextSpan) -> tuple[frozenset[str], frozenset[str]]:
        """The names that are operands or arguments of the call or operator that stands there, and
        all names in it."""
        node = self._expression_at(span)
        if node is None:
            return frozenset(), frozenset()
        given: list[ast.expr] = []
        for part in ast.iter_child_nodes(node):
            value = part.value if isinstance(part, (ast.keyword, ast.Starred)) else part
            if isinstance(value, ast.expr) and value is not getattr(node, "func", None):
                given.append(value)
        return frozenset(part.id for part in given if isinstance(part, ast.Name)), names_in(node)

    def is_given_lambda(self, span: TextSpan) -> bool:
        """Whether the call there is handed a lambda, so that code of the snippet runs in it."""
        return is_given_lambda(self._expression_at(span))

    def _expression_at(self, span: TextSpan) -> ast.expr | None:
        return self._expressions.get(span)

    @cached_property
    def _expressions(self) -> dict[TextSpan, ast.expr]:
        """Calls and operators by where they stand."""
        return {
            self.span(node): node
            for node in self.nodes
            if isinstance(node, (ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp))
        }

    @cached_property
    def _tensorflow(self) -> frozenset[str]:
        """The names under which the snippet has TensorFlow or Keras, or parts of them; ``tf`` is
        there anyway."""
        names = {"tf"}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                packages = [(name, name.name.partition(".")[0]) for name in node.names]
                names |= {n.asname or package for n, package in packages if package in _PACKAGES}
            elif isinstance(node, ast.ImportFrom):
                package = (node.module or "").partition(".")[0]
                names |= {n.asname or n.name for n in node.names if package in _PACKAGES}
        return frozenset(names)

    @cached_property
    def aliases(self) -> Mapping[str, frozenset[str]]:
        """The other names that a function has in the text, by its own name: ``stop`` for
        ``stop_gradient`` after ``stop = tf.stop_gradient`` or ``from … import … as stop``."""
        found: dict[str, set[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                own = dotted(node.value).rpartition(".")[2]
                for target in node.targets:
                    found.setdefault(own, set()).add(dotted(target).rpartition(".")[2])
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    found.setdefault(name.name, set()).add(name.asname or name.name)
        return {own: frozenset(names - {""}) for own, names in found.items() if own}

    def classes_from(self, bases: Collection[str], module: str = "") -> Mapping[str, ast.ClassDef]:
        """The classes of the text, by name, that derive from one of ``bases`` (names without their
        modules) or from a class of a ``module`` (the last part of its name), some through others of
        these classes."""
        found: dict[str, ast.ClassDef] = {}
        for owner in self.nodes:
            if isinstance(owner, ast.ClassDef):
                paths = [ast.unparse(base).split(".") for base in owner.bases]
                if any(
                    path[-1] in bases or path[-1] in found or (module and module in path[:-1])
                    for path in paths
                ):
                    found[owner.name] = owner
        return found

    @cached_property
    def variables_of_layers(self) -> frozenset[int]:
        """The lines on which a class made from one of Keras gives itself a ``tf.Variable``."""
        lines = set[int]()
        for owner in self.classes_from(_LAYERS, "layers").values():
            for node in ast.walk(owner):
                if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                    continue
                path = ast.unparse(node.value.func).split(".")
                is_variable = path[-1] == "Variable" and path[0] in self._tensorflow
                is_attribute = any(isinstance(target, ast.Attribute) for target in node.targets)
                if is_variable and is_attribute and "keras" not in path:
                    lines.add(node.lineno)
        return frozenset(lines)

    def operands(self, call: ast.Call | None, which: str) -> ast.expr | None:
        """The expression given as ``target`` or ``sources`` of a gradient call.

        The target of ``jvp(y)`` is ``y``, which TensorFlow calls ``primals``.
        """
        if call is None:
            return None
        names, position = (_TARGET_NAMES, 0) if which == "target" else (_SOURCE_NAMES, 1)
        position += self._is_method_of_class(dotted(call.func))
        for keyword in call.keywords:
            if keyword.arg in names:
                return keyword.value
        if len(call.args) > position and not any(
            isinstance(argument, ast.Starred) for argument in call.args[: position + 1]
        ):
            return call.args[position]
        return None

    def _is_method_of_class(self, path: str) -> bool:
        """Whether this names a method as the class of tapes has it, which is given the tape first:
        ``tf.GradientTape.gradient``, or ``old`` after ``old = tf.GradientTape.gradient``."""
        owner = path.rpartition(".")[0].rpartition(".")[2]
        return owner in self._tape_classes or path in self._names_of_tape_methods

    @cached_property
    def _tape_classes(self) -> frozenset[str]:
        return frozenset((*_TAPES, *self.classes_from(_TAPES)))

    @cached_property
    def _names_of_tape_methods(self) -> frozenset[str]:
        """The names that the text gives to methods of classes of tapes."""
        return frozenset(
            dotted(target)
            for node in self.nodes
            if isinstance(node, ast.Assign)
            and dotted(node.value).rpartition(".")[0].rpartition(".")[2] in self._tape_classes
            for target in node.targets
            if dotted(target)
        )

    def element(self, expression: ast.expr | None, keys: Sequence[int | str]) -> str:
        """The words for one element of a structure: ``x`` of ``[x, y]``, ``c[0]`` of ``c``."""
        if expression is None:
            return ""
        keys = list(keys)
        while keys and (inner := _inside(expression, keys[0])) is not None:
            expression = inner
            keys.pop(0)
        return self.segment(expression) + "".join(f"[{key!r}]" for key in keys)


def _inside(expression: ast.expr, key: int | str) -> ast.expr | None:
    if isinstance(expression, (ast.List, ast.Tuple)) and isinstance(key, int):
        plain = not any(isinstance(element, ast.Starred) for element in expression.elts)
        return expression.elts[key] if plain and 0 <= key < len(expression.elts) else None
    if isinstance(expression, ast.Dict):
        for known, value in zip(expression.keys, expression.values, strict=True):
            if isinstance(known, ast.Constant) and known.value == key:
                return value
    return None


@lru_cache(maxsize=1_000)
def is_plain_path(text: str) -> bool:
    """Whether the words name one thing (``x``, ``self.w``, ``c[0]``, ``params['w']``)."""
    try:
        node = parse_expression(text)
    except (SyntaxError, ValueError):
        return False
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.If, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        names = ("pred", "branch_index")
        named = [keyword.value for keyword in node.keywords if keyword.arg in names]
        return (node.args[:1] or named) if node.func.attr in ("cond", "switch_case") else []
    return []


def is_given_lambda(node: ast.AST | None) -> bool:
    """Whether it is a call that is handed a lambda."""
    if not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(isinstance(value, ast.Lambda) for value in given)


def holds_code(text: str) -> bool:
    """Whether a line of the text is neither blank nor a comment."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())
