"""Checks of the arguments of functions of stacks of matrices, with PyTorch's messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import Array, legacy, letter, unimplemented
from ....foundations.errors import LinAlgError, noted
from ....ops.basic import check_values
from ....tensors.state.base import TensorBase


def matrices(name: str, value: TensorBase, called: str = "A", *, square: bool = False, floating: bool = False,
             kernel: str = "") -> Any:
    """The array of a tensor of matrices, after checks whose messages begin with `name`, except that of the kernel.

    Raises RuntimeError if the tensor has fewer than two dims, if its matrices have to be `square` or its elements
    `floating` and are not; NotImplementedError for elements that the kernel of PyTorch does not take.
    """
    array = value._array
    if array.ndim < 2:
        raise noted(
            RuntimeError(f"{name}: The input tensor {called} must have at least 2 dimensions."), given=f"{array.ndim}")
    if square:
        check_square(f"{name}: ", array)
    if floating:
        check_floating(name, array)
    if kernel:
        check_kernel(kernel, array)
    return array


def check_square(prefix: str, array: Any) -> None:
    """Raises RuntimeError unless the matrices are square."""
    rows, columns = array.shape[-2:]
    if rows != columns:
        raise noted(
            RuntimeError(f"{prefix}A must be batches of square matrices, but they are {rows} by {columns} matrices"),
            because="its last two dimensions must be equal")


def check_floating(name: str, array: Any, *, low: bool = True) -> None:
    """Raises RuntimeError unless the elements are floating-point or complex numbers. If `low` is False, numbers of 16
    bits raise too."""
    if letter(array.dtype) not in "fc":
        raise noted(
            RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {legacy(array)}"),
            instead="convert with .float() or .double()")
    if not low and array.itemsize == 2:
        raise noted(
            RuntimeError(f"{name}: Low precision dtypes not supported. Got {legacy(array)}"),
            instead="convert with .float()")


def check_kernel(kernel: str, array: Any) -> None:
    """Raises NotImplementedError for elements that PyTorch's kernel does not take: ints, bools, numbers of 16 bits."""
    if letter(array.dtype) not in "fc" or array.itemsize == 2:
        raise unimplemented(kernel, array.dtype, "convert with .float() or .double()")


def check_same(name: str, a: Any, b: Any, names: str = "A B") -> None:
    """Raises RuntimeError unless two operands have the same dtype."""
    if a.dtype is not b.dtype:
        one, other = names.split()
        raise noted(
            RuntimeError(f"{name}: Expected {one} and {other} to have the same dtype, but found {one} of "
                         f"type {legacy(a)} and {other} of type {legacy(b)} instead"),
            instead="convert with .to(dtype)")


def check_older(name: str, a: Any, b: Any) -> None:
    """The checks of the older solvers: the same dtype, square matrices, sizes and stacks that fit."""
    if a.dtype is not b.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {legacy(b)} and A of type "
                           f"{legacy(a)} instead.")
    check_square("", a)
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is {a.shape[-1]} by {a.shape[-1]} but "
                           f"each b matrix is {b.shape[-2]} by {b.shape[-1]}")
    check_stacks(b, a)


def check_rank(sentence: str, array: Any) -> None:
    """Raises RuntimeError, in the words of the older solvers, if the array has fewer than two dims."""
    if array.ndim < 2:
        raise RuntimeError(f"{sentence} have at least 2 dimensions, but it has {array.ndim} dimensions instead")


def check_right_side(name: str, a: Any, b: Array, left: bool) -> None:
    """Raises RuntimeError unless matrices a and b fit a @ x = b, or x @ a = b if `left` is False."""
    rows, columns = b.shape[-2:]
    if a.shape[-1] != (rows if left else columns):
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({a.shape[-2]}x{a.shape[-1]} and {rows}x{columns})")


def check_stacks(a: Any, b: Any) -> None:
    """Raises RuntimeError if two stacks do not broadcast to each other."""
    left, right = a.shape[:-2], b.shape[:-2]
    for i in range(1, min(len(left), len(right)) + 1):
        if left[-i] != right[-i] and 1 not in (left[-i], right[-i]):
            place = max(len(left), len(right)) - i
            raise RuntimeError(f"The size of tensor a ({left[-i]}) must match the size of tensor b ({right[-i]}) at "
                               f"non-singleton dimension {place}")


def holds_vectors(a: Any, b: Any) -> bool:
    """Whether `b` holds a vector for each matrix of `a`, rather than a matrix."""
    return bool(b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1]))


def columns(b: Any) -> Any:
    """A placeholder with the shape of vectors as matrices of one column, for the checks. Its numbers mean nothing."""
    return np.broadcast_to(np.empty((), b.dtype), (*b.shape, 1))


def refuse_failures(info: TensorBase, name: str, sentence: str,
                    error: Callable[[str], Exception] = LinAlgError) -> None:
    """Raise the error for the first matrix whose info is not 0. The info fills {i} in the sentence."""
    check_values(info._array, check_codes, name, sentence, error)


def check_codes(codes: Array, name: str, sentence: str, error: Callable[[str], Exception]) -> None:
    """The check of `refuse_failures`, on the numbers of the infos."""
    if not codes.any():
        return
    at = int((codes.reshape(math.prod(codes.shape)) != 0).argmax())
    place = f"(Batch element {at}): " if codes.ndim else ""
    raise error(f"{name}: {place}{sentence.format(i=int(codes.flat[at]))}")
