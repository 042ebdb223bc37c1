"""torch.linalg: matrices and vectors. Only a namespace; `tensors.functions` has the functions."""

from typing import TYPE_CHECKING

from ..foundations.errors import LinAlgError
from ..foundations.names import missing, offered
from ..tensors.functions.linalg.determinants import (
    cond, linalg_det as det, linalg_inv as inv, linalg_inv_ex as inv_ex, linalg_pinv as pinv, linalg_slogdet as slogdet,
    matrix_rank)
from ..tensors.functions.linalg.distances import linalg_cross as cross
from ..tensors.functions.linalg.factorizations import (
    linalg_cholesky as cholesky, linalg_cholesky_ex as cholesky_ex, linalg_eig as eig, linalg_eigh as eigh,
    linalg_eigvals as eigvals, linalg_eigvalsh as eigvalsh, linalg_qr as qr, linalg_svd as svd,
    linalg_svdvals as svdvals)
from ..tensors.functions.linalg.matrix import matmul
from ..tensors.functions.linalg.norms import linalg_norm as norm, matrix_norm, vector_norm
from ..tensors.functions.linalg.packed_factors import (
    linalg_householder_product as householder_product, linalg_ldl_factor as ldl_factor,
    linalg_ldl_factor_ex as ldl_factor_ex, linalg_ldl_solve as ldl_solve, linalg_lu as lu,
    linalg_lu_factor as lu_factor, linalg_lu_factor_ex as lu_factor_ex, linalg_lu_solve as lu_solve)
from ..tensors.functions.linalg.products import (
    linalg_diagonal as diagonal, linalg_vander as vander, matrix_exp, matrix_power, multi_dot, vecdot)
from ..tensors.functions.linalg.solving import (
    linalg_lstsq as lstsq, linalg_solve as solve, linalg_solve_ex as solve_ex,
    linalg_solve_triangular as solve_triangular, tensorinv, tensorsolve)

__all__ = offered(globals())
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
