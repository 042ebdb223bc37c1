"""PyTorch's functions for the number of threads that kernels use. The threads are in `kernels.threads`."""

from __future__ import annotations

from ...kernels.native import threads
from ..recording.public import public


@public()
def get_num_threads() -> int:
    """The number of threads that kernels for large tensors use. NumPy's matrix products have threads of their own.

    The initial number is OMP_NUM_THREADS or OPENBLAS_NUM_THREADS from the environment, or the number of cores.
    """
    return threads.available()


@public()
def set_num_threads(count: int, /) -> None:
    """Set the number of threads. Raises RuntimeError unless it is a positive int.

    >>> import retrograd as torch
    >>> torch.set_num_threads(1)
    >>> torch.get_num_threads()
    1
    """
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    threads.use(count)
