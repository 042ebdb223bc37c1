"""torch.library: operators that a program defines, with kernels, gradients and rules for batches of their own.

An operator of `custom_op` is one node in the graph. All transforms of functions work on it: tangents come from its
formula for gradients by transposition, and a batch from its rule, or else from one call for each sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ..ops.overloads import OpOverload
from ..foundations.names import missing
from .checking import OpCheckError, opcheck
from .custom import OPERATORS, CustomOpDef, custom_op
from .inference import infer_schema
from .libraries import Library, define, held_by, impl, scoped_library as _scoped_library, waiting_kernel
from .operators import Operator, known

__all__ = ["CustomOpDef", "Library", "OpCheckError", "custom_op", "define", "fallthrough_kernel", "get_ctx",
           "get_kernel", "impl", "impl_abstract", "infer_schema", "opcheck", "register_autocast", "register_autograd",
           "register_fake", "register_kernel", "register_torch_dispatch", "register_vmap", "triton_op", "wrap_triton"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def _operator(op: Any, caller: str) -> Operator:
    """The operator that is meant by a name, an overload or a definition."""
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, Operator):
        return op
    if not isinstance(op, (str, OpOverload)):
        raise ValueError(f"{caller}({op}): got unexpected type for op: {type(op)}")
    return known(op if isinstance(op, str) else op.name())


def _definition(op: Any) -> CustomOpDef | None:
    """The definition by `custom_op` of an operator, if that is how it was defined."""
    if isinstance(op, CustomOpDef):
        return op
    return OPERATORS.get(op.name() if isinstance(op, OpOverload) else op) if isinstance(op, (str, OpOverload)) else None


def _set(lib: Library | None, operator: Operator, **functions: Any) -> None:
    """Set functions of an operator, until the library goes, if there is one."""
    before = {name: getattr(operator, name) for name in functions}
    vars(operator).update(functions)
    held_by(lib, lambda: vars(operator).update(before))


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *,
                    lib: Library | None = None) -> Any:
    """Use another function on device types, for an operator or its name. Without `func`, returns a decorator."""
    found = _definition(op)
    if found is not None:
        return found.register_kernel(device_types, func)
    if not isinstance(op, (str, OpOverload)):
        raise ValueError(f"register_kernel({op}): got unexpected type for op: {type(op)}")
    name = op if isinstance(op, str) else op.name()

    def register(given: Callable[..., Any]) -> Callable[..., Any]:
        waiting_kernel(name, device_types, given, lib)
        return given

    if func is None:
        return register
    register(func)
    return None


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None,
                  _stacklevel: int = 1, allow_override: bool = True) -> Any:
    """Set the function that makes results without numbers, for an operator or its name.

    Without `func`, returns a decorator.
    """
    operator = _operator(op, "register_fake")

    def register(given: Callable[..., Any]) -> Callable[..., Any]:
        _set(lib, operator, fake=given)
        return given

    return register if func is None else register(func)


def impl_abstract(qualname: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None,
                  _stacklevel: int = 1) -> Any:
    """The former name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None,
                      lib: Library | None = None) -> None:
    """Set the function that gives the gradients of an operator, or of the operator with this name.

    See `CustomOpDef.register_autograd`.
    """
    definition = _definition(op)
    if definition is not None:
        definition.register_autograd(backward, setup_context=setup_context)
        return
    operator = _operator(op, "register_autograd")
    if not operator.is_functional:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {operator} with schema "
                           f"{operator._schema}. Please create a functional operator and register an autograd formula "
                           "for that.")
    _set(lib, operator, backward=backward, setup=setup_context)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Set the rule for batches of an operator, or of the operator with this name. Without `func`, returns a decorator.

    See `CustomOpDef.register_vmap`.
    """
    operator = _operator(op, "register_vmap")

    def register(given: Callable[..., Any]) -> None:
        _set(lib, operator, batches=given)

    return register if func is None else register(func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> None:
    """In regions of `autocast`, call an operator with tensors of floating point in the dtype `cast_inputs`."""
    _operator(op, "register_autocast").casts[device_type] = cast_inputs


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Callable[..., Any] | None = None, /, *,
                            lib: Library | None = None) -> Any:
    """Set the function that modes of a class, or wrappers of a class, call in place of their `__torch_dispatch__`.

    See `CustomOpDef.register_torch_dispatch`.
    """
    operator = _operator(op, "register_torch_dispatch")

    def register(given: Callable[..., Any]) -> Callable[..., Any]:
        operator.dispatches[torch_dispatch_class] = given
        return given

    return register if func is None else register(func)


def triton_op(name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: Any,
              schema: str | None = None) -> Any:
    """Make an operator of a function that may call kernels of Triton on other devices. On the CPU it is `custom_op`."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def get_kernel(op: Any, dispatch_key: Any) -> Callable[..., Any]:
    """The kernel of an operator on the CPU, or the one for the device type that `dispatch_key` names.

    Raises RuntimeError if there is none.
    """
    operator, key = _operator(op, "get_kernel"), str(dispatch_key).rpartition(".")[2]
    found = operator.kernels.get(key.lower()) or operator.kernels.get(None)
    if found is None:
        raise RuntimeError(f"No kernel for {operator.name()} is registered under {key}.")
    return found


def get_ctx() -> Any:
    """The context of a fake function, which is None: a fake function is only called to compare shapes."""
    return None


def fallthrough_kernel() -> NoReturn:
    """A kernel that stands for "no kernel". It must not be called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def wrap_triton(triton_kernel: Callable[..., Any], /) -> NoReturn:
    """Refuse a kernel of Triton: Triton compiles for GPUs."""
    raise NotImplementedError("PyTorch has `torch.library.wrap_triton`; retrograd has not: Triton compiles for GPUs; "
                              "register a kernel for the CPU with torch.library.register_kernel")


for _each in (OpCheckError, Library):
    _each.__module__ = __name__
