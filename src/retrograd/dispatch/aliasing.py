"""What the class of a wrapper calls at the end of its `__torch_dispatch__`: results that share memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensors.state.base import TensorBase
from .core import schema_of
from .wrapped import WrapperArray


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """The result `out` of an operator, with the memory that the operator's schema says.

    An operator that writes over an argument returns that argument. A view shares the memory of what it views.
    """
    schema: Any = getattr(func, "_schema", None) or schema_of(func)
    given = {a.name: value for a, value in zip(schema.arguments, args)} | dict(kwargs or {})
    aliases = {next(iter(a.alias_info.before_set)): given.get(a.name)
               for a in schema.arguments if a.alias_info is not None}
    results = out if isinstance(out, (list, tuple)) else (out,)
    found = []
    for i, result in enumerate(results):
        returned = schema.returns[min(i, len(schema.returns) - 1)]
        info = returned.alias_info
        source = None if info is None else aliases.get(next(iter(info.before_set)))
        if info is not None and info.is_write and isinstance(source, TensorBase):
            found.append(source)
            continue
        if isinstance(source, TensorBase) and isinstance(result, TensorBase):
            _share(result, source)
        found.append(result)
    return type(out)(found) if isinstance(out, (list, tuple)) else found[0]


def _share(view: Any, source: Any) -> None:
    """Have a wrapper lie in the memory of another one."""
    if type(view._array) is WrapperArray and type(source._array) is WrapperArray:
        view._array.base, view._array.nbytes = source._array.base, source._array.nbytes


def transform_subclass(t: Any, callback: Callable[[str, Any], Any], outer_size: Any = None,
                       outer_stride: Any = None) -> Any:
    """A wrapper like `t` whose parts are what `callback(name, part)` returns for the parts of `t`."""
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    return type(t).__tensor_unflatten__(parts, context, t.size() if outer_size is None else outer_size,
                                        t.stride() if outer_stride is None else outer_stride)
