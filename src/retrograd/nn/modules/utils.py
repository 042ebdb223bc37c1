"""torch.nn.modules.utils: one size given for all dimensions, and names of states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..borrowed import borrowing

__all__ = ["consume_prefix_in_state_dict_if_present", "repeated"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


def repeated(value: Any, dims: int) -> tuple[Any, ...]:
    """The sizes of `dims` dimensions: an iterable gives them all, and any other value stands for each of them."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """`repeated` for `n` dimensions, by the name that programs import from PyTorch."""
    def parse(x: Any) -> tuple[Any, ...]:
        return repeated(x, n)

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (
    _ntuple(n, name) for n, name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1))


def _reverse_repeat_tuple(t: Iterable[Any], n: int) -> tuple[Any, ...]:
    """The sizes in reverse order, each `n` times, as `functional.pad` takes them."""
    return tuple([size for size in [*t][::-1] for _ in range(n)])


def _list_with_default(out_size: Any, defaults: Any) -> Any:
    """The sizes, with the last of the defaults in place of None. Raises ValueError for too many sizes."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [default if size is None else size for size, default in zip(out_size, defaults[-len(out_size):])]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix off the names of a state, in place: "module." is that of `DataParallel`.

    >>> import retrograd as torch
    >>> state = {"module.weight": torch.ones(1)}
    >>> torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'weight': tensor([1.])}
    """
    for name in [*state_dict]:
        if name.startswith(prefix):
            state_dict[name.removeprefix(prefix)] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for name in [*metadata]:                                 # the names of modules have no dot at the end
        if name and (name == prefix.removesuffix(".") or name.startswith(prefix)):
            metadata[name[len(prefix):]] = metadata.pop(name)
