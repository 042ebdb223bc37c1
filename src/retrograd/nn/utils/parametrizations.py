"""torch.nn.utils.parametrizations: weights that are orthogonal, of a given norm, or of a given singular value."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import numpy as np

from ...autograd.grad_mode import no_grad
from ...tensors.functions.creation.creation import eye, zeros_like
from ...tensors.functions.creation.random import randn
from ...tensors.functions.elementwise.comparison import allclose
from ...tensors.functions.linalg.matrix import mv, vdot
from ...tensors.functions.linalg.norms import _weight_norm, norm_except_dim
from ...tensors.functions.linalg.packed_factors import geqrf, linalg_householder_product as householder_product
from ...tensors.functions.linalg.products import matrix_exp
from ...tensors.functions.linalg.solving import linalg_solve as solve
from ...tensors.functions.shapes.joining import cat
from ...tensors.tensor import Tensor
from ..functional.distance import normalize
from ..modules.module import Module
from .parametrize import register_parametrization
from .spectral_norm import as_matrix, check_iterations, output_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _is_orthogonal(Q: Tensor, eps: float | None = None) -> bool:
    """Whether the columns are orthonormal, up to the rounding of the dtype."""
    if eps is None:
        eps = 10.0 * Q.size(-2) * float(np.finfo(Q._array.dtype).eps)
    return bool(allclose(Q.mH @ Q, eye(Q.size(-1), dtype=Q.dtype), atol=eps))


def _make_orthogonal(A: Tensor) -> Any:
    """The nearest thing to `A` with orthonormal columns that its QR decomposition gives."""
    packed, tau = geqrf(A)
    return householder_product(packed, tau) * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    """The maps from matrices to orthogonal matrices."""

    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Maps a matrix to an orthogonal one. With trivialization the result is multiplied by the matrix `base`."""

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Any:
        """The orthogonal matrix, or matrices."""
        transposed = X.size(-2) < X.size(-1)
        if transposed:
            X = X.mT
        Q = self._by_householder(X) if self.orthogonal_map is _OrthMaps.householder else self._by_skew_matrix(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if transposed else Q

    def _by_skew_matrix(self, X: Tensor) -> Any:
        rows, columns = X.size(-2), X.size(-1)
        X = X.tril()
        if rows != columns:
            X = cat([X, X.new_zeros(rows, rows - columns).expand(*X.shape[:-2], -1, -1)], dim=-1)
        A = X - X.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            Q = matrix_exp(A)
        else:
            identity: Any = eye(rows, dtype=A.dtype)
            Q = solve(identity.add(A, alpha=-0.5), identity.add(A, alpha=0.5))
        return Q if rows == columns else Q[..., :columns]

    @staticmethod
    def _by_householder(X: Tensor) -> Any:
        A = X.tril(diagonal=-1)
        Q = householder_product(A, 2.0 / (1.0 + (A * A).sum(dim=-2)))
        return Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def right_inverse(self, Q: Tensor) -> Any:
        """A matrix that is mapped to `Q`, which is made orthogonal first if it is not."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                             f"{Q.shape}.")
        transposed = Q.size(-2) < Q.size(-1)
        start = Q.mT if transposed else Q
        if hasattr(self, "base"):
            self.base = self._square(start)
            negative_identity: Any = zeros_like(Q)
            negative_identity.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return negative_identity
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                      "parametrizations when use_trivialization=False.")
        packed, tau = geqrf(start)
        packed.diagonal(dim1=-2, dim2=-1).sign_()
        packed.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
        return packed.mT if transposed else packed

    @staticmethod
    def _square(Q: Tensor) -> Any:
        """An orthogonal matrix that begins with the columns of `Q`."""
        rows, columns = Q.size(-2), Q.size(-1)
        if rows == columns:
            return Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        others = randn(*Q.size()[:-2], rows, rows - columns, dtype=Q.dtype)
        return _make_orthogonal(cat([Q, others], dim=-1))


def _tensor_of(module: Module, name: str) -> Any:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Module:
    """Parametrize a matrix so that it is orthogonal, or unitary. Of a matrix that is not square, the rows or columns
    are orthonormal.

    `orthogonal_map` is "matrix_exp", "cayley" or "householder". Without `use_trivialization` the first two cannot be
    assigned to.

    >>> import retrograd as torch
    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3))
    >>> torch.allclose(layer.weight @ layer.weight.mT, torch.eye(3), atol=1e-5)
    True

    Returns the module. Raises ValueError for an unknown map, or if the module has no such matrix.
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
                         f"{orthogonal_map}")
    made = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module


class _WeightNorm(Module):
    """Computes a weight from its norms and its directions."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Any:
        """The weight."""
        return _weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> Any:
        """Norms and directions of a weight."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Parametrize a weight by its norms along `dim` and its directions, which are trained apart.

    The norms are `parametrizations.<name>.original0`, the directions `parametrizations.<name>.original1`. With
    `dim=None` there is one norm. The module also loads the states of the old `torch.nn.utils.weight_norm`. Returns the
    module.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: Any, prefix: str, *args: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """Divides a weight by its largest singular value, which power iterations estimate."""

    _u: Any
    _v: Any

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        check_iterations(n_power_iterations)
        self.dim, self.eps = dim % ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            vectors = [matrix.new_empty(size).normal_(0, 1) for size in matrix.size()]
            for name, vector in zip(("_u", "_v"), vectors):
                self.register_buffer(name, normalize(vector, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        """Improve the vectors in place."""
        with no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(normalize(mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Any:
        """The weight, divided by its largest singular value. A vector is divided by its norm."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Any:
        """The value itself."""
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:
    """Parametrize a weight by itself, divided by its largest singular value.

    In training, `n_power_iterations` improve the estimate of the singular value at each use of the weight. `dim` is
    the dimension of the outputs. Returns the module. Raises ValueError if the module has no such tensor.
    """
    weight = _tensor_of(module, name)
    made = _SpectralNorm(weight, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    register_parametrization(module, name, made)
    return module
