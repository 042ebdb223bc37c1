"""What distributions share: parameters of one shape, logits and probabilities, triangular matrices as vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Final, Generic, TypeVar, overload

import retrograd as torch
from retrograd import Tensor

from ..foundations.devices import DeviceLike
from ..foundations.dtypes import dtype as torch_dtype
from ..foundations.names import PACKAGE

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
           "vec_to_tril_matrix"]

euler_constant: Final[float] = 0.57721566490153286060

T = TypeVar("T", contravariant=True)
R = TypeVar("R", covariant=True)


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """The values as tensors of one shape. Numbers get the dtype of the first tensor, or the default dtype.

    >>> import retrograd as torch
    >>> torch.distributions.utils.broadcast_all(torch.zeros(2), 1)
    (tensor([0., 0.]), tensor([1., 1.]))

    Raises ValueError for other values than numbers and tensors.
    """
    if not all(hasattr(value, "__torch_function__") or isinstance(value, (int, float)) for value in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = torch.get_default_dtype() if first is None else first.dtype
    return tuple(torch.broadcast_tensors(*[
        value if hasattr(value, "__torch_function__") else torch.tensor(value, dtype=dtype) for value in values]))


def _standard_normal(shape: Sequence[int], dtype: torch_dtype, device: DeviceLike | None) -> Tensor:
    """Samples of the standard normal distribution."""
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def _shown(cls: type) -> str:
    """A class as PyTorch's messages show it."""
    return repr(cls).replace(f"'{PACKAGE}.", "'torch.")


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log-odds if `is_binary`, and otherwise of the log-probabilities along the last dimension.

    Log-probabilities need not be normalized.
    """
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved into [eps, 1 - eps], where eps is that of the dtype."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of probabilities if `is_binary`, and otherwise their logarithms. Probabilities are clamped first."""
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


class lazy_property(Generic[T, R]):
    """A property that is computed when it is first read, with gradients, and then is an attribute of the instance."""

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)                                     # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, obj_type: Any = None) -> _LazyPropertyOfClass[T, R]: ...

    @overload
    def __get__(self, instance: T, obj_type: Any = None) -> R: ...

    def __get__(self, instance: T | None, obj_type: Any = None) -> R | _LazyPropertyOfClass[T, R]:
        if instance is None:
            return _LazyPropertyOfClass(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyPropertyOfClass(lazy_property[T, R], property):
    """What a lazy property is when it is read from the class: a property, for tools that read documentation."""

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements on and below the diagonal `diag` of square matrices, row by row: (*, n, n) gives (*, m).

    Raises ValueError if there is no such diagonal.
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _on_and_below(n, diag)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Square matrices with these elements on and below the diagonal `diag`, row by row, and zeros above.

    Raises ValueError if the elements fill no such triangle.
    """
    shift = 1 + 2 * diag
    n = (-shift + (shift**2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > torch.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower "
                         "triangular part of a square D x D matrix.")
    matrix = vec.new_zeros((*vec.shape[:-1], round(n), round(n)))
    matrix[..., _on_and_below(round(n), diag)] = vec
    return matrix


def _on_and_below(n: int, diag: int) -> Tensor:
    """An n x n mask of the elements on and below a diagonal."""
    numbers = torch.arange(n)
    return numbers < numbers.view(-1, 1) + (diag + 1)
