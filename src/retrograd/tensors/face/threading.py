"""How many threads kernels may use on large tensors, by PyTorch's names. The threads are in `kernels.threads`."""

from __future__ import annotations

from ...kernels.native import threads
from ..recording.public import public


@public()
def get_num_threads() -> int:
    """How many threads the kernels for large tensors use; NumPy's matrix products have threads of their own.

    At first it is what the environment's OMP_NUM_THREADS or OPENBLAS_NUM_THREADS says, or one for each core.
    """
    return threads.available()


@public()
def set_num_threads(count: int, /) -> None:
    """Use so many threads from now on. Raises RuntimeError for what is no positive int.

    >>> import retrograd as torch
    >>> torch.set_num_threads(1)
    >>> torch.get_num_threads()
    1
    """
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError(f"set_num_threads expects a positive integer, and not {count}")
    threads.use(count)
