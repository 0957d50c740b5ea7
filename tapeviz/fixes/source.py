"""The parsed text of a snippet: where its statements and calls stand, by line, for edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeAlias, TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

Statement: TypeAlias = "cst.SimpleStatementLine | cst.BaseCompoundStatement"
_Node = TypeVar("_Node", bound=cst.CSTNode)


class ParsedSource:
    """Parsed text with places. Raises ``ValueError`` for text that libcst cannot parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
            self._positions = wrapper.resolve(PositionProvider)
            self._parents = wrapper.resolve(ParentNodeProvider)
        except (cst.ParserSyntaxError, RecursionError) as error:
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

    def bound_to(self, name: str) -> cst.BaseExpression | None:
        """The value of the only plain assignment to a name; None if there are more.

        Also of ``a, b = c, d``.
        """
        values = [
            value
            for assign in all_of(self.module, cst.Assign)
            for target in assign.targets
            for to, value in _pairs(target.target, assign.value)
            if isinstance(to, cst.Name) and to.value == name
        ]
        return values[0] if len(values) == 1 else None

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

    @cached_property
    def tf(self) -> str:
        """The text's name for TensorFlow."""
        return self._alias("tensorflow", "tf")

    @cached_property
    def np(self) -> str:
        """The text's name for NumPy."""
        return self._alias("numpy", "np")

    def _alias(self, module: str, usual: str) -> str:
        for node in nodes_in(self.module):
            if not isinstance(node, cst.ImportAlias) or self.code(node.name) != module:
                continue
            if isinstance(self._parents.get(node), cst.Import):
                return self.code(node.asname.name) if node.asname else module
        return usual


class _Collector(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.found.append(node)
        return True


def nodes_in(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The node and all below it, in the order of the text."""
    collector = _Collector()
    node.visit(collector)
    return collector.found


def all_of(node: cst.CSTNode, kind: type[_Node]) -> list[_Node]:
    return [node for node in nodes_in(node) if isinstance(node, kind)]


def header_nodes(statement: cst.CSTNode, kind: type[_Node]) -> list[_Node]:
    """Nodes of a kind in a statement, without those in the body of a compound one."""
    body = getattr(statement, "body", None)
    if isinstance(statement, cst.SimpleStatementLine) or not isinstance(body, cst.BaseSuite):
        return all_of(statement, kind)
    if isinstance(body, cst.SimpleStatementSuite):
        return all_of(statement, kind)
    inside = set(map(id, nodes_in(body)))
    return [node for node in all_of(statement, kind) if id(node) not in inside]


def called_name(call: cst.Call) -> str:
    """``matmul`` of ``tf.linalg.matmul(…)``."""
    function = call.func
    if isinstance(function, cst.Attribute):
        return function.attr.value
    return function.value if isinstance(function, cst.Name) else ""


def dotted(node: cst.CSTNode) -> str:
    """``tf.math.log`` of the expression that spells it, else empty."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr.value}" if before else ""
    return ""


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


def _pairs(
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
