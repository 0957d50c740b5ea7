"""The parsed text of a snippet: where its statements and calls stand, by line, for edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TypeAlias

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

from ..text.trees import parse_module
from .forms import matches
from .meanings import TENSORFLOW, meanings_of, module_name, with_meanings
from .nodes import (
    Node,
    all_of,
    argument,
    called_name,
    dotted,
    elements,
    enclosed,
    header_nodes,
    nodes_in,
    pairs_of,
    parameters_of,
)

CstStatement: TypeAlias = "cst.SimpleStatementLine | cst.BaseCompoundStatement"


def _refuse_too_deep(text: str) -> None:
    """Raise for what is nested too deeply for Python: libcst crashes, or takes minutes in which it
    holds the interpreter's lock. Other syntax that this Python lacks a newer one may have run."""
    try:
        parse_module(text)
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
            self.tf = module_name(module, TENSORFLOW, "tf")
            self.np = module_name(module, ("numpy",), "np")
            module = with_meanings(module, meanings_of(module, self.tf, self.np))
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

    def ancestors_below(self, node: cst.CSTNode, top: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around it that stand in ``top``, the nearest first."""
        return takewhile(lambda above: above is not top, self.ancestors(node))

    def enclosing(self, node: cst.CSTNode, kind: type[Node]) -> Node | None:
        return next(
            (ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, kind)), None
        )

    # Statements

    @cached_property
    def statements(self) -> tuple[CstStatement, ...]:
        """All statements that own their lines, in the order of the text."""
        return tuple(
            node
            for node in nodes_in(self.module)
            if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        )

    def statement(self, line: int) -> CstStatement | None:
        """The smallest statement that covers the line."""
        covering = [statement for statement in self.statements if self.covers(statement, line)]
        return min(covering, key=lambda s: self.end_line(s) - self.line(s), default=None)

    def statement_of(self, node: cst.CSTNode) -> CstStatement | None:
        """The statement that a node is, or stands in."""
        for outer in (node, *self.ancestors(node)):
            if isinstance(outer, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                return outer
        return None

    def siblings(self, statement: CstStatement) -> Sequence[CstStatement]:
        """The statements of the same body, this one among them."""
        parent = self._parents.get(statement)
        if isinstance(parent, (cst.Module, cst.IndentedBlock)):
            return [
                s
                for s in parent.body
                if isinstance(s, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
            ]
        return [statement]

    def after(self, statement: CstStatement) -> Sequence[CstStatement]:
        """The statements that follow in the same body."""
        siblings = self.siblings(statement)
        place = next(i for i, sibling in enumerate(siblings) if sibling is statement)
        return siblings[place + 1 :]

    def before(self, statement: CstStatement) -> Sequence[CstStatement]:
        siblings = self.siblings(statement)
        place = next(i for i, sibling in enumerate(siblings) if sibling is statement)
        return siblings[:place]

    def beside(self, node: cst.CSTNode, statement: CstStatement) -> CstStatement | None:
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
        return tuple(parameters_of(function)) if function is not None else ()

    def nodes(self, kind: type[Node], *lines: int) -> list[Node]:
        """The nodes of a kind in the statements on these lines, without those in the body of a
        compound one."""
        statements = (self.statement(line) for line in lines)
        return [
            node
            for statement in statements
            if statement is not None
            for node in header_nodes(statement, kind)
        ]

    # Expressions

    def calls(self, line: int, *names: str) -> list[cst.Call]:
        """Calls of a function or method of such a name on this line."""
        statement = self.statement(line)
        if statement is None:
            return []
        found = [call for call in header_nodes(statement, cst.Call) if called_name(call) in names]
        exact = [call for call in found if self.covers(call, line)]
        return exact or found

    def calls_to(self, *names: str) -> list[cst.Call]:
        """The calls of functions or methods of such names in the text, in its order. A name may be
        a whole path: ``metric.result``."""
        wanted = frozenset(names)
        return [
            call
            for call in self._calls
            if called_name(call) in wanted or dotted(call.func) in wanted
        ]

    def calls_of(self, function: cst.FunctionDef) -> list[cst.Call]:
        """The calls of a function that the text defines: by its name; of a method by ``self``, by
        names of objects of its class and by names that no object was given, as parameters have; of
        ``call`` and ``__call__`` by the names of objects alone, too."""
        name = function.name.value
        scopes = (
            n for n in self.ancestors(function) if isinstance(n, (cst.ClassDef, cst.FunctionDef))
        )
        owner = next(scopes, None)
        spelled = {name}
        if isinstance(owner, cst.ClassDef):
            made = {
                dotted(target.target): called_name(assign.value)
                for assign in self._assigns
                if isinstance(assign.value, cst.Call)
                for target in assign.targets
            }
            objects = {each for each, kind in made.items() if each and kind == owner.name.value}
            called = (dotted(call.func) for call in self._calls)
            receivers = {each.removesuffix(f".{name}") for each in called} - made.keys()
            unknown = {each for each in receivers if "." not in each} - {self.tf, self.np}
            spelled = {f"{each}.{name}" for each in ("self", *objects, *unknown)}
            spelled |= objects if name in ("call", "__call__") else set()
        return [call for call in self._calls if dotted(call.func) in spelled]

    def code(self, node: cst.CSTNode) -> str:
        return self.module.code_for_node(node)

    def operand(self, node: cst.BaseExpression) -> str:
        """The code of an expression, in parentheses where an operator beside it would split it."""
        return self.code(enclosed(node))

    def argument_code(self, call: cst.Call, position: int, *keywords: str) -> str:
        """The :meth:`operand` that a call is given at a position or by one of these keywords; empty
        if it is given none."""
        given = argument(call, position, *keywords)
        return self.operand(given) if given is not None else ""

    def further_arguments(self, call: cst.Call, *given: cst.BaseExpression | None) -> str:
        """The code of the arguments but those of these values, with a comma in front of each."""
        others = (arg for arg in call.args if arg.value not in given)
        return "".join(f", {self.code(arg).rstrip(', ')}" for arg in others)

    def bound_to(self, name: str | cst.Name) -> cst.BaseExpression | None:
        """The value of the assignment that a name has here, also of ``a, b = c, d``.

        A node of the text has the last assignment before it in its function; a mere name the only
        one that there is, None if there are more.
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
                    places = [i for i, part in enumerate(elements(to)) if dotted(part) == spelled]
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

    def value_of(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The value that a name is :meth:`bound_to`, if it is known; else the node itself."""
        return (self.bound_to(node) if isinstance(node, cst.Name) else None) or node

    def target_of(self, value: cst.CSTNode) -> cst.BaseExpression | None:
        """``x`` of ``x = value``, if that is all that is assigned, and to nothing else."""
        assign = self.parent(value)
        is_alone = isinstance(assign, cst.Assign) and len(assign.targets) == 1
        return assign.targets[0].target if is_alone and isinstance(assign, cst.Assign) else None

    def is_bound_to(self, node: cst.BaseExpression, value: cst.CSTNode) -> bool:
        """Whether ``node`` is a name, and ``value`` what it is bound to here."""
        return isinstance(node, cst.Name) and self.bound_to(node) is value

    def leads_to(self, node: cst.CSTNode, made: cst.CSTNode) -> bool:
        """Whether ``made`` is :meth:`behind` the node."""
        return any(inner is made for inner in self.behind(node))

    def behind(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The node, its parts, and those of what its names are bound to, alone or as one of
        several, and so on."""
        waiting, seen = [node], {node}
        while waiting:
            for inner in nodes_in(waiting.pop()):
                yield inner
                made = self.maker_of(inner) if isinstance(inner, cst.Name) else None
                value = made[0] if made is not None else None
                if value is not None and value not in seen:
                    seen.add(value)
                    waiting.append(value)

    def picked_by(
        self, made: cst.BaseExpression
    ) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression]]:
        """``values[made]``, also by the name that it is bound to: the subscript, with what stands
        in its brackets alone, and the values."""
        name = self.target_of(made)
        for node, (index, values) in matches(all_of(self.module, cst.Subscript), "_v[_i]"):
            if index is made or (name is not None and name.deep_equals(index)):
                yield node, index, values

    @cached_property
    def _assigns(self) -> list[cst.Assign]:
        return all_of(self.module, cst.Assign)

    @cached_property
    def _calls(self) -> list[cst.Call]:
        return all_of(self.module, cst.Call)

    # Names

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that imports bind; ``tf``, ``np`` and ``keras`` are there without."""
        aliases = all_of(self.module, cst.ImportAlias)
        paths = (dotted(alias.asname.name if alias.asname else alias.name) for alias in aliases)
        return frozenset({self.tf, self.np, "keras", *(path.partition(".")[0] for path in paths)})

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(n.value for n in nodes_in(self.module) if isinstance(n, cst.Name))
