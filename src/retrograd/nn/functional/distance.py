"""Norms and angles of vectors."""

from __future__ import annotations

from ...autograd.grad_mode import no_grad
from ...foundations.dtypes import dtype as torch_dtype, letter, result_dtype
from ...foundations.errors import noted
from ...kernels.shape import common_shape
from ...ops.elementwise import arithmetic
from ...ops.linalg import norms
from ...tensors.arguments.dims import axes_of
from ...tensors.arguments.options import check_tensors, number
from ...tensors.functions.elementwise.arithmetic import div
from ...tensors.functions.linalg.distances import pdist
from ...tensors.functions.linalg.norms import refuse_nothing
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]

_add_number, _norm = recorded(arithmetic.add_number), recorded(norms.frobenius)


@public()
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """`input` divided by its p-norm along `dim`. A norm less than `eps` counts as `eps`.

    >>> import retrograd as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    norms = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norms if out is None else div(input, norms, out=out)


@public(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08)",
    event="aten::cosine_similarity",
    strict=True)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`. A norm less than `eps` counts as `eps`.

    The two tensors are broadcast, and the result lacks `dim`.

    >>> import retrograd as torch
    >>> torch.cosine_similarity(torch.tensor([[3., 4.]]), torch.tensor([[4., 3.]]))
    tensor([0.9600])

    Raises RuntimeError if the common dtype is not floating.
    """
    check_tensors("cosine_similarity", x1=x1, x2=x2)
    if not eps >= 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps}")
    dtype = result_dtype((x._array.dtype, x._array.ndim > 0) for x in (x1, x2))
    if letter(dtype) != "f":
        raise noted(
            RuntimeError("expected common dtype to be floating point, yet common dtype "
                         f"is {torch_dtype.of[dtype].legacy}"), instead="convert with .float() first")
    shape = common_shape(x1._array.shape, x2._array.shape)
    vectors = [x if letter(x._array.dtype) == "f" else x.to(torch_dtype.of[dtype]) for x in (x1, x2)]
    if x1._array.shape != x2._array.shape:
        vectors = [x.expand(shape) for x in vectors]
    sizes = [x.norm(2, dim, keepdim=True).clone() for x in vectors]
    with no_grad():                             # as in PyTorch, the gradient ignores the lower limit
        for size in sizes:
            size.clamp_min_(eps)
    first, second = (x / size for x, size in zip(vectors, sizes))
    return (first * second).sum(dim)


@public(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False)",
    event="aten::pairwise_distance",
    strict=True)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension. The two tensors are broadcast.

    >>> import retrograd as torch
    >>> torch.pairwise_distance(torch.zeros(1, 2), torch.tensor([[3., 4.]]))
    tensor([5.0000])
    """
    check_tensors("pairwise_distance", x1=x1, x2=x2)
    p, eps = number("pairwise_distance", "p", 3, p), number("pairwise_distance", "eps", 4, eps)
    off = _add_number(x1 - x2, eps)
    axes = axes_of("norm", -1, off._array.ndim)
    refuse_nothing(off._array, p, axes)
    return _norm(off, p, axes, keepdim, None)
