"""Fake tensors: they have a size, a dtype and a device, and no numbers. Functions of them find the sizes of results.

A fake tensor wraps a tensor on the device `meta`. Unlike that, it says the device that it would be on, and it does not
mix with tensors that have numbers.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..foundations.devices import device as Device, on_meta
from ..foundations.dtypes import default_floating, dtype as torch_dtype
from ..kernels.layout import steps
from ..kernels.meta import without_memory
from ..tensors.meta import public as _public  # noqa: F401
from ..tensors.meta.face import faced
from ..tensors.recording.overriding import disabled_torch_function_impl, tensors_in
from ..tensors.state.base import TensorBase, meta_of, plain, requires
from ..tensors.tensor import Tensor
from .here import each_tensor, local
from .modes import TorchDispatchMode, _set_stack
from .wrapped import WrapperArray

# Operators whose results are numbers, or have a size that numbers decide.
_NUMBERS = frozenset(("_local_scalar_dense", "equal", "allclose"))
# Fake tensors keep so many numbers that are known.
_MOST_KEPT = 1
_SIZES = frozenset(("nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "bincount"))


class UnsupportedFakeTensorException(RuntimeError):
    """The base of the errors of operators that need numbers."""


class DataDependentOutputException(UnsupportedFakeTensorException):
    """An operator returns a number, which a fake tensor has not. `func` is the operator."""

    def __init__(self, func: Any) -> None:
        super().__init__(str(func))
        self.func = func


class DynamicOutputShapeException(UnsupportedFakeTensorException):
    """Numbers decide the size of a result. `func` is the operator."""

    def __init__(self, func: Any) -> None:
        super().__init__(str(func))
        self.func = func


class FakeTensor(Tensor):
    """A tensor without numbers. A `FakeTensorMode` makes it."""

    fake_mode: FakeTensorMode
    elem: Any                                                 # the tensor on the device `meta`
    _is_param = False
    constant: Any = None                                      # the numbers of a tensor that was made of numbers
    __torch_function__ = staticmethod(disabled_torch_function_impl)

    @staticmethod
    def __new__(cls, fake_mode: FakeTensorMode, elem: Any, device: Any, constant: Any = None,
                real_tensor: Any = None) -> Any:
        array = elem._array
        made = object.__new__(cls)
        own = WrapperArray(array.shape, array.dtype, steps(array), Device(device), None)
        made._array, made._edge, made._grad_meta = own, None, None  # type: ignore[assignment]
        made.fake_mode, made.elem, made.constant = fake_mode, elem, constant
        own.belong(made)
        return made

    def __init__(self, *args: Any, **options: Any) -> None:
        """Does nothing: `__new__` does all."""

    @property
    def fake_device(self) -> Device:
        """The device that the tensor would be on."""
        array: Any = self._array
        return array.place  # type: ignore[no-any-return]

    @staticmethod
    def from_tensor(t: Any, fake_mode: FakeTensorMode) -> Any:
        """A fake tensor like `t`."""
        return fake_mode.from_tensor(t)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        mode = next(t.fake_mode for t in tensors_in((args, kwargs or {})) if isinstance(t, FakeTensor))
        return mode.dispatch(func, types, args, kwargs or {})

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        facts = [] if self.fake_device.type == "cpu" else [f"device='{self.fake_device}'"]
        facts.append(f"size={tuple(self.shape)}")
        if self._array.dtype != default_floating():
            facts.append(f"dtype={torch_dtype.of[self._array.dtype]!r}")
        node = self.grad_fn
        if node is not None:
            facts.append(f"grad_fn=<{type(node).__name__}>")
        elif self.requires_grad:
            facts.append("requires_grad=True")
        text = f"FakeTensor(..., {', '.join(facts)})"
        return f"Parameter({text})" if self._is_param else text

    __str__ = __repr__

    def tolist(self) -> Any:
        """The numbers. Raises DataDependentOutputException if they are not known."""
        return self.item() if self.constant is not None else self.flatten()[0].item()

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            array = self._array
            made = memo[id(self)] = FakeTensor(self.fake_mode, _meta(array.shape, array.dtype, steps(array)),
                                               self.fake_device)
            if requires(self):
                meta_of(made).leaf = True
            if self._is_param:
                made._is_param = True
        return memo[id(self)]


def _meta(shape: Any, dtype: Any, strides: Any = None) -> Any:
    """A tensor on the device `meta`."""
    return faced(plain(without_memory(tuple(shape), dtype, strides)))  # type: ignore[arg-type]


class FakeTensorConverter:
    """Makes fake tensors like tensors with numbers. The same tensor gives the same fake tensor."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}           # weak references to both tensors

    def from_real_tensor(self, fake_mode: FakeTensorMode, t: Any, **options: Any) -> Any:
        """The fake tensor like `t`."""
        key = id(t)
        references = self._made.get(key)
        if references is not None and references[0]() is t and references[1]() is not None:
            return references[1]()
        made = FakeTensor(fake_mode, _meta(t._array.shape, t._array.dtype, steps(t._array)), t.device)
        if requires(t):
            meta_of(made).leaf = True
        if getattr(t, "_is_param", False):
            made._is_param = True
        self._made[key] = weakref.ref(t), weakref.ref(made)
        weakref.finalize(t, self._made.pop, key, None)
        return made


class FakeTensorMode(TorchDispatchMode):
    """A mode in which functions make fake tensors, and find the sizes of results without computing them.

    Tensors with numbers do not mix with fake ones unless `allow_non_fake_inputs` is set: `from_tensor` converts them.

    >>> import retrograd as torch
    >>> from retrograd._subclasses.fake_tensor import FakeTensorMode
    >>> with FakeTensorMode():
    ...     layer = torch.nn.Linear(1000, 5)
    ...     layer(torch.empty(1_000_000, 1000))
    FakeTensor(..., size=(1000000, 5), grad_fn=<AddmmBackward0>)
    """

    def __init__(self, *, allow_fallback_kernels: bool = True, allow_non_fake_inputs: bool = False,
                 shape_env: Any = None, static_shapes: bool | None = None, export: bool = False) -> None:
        super().__init__()
        self.allow_non_fake_inputs, self.allow_fallback_kernels = allow_non_fake_inputs, allow_fallback_kernels
        self.shape_env, self.static_shapes = shape_env, True if static_shapes is None else static_shapes
        self.fake_tensor_converter = FakeTensorConverter()
        self._entered: list[tuple[bool, list[Any]]] = []

    def __enter__(self) -> FakeTensorMode:
        """Enter the mode, unless it is entered already. One such mode counts, so another one is aside meanwhile."""
        stack = local.here.modes
        anew = self not in stack
        self._entered.append((anew, stack))
        if anew:
            _set_stack([mode for mode in stack if not isinstance(mode, FakeTensorMode)])
            super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        anew, stack = self._entered.pop()
        if anew:
            super().__exit__(*error)
            _set_stack(stack)

    def from_tensor(self, tensor: Any, *, static_shapes: bool | None = None, source: Any = None,
                    symbolic_context: Any = None, trace: bool = True) -> Any:
        """A fake tensor like `tensor`, with its size, strides, dtype and device."""
        if isinstance(tensor, FakeTensor):
            if tensor.fake_mode is not self:
                raise AssertionError("Mixing fake modes NYI")
            return tensor
        return self.fake_tensor_converter.from_real_tensor(self, tensor)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return self.dispatch(func, types, args, kwargs or {})

    def dispatch(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """The result of an operator on fake tensors."""
        kwargs = dict(kwargs or {})
        name = func.overloadpacket.__name__
        if name in _NUMBERS:
            return self._number(func, args, kwargs)
        if name in _SIZES:
            raise DynamicOutputShapeException(func)
        args, kwargs = each_tensor((args, kwargs), lambda t: self._checked(t, func, args, kwargs))
        fakes = [t for t in tensors_in((args, kwargs)) if isinstance(t, FakeTensor)]
        if name in ("index", "index_put", "index_put_") and any(
                [i is not None and i._array.dtype == bool for i in args[1]]):
            raise DynamicOutputShapeException("aten.nonzero.default")
        place = kwargs.get("device") or (fakes[0].fake_device if fakes else Device("cpu"))
        if "device" in kwargs or not fakes:
            kwargs["device"] = Device("meta")
        writes = name.endswith("_") or "out" in kwargs
        known = {id(t.elem._array): t for t in fakes} if writes else {}
        out = func(*each_tensor(args, _elem), **each_tensor(kwargs, _elem))
        fake = each_tensor(out, lambda t: known[id(t._array)] if id(t._array) in known else FakeTensor(self, t, place))
        self._keep_constants(func, args, kwargs, fakes, fake)
        return fake

    def _number(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The result of an operator that returns a number. Raises DataDependentOutputException if it is not known."""
        if any([getattr(t, "constant", None) is None for t in tensors_in((args, kwargs))]):
            raise DataDependentOutputException(func)
        return func(*each_tensor(args, _constant), **each_tensor(kwargs, _constant))

    @staticmethod
    def _keep_constants(func: Any, args: Any, kwargs: Any, fakes: list[Any], fake: Any) -> None:
        """Keep the numbers of a result if those of all operands are known. A write of other numbers loses them."""
        if not isinstance(fake, FakeTensor) or not fakes:
            return
        if all([t.constant is not None for t in fakes]) and fake._array.size <= _MOST_KEPT:
            fake.constant = func(*each_tensor(args, _constant), **each_tensor(kwargs, _constant))
        else:
            fake.constant = None

    def _checked(self, t: Any, func: Any, args: Any, kwargs: Any) -> Any:
        """A tensor as a fake tensor of this mode. Raises AssertionError for one that is not to be mixed with those."""
        if isinstance(t, FakeTensor):
            if t.fake_mode is not self:
                raise AssertionError(f"Mixing fake modes NYI x.fake_mode={t.fake_mode!r} vs self={self!r}")
            return t
        if self.allow_non_fake_inputs or func.overloadpacket.__name__ in ("lift_fresh", "lift"):
            made = self.from_tensor(t)
            if not self.allow_non_fake_inputs and t._array.size <= _MOST_KEPT:
                made.constant = t
            return made
        raise AssertionError("Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                             f"'allow_non_fake_inputs'. Found in {func}({_listed(args, kwargs)})")


def _constant(tensor: Any) -> Any:
    return tensor.constant


def _elem(tensor: Any) -> Any:
    return tensor.elem


def _listed(args: Any, kwargs: Any) -> str:
    """Arguments as the text of a call, without numbers of tensors."""
    parts = [_word(arg) for arg in args] + [f"{name}={_word(value)}" for name, value in kwargs.items()]
    return ", ".join(parts)


def _word(value: Any) -> str:
    if isinstance(value, FakeTensor) or not isinstance(value, TensorBase):
        return repr(value)
    if on_meta(value.device):
        return repr(value)
    return f"tensor([...], size={tuple(value._array.shape)})"


@contextmanager
def unset_fake_temporarily() -> Iterator[Any]:
    """A block in which no mode makes fake tensors. It gives the mode that is aside, or None."""
    stack = local.here.modes
    mode = next((each for each in reversed(stack) if isinstance(each, FakeTensorMode)), None)
    _set_stack([each for each in stack if each is not mode])
    try:
        yield mode
    finally:
        _set_stack(stack)


def is_fake(x: Any) -> bool:
    """Whether an object is a fake tensor."""
    return isinstance(x, FakeTensor)


def maybe_get_fake_mode(t: Any) -> FakeTensorMode | None:
    """The mode of a fake tensor; None for any other object."""
    return t.fake_mode if isinstance(t, FakeTensor) else None
