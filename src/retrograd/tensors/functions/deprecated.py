"""Functions that PyTorch has removed. They raise RuntimeError and say which function to call instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..recording.public import methods, public


def _removed(name: str, says: str) -> Callable[..., Any]:
    @public(name=name, doc=f"Removed. {says}")
    def function(*args: Any, **options: Any) -> Any:
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. {says}")

    return function


solve = _removed("solve", "`torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its "
                 "arguments reversed and does not return the LU factorization. Instead of torch.solve(B, A).solution, "
                 "write torch.linalg.solve(A, B).")
lstsq = _removed("lstsq", "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`. `torch.linalg.lstsq` has "
                 "reversed arguments and does not return the QR decomposition. Instead of "
                 "torch.lstsq(B, A).solution[:n], write torch.linalg.lstsq(A, B).solution.")
eig = _removed("eig", "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real "
               "tensors mimicking complex tensors. Instead of torch.eig(A), write torch.linalg.eigvals(A), or "
               "torch.linalg.eig(A) for the eigenvectors too.")
symeig = _removed("symeig", "The default behavior has changed from using the upper triangular portion of the matrix by "
                  "default to using the lower triangular portion. Instead of torch.symeig(A), write "
                  "torch.linalg.eigvalsh(A, UPLO='U'), or torch.linalg.eigh(A, UPLO='U') for the eigenvectors too.")

matrix_rank = _removed("matrix_rank", "Please use the `torch.linalg.matrix_rank` function instead. Its parameter "
                       "'hermitian' replaces 'symmetric'.")


methods(solve, lstsq, eig, symeig)
