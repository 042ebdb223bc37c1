"""Functions that make tensors of sizes, or draw numbers over a tensor: the calls of the core that handlers receive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..foundations.devices import device as Device
from ..tensors.arguments.options import shape_of
from ..tensors.functions.creation.creation import empty_like, tensor as _tensor
from ..tensors.state.base import TensorBase
from .core import arranged, chosen, overload, overloads
from .here import beneath, local

CPU = Device("cpu")
Named = tuple[Any, tuple[Any, ...], dict[str, Any]]
Maker = Callable[[tuple[Any, ...], dict[str, Any]], Named | None]
# The options that a handler is given if the call names them.
_OPTIONS = ("dtype", "layout", "memory_format", "generator")


def _sized(name: str, which: str = "default") -> Maker:
    """Functions of a size, which may be given as several numbers."""
    def make(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
        if kwargs.get("out") is not None:
            return None
        size = list(shape_of(name, args, kwargs.get("size")))
        return overload(f"{name}.{which}"), (size,), _options(kwargs)

    return make


def _options(kwargs: dict[str, Any], device: Any = CPU) -> dict[str, Any]:
    """The options of a function that makes a tensor, as the core's functions get them."""
    found = {name: kwargs[name] for name in _OPTIONS if kwargs.get(name) is not None}
    place = kwargs.get("device")
    chosen_device = device if place is None else Device(place)
    return {**found, **({} if chosen_device is None else {"device": chosen_device}), "pin_memory": False}


def _plain(name: str, *names: str) -> Maker:
    """Functions whose first arguments are numbers or lists of numbers, by these names."""
    def make(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
        if kwargs.get("out") is not None:
            return None
        values = [*args, *[kwargs[key] for key in names[len(args):] if key in kwargs]]
        values = [list(v) if isinstance(v, (list, tuple)) else v for v in values]
        if any([isinstance(v, TensorBase) for v in values]):
            return None
        try:
            func = chosen(name, values)
        except LookupError:
            return None
        return func, tuple(values), _options(kwargs)

    return make


def _like(name: str, *names: str) -> Maker:
    """Functions that make a tensor beside another one."""
    def make(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
        values = [*args, *[kwargs[key] for key in names[len(args):] if key in kwargs]]
        if name.startswith("new_") and len(values) > 1 and isinstance(values[1], int):
            values = [values[0], [*values[1:]]]
        values = [list(v) if isinstance(v, (list, tuple)) else v for v in values]
        try:
            func = chosen(name, values)
        except LookupError:
            return None
        return func, tuple(values), _options(kwargs, None)

    return make


def _in_place(name: str, *names: str) -> Maker:
    """Methods that draw numbers over a tensor, and methods without options."""
    def make(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
        values = [*args, *[kwargs[key] for key in names[len(args):] if key in kwargs]]
        try:
            func = chosen(name, values)
        except LookupError:
            return None
        schema = overloads(func.overloadpacket.__name__)[func._overloadname]
        generator = {"generator": kwargs["generator"]} if kwargs.get("generator") is not None else {}
        return func, *arranged(schema, values, generator)

    return make


def _drawn(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
    """Draws by chances. The seam sees the call if a node is to be recorded."""
    return None if args[0].requires_grad else _in_place("bernoulli", "input", "p")(args, kwargs)


def _lifted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
    """A tensor of numbers: PyTorch makes it without a handler, and hands it over then."""
    with beneath([], local.here.under):
        made = _tensor(*args, **{key: value for key, value in kwargs.items() if key != "requires_grad"})
    return overload("lift_fresh.default"), (made,), {}


def _number(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
    if args[0]._array.size != 1:
        return None
    return overload("_local_scalar_dense.default"), args, {}


MAKERS: dict[str, Maker] = {
    **{name: _sized(name) for name in ("zeros", "ones", "rand", "randn")}, "empty": _sized("empty", "memory_format"),
    "full": _plain("full", "size", "fill_value"), "arange": _plain("arange", "start", "end", "step"),
    "eye": _plain("eye", "n", "m"), "linspace": _plain("linspace", "start", "end", "steps"),
    "logspace": _plain("logspace", "start", "end", "steps", "base"), "randperm": _plain("randperm", "n"),
    "randint": _plain("randint", "low", "high", "size"), "empty_strided": _plain("empty_strided", "size", "stride"),
    "scalar_tensor": _plain("scalar_tensor", "s"),
    **{name: _like(name, "input") for name in (
        "zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "new_empty", "new_zeros", "new_ones")},
    "full_like": _like("full_like", "input", "fill_value"), "new_full": _like("new_full", "", "size", "fill_value"),
    "randint_like": _like("randint_like", "input", "low", "high"),
    "normal_": _in_place("normal_", "", "mean", "std"), "uniform_": _in_place("uniform_", "", "from", "to"),
    "bernoulli_": _in_place("bernoulli_", "", "p"), "exponential_": _in_place("exponential_", "", "lambd"),
    "random_": _in_place("random_", "", "from", "to"), "bernoulli": _drawn,
    "detach": _in_place("detach", "input"), "item": _number, "tensor": _lifted,
    "equal": _in_place("equal", "input", "other"),
    "allclose": _in_place("allclose", "input", "other", "rtol", "atol", "equal_nan"),
}


def _drops(*args: Any, **kwargs: Any) -> bool:
    """Whether a call of `torch.dropout` draws numbers: `nn.functional.dropout` calls it with these arguments."""
    return len(args) == 3 and not kwargs and bool(args[2]) and 0 < args[1] < 1


def _dropout(input: Any, p: float, train: bool) -> Any:
    """The elements that a draw leaves, by the functions that PyTorch calls on the CPU."""
    return input * empty_like(input).bernoulli_(1 - p).div_(1 - p)


# Functions that handlers see as calls of others: when, and the function in their place.
REPLACED: dict[str, tuple[Callable[..., bool], Callable[..., Any]]] = {"dropout": (_drops, _dropout)}
