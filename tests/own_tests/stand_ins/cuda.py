"""torch.testing._internal.common_cuda, where there is no GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TEST_CUDA = TEST_MULTIGPU = TEST_CUDNN = TEST_MAGMA = TEST_CUDA_GRAPH = CUDA11OrLater = SM53OrLater = False
SM80OrLater = SM90OrLater = False
TEST_CUDNN_VERSION = 0
CUDA_DEVICE = None


def tf32_is_not_fp32() -> bool:
    """Whether products are rounded more than float32: they are not."""
    return False


def tf32_on_and_off(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that changes nothing."""
    return lambda function: function


def with_tf32_off(function: Any) -> Any:
    """The function."""
    return function
