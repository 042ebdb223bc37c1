"""Operators that programs define: a schema, kernels by device, a formula for gradients, a rule for batches.

A call is checked by the schema. Then the kernel of the CPU computes, without recording, or without the levels of
transforms. `recording` records the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..amp.autocast_mode import autocast, cast
from ..amp.switches import is_autocast_enabled
from ..autograd.function import Function
from ..autograd.function_batches import forward as in_batches
from ..autograd.grad_mode import no_grad
from ..autograd.graph import increment_version
from ..foundations.errors import no_kernel
from ..foundations.modes import local
from ..kernels.layout import owner_of
from ..ops import _Core
from ..ops.overloads import NAMESPACES, DefinedPacket, OpOverload, OpOverloadPacket, namespace
from ..tensors.recording.overriding import asked
from ..tensors.state.dispatch import UNHANDLED
from ..tensors.tensor import Tensor
from ..tensors.transforms.forward import ForwardLevel
from .recording import Layout, recorder
from .schemas import Schema, bound, parsed, without_defaults

Kernel = Callable[..., Any]
_SHARED = ("The output of this custom operator (1) must not also be an input to this custom operator and (2) may not "
           "alias any inputs to this custom operator or other returns. The most common way to trigger this error is if "
           "we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending "
           "output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y.")


@dataclass(eq=False)
class Registration:
    """A kernel that was added to an operator: in which place, and to which operator, None if it is not defined.

    The place is "whole", "fake", or a key of `kernels`.
    """

    slot: str | None
    kernel: Kernel
    operator: Operator | None = None


class Operator(OpOverload):
    """One overload of an operator that a program has defined.

    `kernels` are by device type, or under None for all devices. `whole` computes with the tensors as they are given,
    so the graph and the transforms see the operations inside. An operator is `closed` if the graph shows one node for
    it: all of `custom_op`, and others with a formula.
    """

    def __init__(self, packet: OpOverloadPacket, schema: Schema, closed: bool) -> None:
        super().__init__(packet, schema.overload_name or "default")
        self._schema, self.closed = schema, closed
        self.kernels: dict[str | None, Kernel] = {}
        self.disabled: set[str] = set()
        self.initial: Kernel | None = None     # stands in for a disabled kernel
        self.dispatches: dict[type, Kernel] = {}   # what computes for modes, and for classes of wrappers
        self.casts: dict[str, Any] = {}
        self.whole: Kernel | None = None
        self.fake: Kernel | None = None
        self.backward: Kernel | None = None
        self.setup: Kernel | None = None
        self.batches: Kernel | None = None
        self.passed_through = False            # whether an output may be an input that the operator has written
        self.init_name = packet.__name__       # of the function that computes
        self.registered: list[Registration] = []   # of libraries, the latest last
        self._before: dict[str | None, Kernel | None] = {}    # what computed before them
        self.function: type[Function] = recorder(self)         # records a call

    def add(self, registration: Registration) -> None:
        """Take a kernel, which computes until a later one comes, or until it is taken back."""
        if not any([each.slot == registration.slot for each in self.registered]):
            self._before[registration.slot] = self._in(registration.slot)
        registration.operator = self
        self.registered.append(registration)
        self._place(registration.slot, registration.kernel)

    def take_back(self, registration: Registration) -> None:
        """Forget a kernel. If it computes now, the one before it computes again."""
        self.registered.remove(registration)
        registration.operator = None
        if self._in(registration.slot) is registration.kernel:
            earlier = [each.kernel for each in self.registered if each.slot == registration.slot]
            self._place(registration.slot, earlier[-1] if earlier else self._before[registration.slot])

    def let_go(self) -> list[Registration]:
        """Forget all kernels that libraries have added. Returns them in their order."""
        left, self.registered = self.registered, []
        for each in left:
            each.operator = None
        return left

    def _in(self, slot: str | None) -> Kernel | None:
        if slot in ("whole", "fake"):
            found: Kernel | None = getattr(self, slot)
            return found
        return self.kernels.get(slot)

    def _place(self, slot: str | None, kernel: Kernel | None) -> None:
        if slot in ("whole", "fake"):
            setattr(self, slot, kernel)
        elif kernel is None:
            self.kernels.pop(slot, None)
        else:
            self.kernels[slot] = kernel

    @property
    def is_functional(self) -> bool:
        """Whether the operator writes over no argument."""
        return not self._schema.is_mutable

    def fits(self, *args: Any, **kwargs: Any) -> bool:
        try:
            bound(self._schema, args, kwargs)
        except RuntimeError:
            return False
        return True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        answer = asked(self, args, kwargs)
        if answer is not UNHANDLED:
            return answer
        given, named = without_defaults(self._schema, *bound(self._schema, args, kwargs))
        if self.casts and is_autocast_enabled("cpu") and "cpu" in self.casts:
            with autocast("cpu", enabled=False):
                return self._called([*cast(given, "cpu", self.casts["cpu"])], named)
        return self._called(given, named)

    def _called(self, given: list[Any], named: dict[str, Any]) -> Any:
        thread, tensors = local.thread, tensors_in([*given, *named.values()])
        if any([tensor.is_meta for tensor in tensors]):
            return self.without_numbers(given, named)
        if self.whole is not None:
            return self.whole(*given, **named)
        if not self.closed and self.backward is None and self.batches is None and _Core.handler is None:
            return self.checked(self.kernel()(*given, **named))
        moving = thread.grad and any([tensor.requires_grad for tensor in tensors])
        if self._schema.returns and (moving or thread.levels):
            layout = Layout(self, given, named)
            args = (*layout.taken_apart(given), layout)
            if moving or any([isinstance(level, ForwardLevel) for level in thread.levels]):
                return layout.assembled(self.function.apply(*args))
            with no_grad():
                return layout.assembled(in_batches(self.function, args))
        with no_grad():
            return self.computed(given, named)

    def computed(self, given: Sequence[Any], named: dict[str, Any]) -> Any:
        """The result of the kernel, checked. The version of a written argument grows by one more, as in PyTorch."""
        if _Core.handler is not None:
            handled = _Core.handler(self, given, named)
            if handled is not UNHANDLED:
                return handled
        result = self.checked(self.kernel()(*given, **named))
        if self.closed:
            self._check_memory(result, tensors_in([*given, *named.values()]))
        if not self.is_functional:
            values = dict(zip([a.name for a in self._schema.arguments], given)) | named
            for tensor in tensors_in([values.get(name) for name in self._schema.written]):
                increment_version(tensor)
        return result

    def kernel(self) -> Kernel:
        """The function that computes on the CPU. Raises NotImplementedError if there is none."""
        found = self.kernels.get("cpu") if "cpu" not in self.disabled else self.initial
        found = found or self.kernels.get(None)
        if found is None:
            raise no_kernel(self.name(), "CPU", instead='register a kernel: register_kernel("cpu"), or impl(…, "CPU")')
        return found

    def without_numbers(self, given: Sequence[Any], named: dict[str, Any]) -> Any:
        """The result for tensors of the device `meta`."""
        fake = self.fake or self.kernels.get("meta")
        if fake is None:
            raise RuntimeError(f"There was no fake impl registered for {self.shown()}. This is necessary for "
                               "torch.compile/export/fx tracing to work. Please use "
                               f"`{self.init_name}.register_fake` to add an fake impl.")
        return fake(*given, **named)

    def shown(self) -> str:
        """The operator as messages of PyTorch show it."""
        return f"<CustomOpDef({self.name()})>" if self.closed else repr(self)

    def checked(self, result: Any) -> Any:
        """The result of a kernel as the schema says: a list for a list, a tuple for several."""
        returns = self._schema.returns
        if not returns:
            if result is not None:
                raise RuntimeError(f"Expected PythonKernelHolder for {self.name()} to return None but it returned "
                                   "something else instead.")
            return None
        if len(returns) == 1 and not self._schema.wrapped:
            return _fitting(returns[0], result)
        if not isinstance(result, (tuple, list)):
            raise TypeError(f"Object of type '{type(result).__name__}' is not an instance of 'sequence'")
        if len(result) != len(returns):
            raise RuntimeError(f"{self.name()} returned {len(result)} values, but its schema has {len(returns)}: "
                               f"{self._schema}")
        return tuple([_fitting(each, value) for each, value in zip(returns, result)])

    def _check_memory(self, result: Any, inputs: list[Tensor]) -> None:
        """Raise RuntimeError if outputs share memory with inputs, or with each other."""
        taken = [] if self.passed_through else [owner_of(x._array) for x in inputs]
        for output in tensors_in(result if isinstance(result, tuple) else [result]):
            owner = owner_of(output._array)
            if any([owner is other for other in taken]):
                raise RuntimeError(f"{self.overloadpacket.__name__} (with implementation in {self.kernel().__module__})"
                                   f": {_SHARED}")
            taken.append(owner)


def tensors_in(values: Sequence[Any]) -> list[Tensor]:
    """The tensors among values, and in lists among them."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list):
            found += [each for each in value if isinstance(each, Tensor)]
    return found


def _fitting(wanted: Any, value: Any) -> Any:
    if wanted.size:
        if not isinstance(value, (list, tuple)):
            raise RuntimeError(f"Unable to cast Python instance of type {type(value)} to {wanted.type}")
        return [*value]
    if wanted.kind == "Tensor" and value is not None and not isinstance(value, Tensor):
        raise RuntimeError(f"Unable to cast {value} to Tensor")
    return value


# All operators by their names


def split(qualname: str) -> tuple[str, str]:
    """The namespace and the name. Raises ValueError for a name without a namespace."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError('Expected `qualname` to be of the form "namespace::name", but got '
                         f"{qualname}. The qualname passed to the torch.library APIs must consist of a namespace and a "
                         "name, e.g. aten::sin")
    return parts[0], parts[1]


def defined(space: str, schema_text: str, closed: bool, again: bool) -> Operator:
    """A new operator. Raises RuntimeError if there is one of this name already, unless `again` allows to replace it."""
    schema = parsed(schema_text)
    name = schema.name
    if not name:
        raise RuntimeError(f"expected ident but found '(' here:\n{schema_text}\n~ <--- HERE\n")
    schema = schema._replace(name=f"{space}::{name}")
    operators = namespace(space)
    packet = vars(operators).get(name)
    if not isinstance(packet, DefinedPacket):
        packet = vars(operators)[name] = DefinedPacket(space, name)
    overload = schema.overload_name or "default"
    if overload in packet.defined and not again:
        raise RuntimeError(f"Tried to register an operator ({schema}) with the same name and overload name multiple "
                           "times. Each overload's schema should only be registered with a single call to def().")
    made = packet.defined[overload] = Operator(packet, schema, closed)
    return made


def removed(operator: Operator) -> None:
    """Take an operator out of its namespace."""
    packet: Any = operator.overloadpacket
    packet.defined.pop(operator._overloadname, None)
    if not packet.defined:
        vars(NAMESPACES[operator.namespace]).pop(packet.__name__, None)


def known(qualname: str) -> Operator:
    """The operator of a name. Raises AttributeError if there is none."""
    space, name = split(qualname)
    name, _, overload = name.partition(".")
    found = getattr(getattr(namespace(space), name), overload or "default")
    if not isinstance(found, Operator):
        raise RuntimeError(f"{qualname} is an operator of PyTorch's core, which has its own kernels and gradients. "
                           "Define an operator of your own with torch.library.custom_op.")
    return found
