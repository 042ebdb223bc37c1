"""`vmap`: a function of one sample, called on a whole batch at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..tensors.functions.shapes.joining import cat, stack
from ..tensors.tensor import Tensor
from ..tensors.transforms.batched import is_batched
from ..tensors.transforms.batching import BatchLevel
from ..tensors.transforms.crossing import enter_batch, entered, leave_batch
from ..utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from .arguments import transforming

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
        call = _Call(func, in_dims, out_dims, args, kwargs)
        if fallback == "loop":
            return call.looped()
        if chunk_size is None or chunk_size >= call.size:
            return call.batched(randomness)
        return call.in_chunks(randomness, chunk_size)

    return wrapper


def batch_size(func: Callable[..., Any], in_dims: Any, args: tuple[Any, ...]) -> int:
    """How many samples a call of `vmap(func, in_dims)` has. Raises ValueError as the call does."""
    return _Call(func, in_dims, 0, args, {}).size


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
    with entered(level), transforming():
        found = func(*[enter_batch(level, batch, 0) for batch in batches])
    return [leave_batch(level, each, dim % (each.dim() + 1)) for each in found]


class _Call:
    """One call of a function under `vmap`: its inputs, and the dims of the batch in them."""

    def __init__(self, func: Callable[..., Any], in_dims: Any, out_dims: Any, args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> None:
        self.func, self.out_dims = func, out_dims
        self.name = getattr(func, "__name__", repr(func))
        flat, dims, spec = _inputs(self.name, in_dims, args)
        self.leaves, self.dims, self.spec, self.kwargs = flat, dims, spec, kwargs
        sizes = [leaf._array.shape[dim] for leaf, dim in zip(self.leaves, self.dims) if dim is not None]
        if not sizes:
            raise ValueError("vmap: Expected at least one Tensor to vmap over")
        if len(set(sizes)) > 1:
            raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                             f"{sizes} for the mapped dimension")
        self.size: int = sizes[0]

    def _run(self, leaves: Sequence[Any]) -> tuple[list[Any], TreeSpec]:
        return tree_flatten(self.func(*tree_unflatten(leaves, self.spec), **self.kwargs))

    def _out_dims(self, outputs: list[Any], spec: TreeSpec) -> list[Any]:
        """The dim of the batch for each output."""
        dims = self.out_dims
        if spec.is_leaf() and isinstance(dims, tuple) and len(dims) == 1:
            dims = dims[0]
        flat = _broadcast_to_and_flatten(dims, spec)
        if not isinstance(dims, int | None) and any(not isinstance(d, int | None) for d in tree_flatten(dims)[0]):
            raise ValueError(f"vmap({self.name}, ..., out_dims={self.out_dims}): `out_dims` must be an int, None or a "
                             "python collection of ints representing where in the outputs the vmapped dimension should "
                             "appear.")
        if flat is None:
            raise ValueError(
                f"vmap({self.name}, ..., out_dims={self.out_dims})(<inputs>): out_dims is not compatible with the "
                f"structure of `outputs`. out_dims has structure {tree_flatten(dims)[1]} but outputs has structure "
                f"{spec}.")
        return flat

    def batched(self, randomness: str, leaves: Sequence[Any] | None = None, size: int | None = None) -> Any:
        """The outputs of one call for all samples."""
        leaves = self.leaves if leaves is None else leaves
        level = BatchLevel(self.size if size is None else size, randomness)
        with entered(level), transforming():
            outputs, spec = self._run([leaf if dim is None else enter_batch(level, leaf, dim)
                                       for leaf, dim in zip(leaves, self.dims, strict=True)])
        dims = self._out_dims(outputs, spec)
        return tree_unflatten([self._shown(level, output, dim) for output, dim in zip(outputs, dims, strict=True)],
                              spec)

    def _shown(self, level: BatchLevel, output: Any, dim: int | None) -> Any:
        if dim is None:
            if isinstance(output, Tensor) and is_batched(output._array, level):
                raise ValueError(f"vmap({self.name}, ...): `{self.name}` can not return a BatchedTensor when out_dim "
                                 "is None")
            return output
        if not isinstance(output, Tensor):
            raise ValueError(f"vmap({self.name}, ...): `{self.name}` must only return Tensors, got type "
                             f"{type(output)}. Did you mean to set out_dims= to None for output?")
        return leave_batch(level, output, _within(dim, output._array.ndim + 1))

    def in_chunks(self, randomness: str, chunk_size: int) -> Any:
        """The outputs of calls for some samples each, joined."""
        found = []
        for start in range(0, self.size, chunk_size):
            size = min(chunk_size, self.size - start)
            leaves = [leaf if dim is None else leaf.narrow(dim, start, size)
                      for leaf, dim in zip(self.leaves, self.dims, strict=True)]
            found.append(tree_flatten(self.batched(randomness, leaves, size)))
        dims = self._out_dims(found[0][0], found[0][1])
        columns = zip(*[outputs for outputs, _ in found], strict=True)
        return tree_unflatten([column[0] if dim is None else cat(column, dim)
                               for column, dim in zip(columns, dims, strict=True)], found[0][1])

    def looped(self) -> Any:
        """The outputs of one call for each sample, stacked."""
        found = [self._run([leaf if dim is None else leaf.select(dim, i)
                            for leaf, dim in zip(self.leaves, self.dims, strict=True)]) for i in range(self.size)]
        dims = self._out_dims(*found[0])
        columns = zip(*[outputs for outputs, _ in found], strict=True)
        return tree_unflatten([column[0] if dim is None else stack(column, dim)
                               for column, dim in zip(columns, dims, strict=True)], found[0][1])


def _within(dim: int, rank: int) -> int:
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def _inputs(name: str, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], TreeSpec]:
    """The leaves of the inputs, the dim of the batch in each or None, and the structure of the inputs."""
    if not isinstance(in_dims, (int, tuple)):
        raise _wrong(name, in_dims, "expected `in_dims` to be int or a (potentially nested) tuple matching the "
                                    f"structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                         "vmap over a function with no inputs. The latter is unsupported.")
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise _wrong(name, in_dims, "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                                    f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}.")
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise _wrong(name, in_dims, f"Got in_dim={dim} for an input but in_dim must be either an integer dimension "
                                        "or None.")
        if not isinstance(leaf, Tensor):
            raise _wrong(name, in_dims, f"Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
                                        "cannot vmap over non-Tensor arguments, please use None as the respective "
                                        "in_dim")
        rank = leaf._array.ndim
        if not -rank <= dim < rank:
            raise _wrong(name, in_dims, f"Got in_dim={dim} for some input, but that input is a Tensor of "
                                        f"dimensionality {rank} so expected in_dim to satisfy -{rank} <= in_dim < "
                                        f"{rank}.")
        dims[i] = dim % rank
    return leaves, dims, spec


def _wrong(name: str, in_dims: Any, what: str) -> ValueError:
    """The error for inputs that do not fit `in_dims`."""
    return ValueError(f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): {what}")
