"""The parsed text of a snippet: where its statements and calls stand, by line, for edits."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

Statement: TypeAlias = "cst.SimpleStatementLine | cst.BaseCompoundStatement"
_Node = TypeVar("_Node", bound=cst.CSTNode)


def _refuse_too_deep(text: str) -> None:
    """Raise for what is nested too deeply for Python: libcst crashes, or takes minutes in which it
    holds the interpreter's lock. Other syntax that this Python lacks a newer one may have run."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        if "too many" in error.msg:  # nested parentheses, levels of indentation
            raise RecursionError(error.msg) from None


class ParsedSource:
    """Parsed text with places. Raises ``ValueError`` for text that libcst cannot parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        nodes_in.cache_clear()  # it would keep the nodes of texts that nobody needs any more
        try:
            _refuse_too_deep(text)
            module = cst.parse_module(text)
            self.tf = _module_name(module, _TENSORFLOW, "tf")
            self.np = _module_name(module, ("numpy",), "np")
            module = _with_meanings(module, _meanings(module, self.tf, self.np))
            wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
            self._positions = wrapper.resolve(PositionProvider)
            self._parents = wrapper.resolve(ParentNodeProvider)
        except (cst.ParserSyntaxError, RecursionError, MemoryError) as error:
            raise ValueError(f"the text does not parse: {error}") from None
        self.module = wrapper.module

    # Places

    def line(self, node: cst.CSTNode) -> int:
        """The first line, 1-based."""
        return self._positions[node].start.line

    def column(self, node: cst.CSTNode) -> int:
        return self._positions[node].start.column

    def end_line(self, node: cst.CSTNode) -> int:
        return self._positions[node].end.line

    def covers(self, node: cst.CSTNode, line: int) -> bool:
        return self.line(node) <= line <= self.end_line(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around it, the nearest first."""
        above = self._parents.get(node)
        while above is not None:
            yield above
            above = self._parents.get(above)

    def enclosing(self, node: cst.CSTNode, kind: type[_Node]) -> _Node | None:
        return next(
            (ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, kind)), None
        )

    # Statements

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All statements that own their lines, in the order of the text."""
        return tuple(
            node
            for node in nodes_in(self.module)
            if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        )

    def statement(self, line: int) -> Statement | None:
        """The smallest statement that covers the line."""
        covering = [statement for statement in self.statements if self.covers(statement, line)]
        return min(covering, key=lambda s: self.end_line(s) - self.line(s), default=None)

    def statement_of(self, node: cst.CSTNode) -> Statement | None:
        """The statement that a node is, or stands in."""
        for outer in (node, *self.ancestors(node)):
            if isinstance(outer, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                return outer
        return None

    def siblings(self, statement: Statement) -> Sequence[Statement]:
        """The statements of the same body, this one among them."""
        parent = self._parents.get(statement)
        if isinstance(parent, (cst.Module, cst.IndentedBlock)):
            return [
                s
                for s in parent.body
                if isinstance(s, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
            ]
        return [statement]

    def after(self, statement: Statement) -> Sequence[Statement]:
        """The statements that follow in the same body."""
        siblings = self.siblings(statement)
        place = next(i for i, sibling in enumerate(siblings) if sibling is statement)
        return siblings[place + 1 :]

    def before(self, statement: Statement) -> Sequence[Statement]:
        siblings = self.siblings(statement)
        place = next(i for i, sibling in enumerate(siblings) if sibling is statement)
        return siblings[:place]

    def beside(self, node: cst.CSTNode, statement: Statement) -> Statement | None:
        """The statement around ``node`` in the body that ``statement`` stands in."""
        body = self.siblings(statement)
        for outer in (node, *self.ancestors(node)):
            if any(outer is sibling for sibling in body):
                return outer  # type: ignore[return-value]
        return None

    def function_of(self, node: cst.CSTNode) -> cst.CSTNode:
        """The function that a node stands in, else the module."""
        return self.enclosing(node, cst.FunctionDef) or self.module

    def parameters(self, node: cst.CSTNode) -> tuple[str, ...]:
        """The names of the parameters of the function that a node stands in."""
        function = self.enclosing(node, cst.FunctionDef)
        parameters = function.params.params if function is not None else ()
        return tuple(parameter.name.value for parameter in parameters)

    # Expressions

    def calls(self, line: int, *names: str) -> list[cst.Call]:
        """Calls of a function or method of such a name on this line."""
        statement = self.statement(line)
        if statement is None:
            return []
        found = [call for call in header_nodes(statement, cst.Call) if called_name(call) in names]
        exact = [call for call in found if self.covers(call, line)]
        return exact or found

    def code(self, node: cst.CSTNode) -> str:
        return self.module.code_for_node(node)

    def bound_to(self, name: str | cst.Name) -> cst.BaseExpression | None:
        """The value of the assignment that a name has here, also of ``a, b = c, d``.

        Of a node of the text that is the last one before it in its function; else the only one
        there is, None if there are more.
        """
        made, place = self.maker_of(name) or (None, None)
        return made if place is None else None

    def maker_of(self, name: str | cst.Name) -> tuple[cst.BaseExpression, int | None] | None:
        """Like :meth:`bound_to`, with the place of the name in ``a, b = value``, if it has one."""
        spelled = name if isinstance(name, str) else name.value
        found: list[tuple[cst.Assign, cst.BaseExpression, int | None]] = []
        for assign in self._assigns:
            for target in assign.targets:
                for to, value in pairs_of(target.target, assign.value):
                    parts = to.elements if isinstance(to, (cst.Tuple, cst.List)) else ()
                    places = [i for i, part in enumerate(parts) if dotted(part.value) == spelled]
                    if dotted(to) == spelled:
                        found.append((assign, value, None))
                    elif places:
                        found.append((assign, value, places[0]))
        if not isinstance(name, str) and name in self._positions:
            around = set(map(id, self.ancestors(name)))
            found = [each for each in found if id(each[0]) not in around]
            if len(found) > 1:
                function, start = self.function_of(name), self._positions[name].start
                here = [each for each in found if self.function_of(each[0]) is function]
                ends = [self._positions[each[0]].end for each in here]
                before = [(e.line, e.column) <= (start.line, start.column) for e in ends]
                found = [each for each, is_before in zip(here, before, strict=True) if is_before]
                found = found[-1:]
        return found[0][1:] if len(found) == 1 else None

    def is_bound_to(self, node: cst.BaseExpression, value: cst.CSTNode) -> bool:
        """Whether ``node`` is a name, and ``value`` what it is bound to here."""
        return isinstance(node, cst.Name) and self.bound_to(node) is value

    def leads_to(self, node: cst.CSTNode, made: cst.CSTNode) -> bool:
        """Whether ``made`` is :meth:`behind` the node."""
        return any(inner is made for inner in self.behind(node))

    def behind(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The node, its parts, and those of what its names are bound to, and so on."""
        waiting, seen = [node], {node}
        while waiting:
            for inner in nodes_in(waiting.pop()):
                yield inner
                value = self.bound_to(inner) if isinstance(inner, cst.Name) else None
                if value is not None and value not in seen:
                    seen.add(value)
                    waiting.append(value)

    def picked_by(self, made: cst.BaseExpression) -> Iterator[cst.Subscript]:
        """``values[made]``, also by the name that it is bound to: subscripts with this alone."""
        assign = self.enclosing(made, cst.Assign)
        name = assign.targets[0].target if assign is not None and assign.value is made else None
        for node in all_of(self.module, cst.Subscript):
            part = node.slice[0].slice
            if len(node.slice) != 1 or not isinstance(part, cst.Index):
                continue
            if part.value is made or (name is not None and name.deep_equals(part.value)):
                yield node

    @cached_property
    def _assigns(self) -> list[cst.Assign]:
        return all_of(self.module, cst.Assign)

    # Names

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(n.value for n in nodes_in(self.module) if isinstance(n, cst.Name))

    def free_name(self, wanted: str) -> str:
        """This name, or one like it that the text does not use."""
        name, number = wanted, 2
        while name in self.names:
            name, number = f"{wanted}{number}", number + 1
        return name


_TENSORFLOW = ("tensorflow", "tensorflow.compat.v2", "tensorflow.compat.v1")
_KERAS_ROOTS = ("keras.", "tf_keras.")


@dataclass(frozen=True)
class KnownName(cst.Name):
    """A name that stands for something of a module: ``stop`` after ``stop = tf.stop_gradient``.

    ``meant``: its whole path with the text's names of the modules, ``tf.stop_gradient``.
    """

    meant: str = ""

    def _visit_and_replace_children(self, visitor: cst.CSTVisitorT) -> KnownName:
        return self


def _module_name(module: cst.Module, paths: Sequence[str], usual: str) -> str:
    """The text's name for a module."""
    for line in all_of(module, cst.Import):
        for alias in line.names:
            if dotted(alias.name) in paths:
                name = alias.asname.name if alias.asname else alias.name
                return dotted(name)
    return usual


def _meanings(module: cst.Module, tf: str, np: str) -> Mapping[str, str]:
    """Maps the names that an import or a plain assignment (``rnd = tf.round``) binds, and nothing
    else does, to the paths that they mean."""
    found: dict[str, str] = {}
    bound: Counter[str] = Counter()

    def path_of(full: str) -> str:
        full = f"tensorflow.{full}" if full.startswith(_KERAS_ROOTS) else full
        full = full.replace("tensorflow.tf_keras.", "tensorflow.keras.")
        for root, name in (*((path, tf) for path in reversed(_TENSORFLOW)), ("numpy", np)):
            if full.startswith(f"{root}."):
                return f"{name}.{full.removeprefix(f'{root}.')}"
        return full

    for node in nodes_in(module):
        if isinstance(node, cst.Import):
            for alias in node.names:
                if alias.asname is not None and dotted(alias.name) not in (*_TENSORFLOW, "numpy"):
                    found[dotted(alias.asname.name)] = path_of(dotted(alias.name))
        elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                local = alias.asname.name if alias.asname else alias.name
                origin = dotted(node.module) if node.module is not None else ""
                if origin and not node.relative:
                    found[dotted(local)] = path_of(f"{origin}.{dotted(alias.name)}")
                bound[dotted(local)] += alias.asname is None  # else its AsName counts
        elif isinstance(node, (cst.Param, cst.FunctionDef, cst.ClassDef)):
            bound[node.name.value] += 1
        elif isinstance(node, (*_BINDING, cst.CompFor, cst.AsName)):
            targets = _targets(node.name if isinstance(node, cst.AsName) else node.target)
            bound.update(targets)
    for assign in all_of(module, cst.Assign):
        for target, value in pairs_of(assign.targets[0].target, assign.value):
            root, _, rest = dotted(value).partition(".")
            if isinstance(target, cst.Name) and rest and (root in (tf, np) or root in found):
                found[target.value] = f"{found.get(root, root)}.{rest}"
    known = (tf, np, "math", "scipy")
    return {
        name: path
        for name, path in found.items()
        if bound[name] == 1 and path.partition(".")[0] in known and name != path
    }


def _with_meanings(module: cst.Module, meanings: Mapping[str, str]) -> cst.Module:
    """The module with a :class:`KnownName` for each name that is read as one."""
    if not meanings:
        return module
    changed = module.visit(_Marker(meanings))
    assert isinstance(changed, cst.Module)
    return changed


class _Marker(cst.CSTTransformer):
    def __init__(self, meanings: Mapping[str, str]) -> None:
        super().__init__()
        self._meanings = meanings

    def visit_ImportAlias(self, node: cst.ImportAlias) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> Any:
        return self._marked(updated_node, "value")

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> Any:
        return self._marked(updated_node, "func")

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> Any:
        return self._marked(updated_node, "value")

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> Any:
        return self._marked(updated_node, "decorator")

    def _marked(self, node: Any, field: str) -> Any:
        name = getattr(node, field)
        if not isinstance(name, cst.Name) or name.value not in self._meanings:
            return node
        meant = self._meanings[name.value]
        return node.with_changes(**{field: KnownName(name.value, name.lpar, name.rpar, meant)})


class _Collector(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.found.append(node)
        return True


# Each edit looks for something in the same text; libcst takes milliseconds to walk through a page.
@lru_cache(maxsize=64)
def nodes_in(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The node and all below it, in the order of the text."""
    collector = _Collector()
    node.visit(collector)
    return tuple(collector.found)


def all_of(node: cst.CSTNode, kind: type[_Node]) -> list[_Node]:
    """The nodes of a kind among the node and all below it, in the order of the text."""
    nodes = nodes_in(node)
    # An instance check of libcst's abstract classes takes a microsecond, and most nodes are others.
    kinds = {each for each in set(map(type, nodes)) if issubclass(each, kind)}
    return [node for node in nodes if type(node) in kinds]  # type: ignore[misc]


def header_nodes(statement: cst.CSTNode, kind: type[_Node]) -> list[_Node]:
    """Nodes of a kind in a statement, without those in the body of a compound one."""
    body = getattr(statement, "body", None)
    if isinstance(statement, cst.SimpleStatementLine) or not isinstance(body, cst.BaseSuite):
        return all_of(statement, kind)
    if isinstance(body, cst.SimpleStatementSuite):
        return all_of(statement, kind)
    inside = set(map(id, nodes_in(body)))
    return [node for node in all_of(statement, kind) if id(node) not in inside]


# Functions of keras.backend and keras.ops with another name in TensorFlow.
_KERAS_NAMES = {name: f"reduce_{name}" for name in ("sum", "mean", "max", "min", "prod")}
_KERAS_NAMES |= {"variable": "Variable", "clip": "clip_by_value", "concatenate": "concat"}


def called_name(call: cst.Call) -> str:
    """``matmul`` of ``tf.linalg.matmul(…)``; of another name for it, and of a function of
    ``keras.backend`` and ``keras.ops``, the name that TensorFlow has."""
    path, _, name = dotted(call.func).rpartition(".")
    if path.endswith(("keras.backend", "keras.ops")):
        return _KERAS_NAMES.get(name, name)
    return name if name or not isinstance(call.func, cst.Attribute) else call.func.attr.value


def dotted(node: cst.CSTNode) -> str:
    """``tf.math.log`` of the expression that spells it, else empty."""
    if isinstance(node, KnownName):
        return node.meant
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr.value}" if before else ""
    return ""


def is_zero(node: cst.BaseExpression) -> bool:
    """Whether it is written as ``0`` or ``0.0``."""
    return isinstance(node, (cst.Integer, cst.Float)) and float(node.evaluated_value) == 0.0


def sole(statement: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    """The one small statement of a line that has only one."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


def argument(call: cst.Call, position: int, *keywords: str) -> cst.Arg | None:
    """An argument by its keyword or, if it was given so, by its position."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value in keywords:
            return arg
    plain = [arg for arg in call.args if arg.keyword is None and not arg.star]
    starred = any(arg.star for arg in call.args)
    return plain[position] if position < len(plain) and not starred else None


_BINDING = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)


def pairs_of(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The targets of an assignment, each with its value."""
    if not (isinstance(target, (cst.Tuple, cst.List)) and isinstance(value, (cst.Tuple, cst.List))):
        return [(target, value)]
    return [
        (to.value, given.value) for to, given in zip(target.elements, value.elements, strict=False)
    ]


def bound_names(statement: cst.CSTNode) -> frozenset[str]:
    """The names that a statement binds, as far as plain assignments and loops tell."""
    names: set[str] = set()
    for node in nodes_in(statement):
        if isinstance(node, _BINDING):
            names |= _targets(node.target)
        elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            names.add(node.name.value)
        elif isinstance(node, cst.AsName):
            names |= _targets(node.name)
    return frozenset(names)


def bindings_of(node: cst.CSTNode, name: str) -> list[cst.CSTNode]:
    """The assignments, loops and parameters in a node that bind a name."""
    return [
        each
        for each in nodes_in(node)
        if (isinstance(each, _BINDING) and name in _targets(each.target))
        or (isinstance(each, cst.Param) and each.name.value == name)
    ]


def _targets(target: cst.CSTNode) -> set[str]:
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        return {name for element in target.elements for name in _targets(element.value)}
    if isinstance(target, (cst.Attribute, cst.Subscript)):
        return _targets(target.value)
    return set()


def read_names(node: cst.CSTNode) -> frozenset[str]:
    """The names that occur in it, other than as attributes and keywords."""
    skipped: set[int] = set()
    for child in nodes_in(node):
        if isinstance(child, cst.Attribute):
            skipped.add(id(child.attr))
        elif isinstance(child, cst.Arg) and child.keyword is not None:
            skipped.add(id(child.keyword))
        elif isinstance(child, cst.AssignTarget) and isinstance(child.target, cst.Name):
            skipped.add(id(child.target))
    names = (name for name in nodes_in(node) if isinstance(name, cst.Name))
    return frozenset(name.value for name in names if id(name) not in skipped)
