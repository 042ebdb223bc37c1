"""What the layers of a family share, so that each layer states only what sets it apart.

This module must not know any single layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.inherited import name_inherited, named_copy
from ...tensors.functions.creation.creation import empty
from .. import init
from ..parameter import Parameter
from .module import Module
from .module.members import Member

# Methods that PyTorch, too, defines in private classes. A program may replace them there, for all layers of a family.
_OF_PRIVATE_CLASSES = frozenset((
    "_AdaptiveAvgPoolNd.__init__", "_AdaptiveMaxPoolNd.__init__", "_BatchNorm.__init__", "_BatchNorm.forward",
    "_CircularPadNd.forward", "_ConstantPadNd.forward", "_DropoutNd.__init__", "_InstanceNorm.__init__",
    "_InstanceNorm.forward", "_LPPoolNd.__init__", "_LazyNormBase.__init__", "_Loss.__init__", "_MaxPoolNd.__init__",
    "_NormBase.__init__", "_ReflectionPadNd.forward", "_ReplicationPadNd.forward", "_WeightedLoss.__init__"))


class Layer(Module):
    """A module whose `class` statement may name the function that it calls, and its number of dimensions of space."""

    dims: ClassVar[int] = 0
    _function: ClassVar[Callable[..., Any]]
    # What the text of the module says of its options, with attributes in braces. `{bias}` says whether there is a bias.
    _options_text: ClassVar[str] = ""

    def __init_subclass__(cls, *, function: Callable[..., Any] | None = None, dims: int = 0, **others: Any) -> None:
        super().__init_subclass__(**others)
        if function is not None:
            cls._function = staticmethod(function)
        if dims:
            cls.dims = dims
        if cls.__name__.startswith("_"):
            _name_own(cls)
        else:
            name_inherited(cls, "__init__", "forward", but=_OF_PRIVATE_CLASSES)

    def extra_repr(self) -> str:
        return self._options_text.format(self=self)


def _name_own(cls: type) -> None:
    """Give a private class its own copies of inherited methods that PyTorch defines in this class."""
    for name in ("__init__", "forward"):
        qualname = f"{cls.__qualname__}.{name}"
        if qualname in _OF_PRIVATE_CLASSES and name not in vars(cls):
            setattr(cls, name, named_copy(getattr(cls, name), qualname))


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """What functions that make tensors take of these options: device, dtype, memory_format, and "factory_kwargs".

    Raises TypeError for other options, and for an option that is given twice.
    """
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    others = kwargs.keys() - simple - {"factory_kwargs"}
    if others:
        raise TypeError(f"unexpected kwargs {others}")
    found = {**kwargs.get("factory_kwargs", {})}
    for name in simple & kwargs.keys():
        if name in found:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        found[name] = kwargs[name]
    return found


factory_kwargs.__module__ = "retrograd.nn"


def uninitialized(shape: tuple[int, ...], device: DeviceLike | None, dtype: torch_dtype | None,
                  requires_grad: bool = True) -> Parameter:
    """A parameter whose values are set later."""
    sizes = shape if len(shape) == 1 else (shape,)         # PyTorch's messages name one size that is no int so
    return Parameter(empty(*sizes, dtype=dtype, device=device), requires_grad)


class Weighted(Layer):
    """A layer with a weight and a bias, each of which may be left out."""

    weight = Member("_parameters")
    bias = Member("_parameters")

    def _own(self, weight: tuple[int, ...] | None, bias: tuple[int, ...] | None, device: DeviceLike | None,
             dtype: torch_dtype | None) -> None:
        """Make weight and bias of these shapes, with their first values. None leaves out."""
        for name, shape in (("weight", weight), ("bias", bias)):
            self.register_parameter(name, None if shape is None else uninitialized(shape, device, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw a new weight and a new bias, uniformly in ± 1 / sqrt(number of weights of an output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(inputs) if inputs > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        return self._options_text.format(self=self, bias=getattr(self, "bias", None) is not None)
