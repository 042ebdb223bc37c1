"""Functions and methods that PyTorch has removed.

Most raise RuntimeError and say which function to call instead. Some methods still work, with a warning.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from ...foundations.errors import noted, warn
from ...kernels.layout import in_rows
from ...ops import shape as ops
from ...ops.basic import clone
from ...tensors.state.base import TensorBase
from ..recording.calls import recorded
from ..recording.public import methods, public, public_property

_resize, _clone = recorded(ops.resize), recorded(clone)


def _removed(says: str) -> NoReturn:
    raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed.{says}")


@public()
def solve(input: TensorBase, A: Any, *, out: Any = None) -> NoReturn:
    """Removed. Use `torch.linalg.solve`, whose arguments are in the other order."""
    _removed(" `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments "
             "reversed and does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which "
             "can be used with `torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be "
             "replaced with:\nX = torch.linalg.solve(A, B)")


@public()
def lstsq(input: TensorBase, A: Any, *, out: Any = None) -> NoReturn:
    """Removed. Use `torch.linalg.lstsq`, whose arguments are in the other order."""
    _removed(" `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed "
             "arguments and does not return the QR decomposition in the returned tuple (although it returns other "
             "information about the problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.\n\nThe "
             "returned solution in `torch.lstsq` stored the residuals of the solution in the last m - n columns of "
             "the returned value whenever m > n. In torch.linalg.lstsq, the residuals are in the field 'residuals' of "
             "the returned named tuple.\n\nThe unpacking of the solution, as in\n"
             "X, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\n"
             "X = torch.linalg.lstsq(A, B).solution")


@public()
def eig(self: Any, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> NoReturn:
    """Removed. Use `torch.linalg.eig` or `torch.linalg.eigvals`, whose results are complex."""
    _removed(" `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors "
             "mimicking complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\n"
             "L_complex = torch.linalg.eigvals(A)\n\nand\n\nL, V = torch.eig(A, eigenvectors=True) should be replaced "
             "with:\nL_complex, V_complex = torch.linalg.eig(A)")


@public()
def symeig(input: TensorBase, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> NoReturn:
    """Removed. Use `torch.linalg.eigh` or `torch.linalg.eigvalsh`, which read the lower triangle by default."""
    _removed(" The default behavior has changed from using the upper triangular portion of the matrix by default to "
             "using the lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
             "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\n"
             "L, V = torch.symeig(A, eigenvectors=True) should be replaced with:\n"
             "L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')")


@public()
def matrix_rank(input: TensorBase, tol: Any = None, symmetric: bool = False, *, out: Any = None) -> NoReturn:
    """Removed. Use `torch.linalg.matrix_rank`, where the option `symmetric` is called `hermitian`."""
    _removed("\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
             "`torch.linalg.matrix_rank()` to 'hermitian'.")


methods(solve, lstsq, eig, symeig)


# Methods

def _other_shape(tensor: TensorBase, sizes: tuple[Any, ...]) -> Any:
    count = math.prod(size if isinstance(size, int) else 0 for size in sizes)
    if count != tensor._array.size or any(not isinstance(size, int) or size < 0 for size in sizes):
        shown, shape = "x".join(map(str, sizes)), "x".join(map(str, tensor._array.shape))
        total = count if all(isinstance(size, int) for size in sizes) else sizes[0]
        raise RuntimeError(f"requested resize to {shown} ({total} elements in total), but the given tensor has a size "
                           f"of {shape} ({tensor._array.size} elements). autograd's resize can only change the shape "
                           "of a given tensor, while preserving the number of elements. ")
    return _resize(tensor if in_rows(tensor._array) else _clone(tensor, "C"), sizes)


@public(method=True)
def resize(self: TensorBase, *sizes: Any) -> Any:
    """The same elements in another shape, with a warning: use `reshape`. The number of elements stays the same."""
    warn("non-inplace resize is deprecated", UserWarning)
    return _other_shape(self, sizes)


@public(method=True)
def resize_as(self: Any, tensor: TensorBase) -> Any:
    """The same elements in the shape of another tensor, with a warning: use `reshape`."""
    warn("non-inplace resize_as is deprecated", UserWarning)
    return _other_shape(self, tuple(tensor.size()))


_REINFORCE = """reinforce() was removed.
Use torch.distributions instead.
See https://pytorch.org/docs/main/distributions.html

Instead of:

probs = policy_network(state)
action = probs.multinomial()
next_state, reward = env.step(action)
action.reinforce(reward)
action.backward()

Use:

probs = policy_network(state)
# NOTE: categorical is equivalent to what used to be called multinomial
m = torch.distributions.Categorical(probs)
action = m.sample()
next_state, reward = env.step(action)
loss = -m.log_prob(action) * reward
loss.backward()
"""


@public(method=True)
def reinforce(self: Any, reward: Any) -> NoReturn:
    """Removed: use the `log_prob` of a distribution."""
    raise noted(RuntimeError(_REINFORCE), instead="the loss is -m.log_prob(action) * reward")


def volatile(self: TensorBase) -> bool:
    """False, with a warning: the attribute was removed. Use `torch.no_grad()`."""
    warn("volatile was removed (Variable.volatile is always False)", UserWarning)
    return False


def set_volatile(self: TensorBase, value: Any) -> None:
    """Does nothing but warn."""
    warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning)


methods(volatile=public_property(volatile, set_volatile))
