"""torch._functorch.vmap: `vmap`, a function of one sample, called on a whole batch at once.

The steps of a call have PyTorch's names and arguments: `_process_batched_inputs`, `_create_batched_inputs`,
`_unwrap_batched`. Packages with containers of tensors put steps of their own in place of these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._C._functorch import Place, _add_batch_dim, _remove_batch_dim, is_batchedtensor
from ..foundations.modes import kept_switches
from ..foundations.names import missing
from ..tensors.arguments.generator import get_rng_state, set_rng_state
from ..tensors.functions.shapes.joining import cat, stack
from ..tensors.tensor import Tensor
from ..tensors.transforms.aliases import give_writes_back
from ..tensors.transforms.batching import BatchLevel
from ..tensors.transforms.crossing import enter_batch, entered, leave_batch
from ..tensors.transforms.levels import transforming
from ..utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten

in_dims_t = int | tuple[object, ...]
out_dims_t = int | tuple[object, ...] | None
__all__ = ["Tensor", "TreeSpec", "_add_batch_dim", "_broadcast_to_and_flatten", "_create_batched_inputs", "_get_name",
           "_maybe_remove_batch_dim", "_process_batched_inputs", "_remove_batch_dim", "_unwrap_batched", "in_dims_t",
           "is_batchedtensor", "out_dims_t", "tree_flatten", "tree_unflatten", "vmap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_RANDOMNESS = ("error", "different", "same")


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None, fallback: str | None = None) -> Callable[..., Any]:
    """The function that calls `func` on each sample of a batch, as one call.

    `in_dims` says which dim of each input is the batch: an int for all, or a tree like the inputs, with None for an
    input that all samples share. All samples share the keyword arguments. `out_dims` says where the dim goes in each
    output. `randomness` is 'error', 'same' or 'different': what random numbers are to the samples. `chunk_size` is how
    many samples are computed at a time. With `fallback="loop"`, `func` is called for one sample after another, so it
    may also look at numbers.

    >>> import retrograd as torch
    >>> torch.vmap(torch.dot)(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([[1., 1.], [0., 1.]]))
    tensor([3., 4.])

    Raises ValueError for dims that do not fit, and for outputs that are no tensors; RuntimeError for what cannot be
    said of a batch, such as `.item()`.
    """
    _check_randomness(randomness)
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        _check_out_dims(out_dims, func)
        size, dims, leaves, spec = _process_batched_inputs(in_dims, args, func)
        call = _Call(func, dims, spec, kwargs, out_dims, randomness)
        if fallback == "loop":
            return call.looped(leaves, size)
        if chunk_size is None or chunk_size >= size:
            return call.batched(leaves, size)
        return call.in_chunks(leaves, size, chunk_size)

    return wrapper


def batch_size(func: Callable[..., Any], in_dims: Any, args: tuple[Any, ...]) -> int:
    """How many samples a call of `vmap(func, in_dims)` has. Raises ValueError as the call does."""
    return _process_batched_inputs(in_dims, args, func)[0]


def _check_randomness(randomness: str) -> None:
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def over_samples(func: Callable[..., list[Tensor]], batches: Sequence[Tensor], randomness: str,
                 dim: int) -> list[Tensor]:
    """The tensors that `func` returns for each sample along the first dim of the batches.

    The samples are dim number `dim` of the results, which may be -1 for the last dim.
    """
    _check_randomness(randomness)
    level = BatchLevel(batches[0].shape[0], randomness)
    with kept_switches():
        with entered(level), transforming():
            found = func(*[enter_batch(level, batch, 0) for batch in batches])
        return [leave_batch(level, each, dim % (each.dim() + 1)) for each in found]


class _Call:
    """One call of a function under `vmap`, without the leaves of its inputs: `dims` are those of the batch in them."""

    def __init__(self, func: Callable[..., Any], dims: list[Any], spec: TreeSpec, kwargs: dict[str, Any],
                 out_dims: Any, randomness: str) -> None:
        self.func, self.dims, self.spec, self.kwargs = func, dims, spec, kwargs
        self.out_dims, self.randomness = out_dims, randomness

    def batched(self, leaves: list[Any], size: int) -> Any:
        """The outputs of one call for all samples."""
        level = BatchLevel(size, self.randomness)
        with kept_switches(), entered(level), transforming():
            place = Place()
            inputs = _create_batched_inputs(self.dims, leaves, place, self.spec)
            outputs = self.func(*inputs, **self.kwargs)
            give_writes_back(level)
            return _unwrap_batched(outputs, self.out_dims, place, size, self.func)

    def in_chunks(self, leaves: list[Any], size: int, chunk_size: int) -> Any:
        """The outputs of calls for some samples each, joined."""
        found = []
        state = get_rng_state() if self.randomness == "same" else None
        for start in range(0, size, chunk_size):
            if state is not None:
                set_rng_state(state)
            count = min(chunk_size, size - start)
            found.append(tree_flatten(self.batched(
                [leaf if dim is None else leaf.narrow(dim, start, count)
                 for leaf, dim in zip(leaves, self.dims, strict=True)], count)))
        return self._joined(found, cat)

    def looped(self, leaves: list[Any], size: int) -> Any:
        """The outputs of one call for each sample, stacked."""
        samples = [[leaf if dim is None else leaf.select(dim, i) for leaf, dim in zip(leaves, self.dims, strict=True)]
                   for i in range(size)]
        return self._joined([tree_flatten(self.func(*tree_unflatten(sample, self.spec), **self.kwargs))
                             for sample in samples], stack)

    def _joined(self, found: list[tuple[list[Any], TreeSpec]], join: Callable[..., Any]) -> Any:
        """The outputs of several calls as those of one."""
        dims = _flat_out_dims(self.out_dims, found[0][1], self.func)
        columns = zip(*[outputs for outputs, _ in found], strict=True)
        return tree_unflatten([column[0] if dim is None else join(column, dim)
                               for column, dim in zip(columns, dims, strict=True)], found[0][1])


def _get_name(func: Callable[..., Any]) -> str:
    if isinstance(func, functools.partial) and not hasattr(func, "__name__"):
        return f"functools.partial({_get_name(func.func)}, ...)"
    return getattr(func, "__name__", repr(func))


def _process_batched_inputs(in_dims: Any, args: tuple[Any, ...],
                            func: Callable[..., Any]) -> tuple[int, list[Any], list[Any], TreeSpec]:
    """How many samples there are, the dim of the batch in each leaf or None, the leaves of the inputs, their spec."""
    if not isinstance(in_dims, (int, tuple)):
        raise _wrong(func, in_dims, "expected `in_dims` to be int or a (potentially nested) tuple matching the "
                                    f"structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({_get_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you "
                         "are trying to vmap over a function with no inputs. The latter is unsupported.")
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise _wrong(func, in_dims, "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                                    f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}.")
    sizes = []
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        _check_dim(func, in_dims, leaf, dim)
        shape = leaf._array.shape
        dims[i] = dim % len(shape)
        sizes.append(shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sizes} for the mapped dimension")
    return sizes[0], dims, leaves, spec


def _check_dim(func: Callable[..., Any], in_dims: Any, leaf: Any, dim: Any) -> None:
    """Raise ValueError for a dim of the batch that a leaf of the inputs does not have."""
    if not isinstance(dim, int):
        raise _wrong(func, in_dims, f"Got in_dim={dim} for an input but in_dim must be either an integer dimension "
                                    "or None.")
    if not isinstance(leaf, Tensor):
        raise _wrong(func, in_dims, f"Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot "
                                    "vmap over non-Tensor arguments, please use None as the respective in_dim")
    rank = leaf._array.ndim
    if not -rank <= dim < rank:
        raise _wrong(func, in_dims, f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                                    f"{rank} so expected in_dim to satisfy -{rank} <= in_dim < {rank}.")


def _wrong(func: Callable[..., Any], in_dims: Any, what: str) -> ValueError:
    """The error for inputs that do not fit `in_dims`."""
    return ValueError(f"vmap({_get_name(func)}, in_dims={in_dims}, ...)(<inputs>): {what}")


def _create_batched_inputs(flat_in_dims: list[Any], flat_args: list[Any], vmap_level: int, args_spec: TreeSpec) -> Any:
    """The inputs as the function sees them: without the dims of the batch."""
    return tree_unflatten([arg if dim is None else _add_batch_dim(arg, dim, vmap_level)
                           for dim, arg in zip(flat_in_dims, flat_args, strict=True)], args_spec)


def _unwrap_batched(batched_outputs: Any, out_dims: Any, vmap_level: int, batch_size: int,
                    func: Callable[..., Any]) -> Any:
    """The outputs of the function, with the dims of the batch."""
    outputs, spec = tree_flatten(batched_outputs)
    dims = _flat_out_dims(out_dims, spec, func)
    name = _get_name(func)
    return tree_unflatten([_maybe_remove_batch_dim(name, output, vmap_level, batch_size, dim)
                           for output, dim in zip(outputs, dims, strict=True)], spec)


def _check_out_dims(out_dims: Any, func: Callable[..., Any]) -> None:
    if not isinstance(out_dims, int | None) and any(not isinstance(d, int | None) for d in tree_flatten(out_dims)[0]):
        raise ValueError(f"vmap({_get_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                         "python collection of ints representing where in the outputs the vmapped dimension should "
                         "appear.")


def _flat_out_dims(out_dims: Any, spec: TreeSpec, func: Callable[..., Any]) -> list[Any]:
    """The dim of the batch for each output."""
    dims = out_dims
    if spec.is_leaf() and isinstance(dims, tuple) and len(dims) == 1:
        dims = dims[0]
    flat = _broadcast_to_and_flatten(dims, spec)
    if flat is None:
        raise ValueError(
            f"vmap({_get_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {tree_flatten(dims)[1]} but outputs has structure "
            f"{spec}.")
    return flat


def _maybe_remove_batch_dim(name: str, batched_output: Tensor, vmap_level: int, batch_size: int,
                            out_dim: int | None) -> Any:
    """An output with the dim of the batch, or as it is if the dim is None."""
    if out_dim is None:
        if isinstance(batched_output, Tensor) and is_batchedtensor(batched_output):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did "
                         "you mean to set out_dims= to None for output?")
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)
