"""torch.library: operators that a program defines as Python functions, with gradients of their own.

An operator is called as it is: `torch.library` has no compiler to serve, and there is no `torch.ops`. So functions for
fake tensors are kept and not called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .autograd.function import Function
from .autograd.grad_mode import no_grad
from .modes import local
from .names import missing, refused
from .tensors.tensor import Tensor

__all__ = ["CustomOpDef", "Library", "custom_op", "define", "impl", "opcheck", "register_autograd", "register_fake",
           "register_kernel", "triton_op"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)

_OPERATORS: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """An operator that a program defines. A call checks the number of arguments and runs the function.

    If an argument requires grad, the call is recorded, and the function of `register_autograd` gives the gradients.
    """

    def __init__(self, name: str, function: Callable[..., Any], mutates_args: str | Iterable[str] = ()) -> None:
        self._namespace, self._name = name.split("::")
        self._qualname, self._init_fn, self._kernel = name, function, function
        self._signature = inspect.signature(function)
        for parameter in self._signature.parameters.values():
            if parameter.annotation is inspect.Parameter.empty:
                raise ValueError(f"infer_schema(func): Parameter {parameter.name} must have a type annotation. Got "
                                 f"func with signature {self._signature})")
        self._mutates = bool(mutates_args)
        self._fake: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._function = self._made()

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Keep a function that makes results without numbers. No call needs the function."""
        self._fake = fn
        return fn

    def register_kernel(self, device_types: Any, func: Callable[..., Any] | None = None, /) -> Any:
        """Use another function for the CPU. Functions for other devices are not called."""
        if func is None:
            return lambda given: self.register_kernel(device_types, given)
        if device_types is None or "cpu" in ([device_types] if isinstance(device_types, str) else device_types):
            self._kernel = func
        return func

    def register_autograd(self, backward: Callable[..., Any], /, *,
                          setup_context: Callable[..., Any] | None = None) -> None:
        """Set the function that gives the gradients, and the function that saves values for it.

        `backward(ctx, *grads)` returns a gradient, or None, for each argument. `setup_context(ctx, inputs, output)` is
        called after the operator. Raises RuntimeError for an operator that writes over its arguments.
        """
        if self._mutates:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self!r}. Please create "
                               "a functional operator and register an autograd formula for that.")
        self._backward, self._setup = backward, setup_context

    def _made(self) -> type[Function]:
        """The `Function` that records a call."""
        definition = self

        def forward(*args: Any) -> Any:
            return definition._kernel(*args)

        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            if definition._setup is not None:
                definition._setup(ctx, inputs, output)

        def backward(ctx: Any, *grads: Any) -> Any:
            if definition._backward is None:
                raise RuntimeError(f"Trying to backward through {definition._namespace}.{definition._name}.default "
                                   "but no autograd formula was registered. Please use register_autograd to add one.")
            return definition._backward(ctx, *grads)

        return type(f"GeneratedBackwardFor_{self._namespace}_{self._name}_default", (Function,), {
            "forward": staticmethod(forward), "setup_context": staticmethod(setup_context),
            "backward": staticmethod(backward)})

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """All arguments in order, with the defaults."""
        if len(args) > len(self._signature.parameters):
            raise RuntimeError(f"{self._qualname}() expected at most {len(self._signature.parameters)} argument(s) but "
                               f"received {len(args)} argument(s).")
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(f"{self._qualname}() {error}") from error
        bound.apply_defaults()
        for place, (name, value) in enumerate(bound.arguments.items()):
            wanted = self._signature.parameters[name].annotation
            if wanted in (Tensor, "Tensor", "torch.Tensor") and not isinstance(value, Tensor):
                raise RuntimeError(f"{self._qualname}() Expected a value of type 'Tensor' for argument '{name}' but "
                                   f"instead found type '{type(value).__name__}'.\nPosition: {place}\nValue: {value}")
        return [*bound.arguments.values()]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bound(args, kwargs)
        tensors = [value for value in values if isinstance(value, Tensor)]
        if local.thread.grad and not self._mutates and any(tensor.requires_grad for tensor in tensors):
            found = self._function.apply(*values)
        else:
            with no_grad():
                found = self._kernel(*values)
        if any(one is tensor for one in (found if isinstance(found, tuple) else [found]) for tensor in tensors):
            raise RuntimeError(f"{self._name} (with implementation in {inspect.getmodule(self._init_fn)}): The output "
                               "of this custom operator (1) must not also be an input to this custom operator and (2) "
                               "may not alias any inputs to this custom operator or other returns.")
        return found


def custom_op(name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: str | Iterable[str],
              device_types: Any = None, schema: str | None = None, tags: Any = None) -> Any:
    """Make an operator of a function. The name is "namespace::name", and each parameter has an annotation.

    The function gets tensors without a graph. It may write over the arguments in `mutates_args` alone.

    >>> import retrograd as torch
    >>> @torch.library.custom_op("doc::double", mutates_args=())
    ... def double(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 2
    >>> double.register_autograd(lambda ctx, grad: grad * 2)
    >>> double(torch.ones(1, requires_grad=True))
    tensor([2.], grad_fn=<GeneratedBackwardFor_doc_double_defaultBackward>)
    """
    if fn is None:
        return lambda given: custom_op(name, given, mutates_args=mutates_args, device_types=device_types,
                                       schema=schema, tags=tags)
    made = _OPERATORS[name] = CustomOpDef(name, fn, mutates_args)
    return made


def _found(op: Any) -> CustomOpDef:
    known = op if isinstance(op, CustomOpDef) else _OPERATORS.get(op)
    if known is None:
        raise RuntimeError(f"Could not find the operator {op}. Please make it with torch.library.custom_op first.")
    return known


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, _stacklevel: int = 1,
                  allow_override: bool = False) -> Any:
    """Keep a function that makes results without numbers, for an operator or its name."""
    known = _found(op)
    return known.register_fake if func is None else known.register_fake(func)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """Use another function for the CPU, for an operator or its name."""
    return _found(op).register_kernel(device_types, func)


def register_autograd(op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None,
                      lib: Any = None) -> None:
    """Set the function that gives the gradients of an operator, or of the operator with this name."""
    _found(op).register_autograd(backward, setup_context=setup_context)


Library = refused("torch.library.Library")
define = refused("torch.library.define")
impl = refused("torch.library.impl")
opcheck = refused("torch.library.opcheck")
triton_op = refused("torch.library.triton_op")
