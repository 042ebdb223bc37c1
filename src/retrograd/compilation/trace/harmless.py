"""Whether the compiler may run the `backward` of a custom Function before the program does.

The compiler runs the backward pass of the results once, to trace it. The `backward` of a custom Function is code of the
program, which may count, print or append to a list. So its code is read first. It may use tensors, numbers, functions
of this package, and functions that depend on their arguments alone. It may write to nothing but what it makes itself.
"""

from __future__ import annotations

import dis
import inspect
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ...autograd.function import Function
from ...autograd.function_node import FunctionNode
from ...tensors.state.base import TensorBase
from ..program import constants
from ..program.constants import MISSING
from ..program.origins import OWN, USER, is_type, whose
from ..reach.judging import unknown
from ..reach.known import C_MODULES
from ..reach.patches import variable
from ..reach.reading import chains, codes

if TYPE_CHECKING:
    from ...graph.node import Node

# Instructions that write to what other code sees, or whose effect nobody can read.
_REFUSED = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME", "LOAD_NAME", "STORE_ATTR",
                      "DELETE_ATTR", "IMPORT_NAME", "LOAD_BUILD_CLASS"})
_OF_CELLS = frozenset({"STORE_DEREF", "DELETE_DEREF"})


def is_harmless(node: Node) -> bool:
    """Whether a node of a graph is none of a Function of the program, or one whose `backward` changes nothing."""
    if not isinstance(node, FunctionNode):
        return True
    function = node.context_class._forward_cls
    if whose(function.__module__) == OWN:
        return True
    reader = _Reader()
    used = [inspect.unwrap(function._backward_or_vjp()), *getattr(node, "attributes", {}).values()]
    return all(map(reader.may_use, used)) and not (reader.writes and reader.tensors)


class _Reader:
    """Reads functions. `writes` says whether one of them writes to elements or in place, `tensors` whether they use
    tensors that existed before.
    """

    def __init__(self) -> None:
        self.read: set[int] = set()
        self.writes = self.tensors = False

    def may_use(self, thing: Any) -> bool:
        """Whether code that uses a thing changes nothing by this."""
        kind = type(thing)
        if isinstance(thing, TensorBase):
            self.tensors = True
            return whose(kind.__module__) == OWN
        if constants.is_constant(thing) or (kind is tuple and all(map(self.may_use, thing))):
            return True
        if isinstance(thing, ModuleType):
            return whose(thing.__name__) == OWN or thing.__name__ in C_MODULES
        if is_type(thing) and issubclass(thing, Function):
            return whose(thing.__module__) == OWN or all(
                [self.may_use(inspect.unwrap(getattr(thing, name))) for name in ("forward", "backward", "setup_context")
                 if getattr(thing, name) is not getattr(Function, name)])
        if kind is FunctionType and whose(thing.__globals__.get("__name__")) == USER:
            return self._may_run(thing)
        of_program = whose(thing.__module__ if is_type(thing) else kind.__module__) == USER
        return callable(thing) and not of_program and not unknown(thing)

    def _may_run(self, function: FunctionType) -> bool:
        if id(function) in self.read:
            return True
        self.read.add(id(function))
        return all(map(self._is_quiet, codes(function.__code__))) and all(
            [self._may_reach(function, names) for names, _ in chains(function.__code__)]) and all(
            map(self.may_use, [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]))

    def _is_quiet(self, code: CodeType) -> bool:
        """Whether instructions write to nothing that code outside sees."""
        for instruction in dis.get_instructions(code):
            name = instruction.opname
            if name in _REFUSED or (name in _OF_CELLS and instruction.argval not in code.co_cellvars):
                return False
            self.writes = self.writes or name == "STORE_SUBSCR"
        self.writes = self.writes or any([name.endswith("_") and not name.startswith("__") for name in code.co_names])
        return True

    def _may_reach(self, function: FunctionType, names: tuple[str, ...]) -> bool:
        """Whether code may use what a variable from outside holds, and its attributes if it is a module."""
        root, *attributes = names
        own = {name for code in codes(function.__code__) for name in code.co_cellvars}
        if root in own.difference(function.__code__.co_freevars):
            return True                                      # a variable of the function itself
        thing = variable(function, root)
        for name in attributes:
            if not isinstance(thing, ModuleType):
                break
            thing = getattr(thing, name, MISSING)
        return self.may_use(thing)
