"""A hook for measurements: it sends nothing, so that a step shows what the computation alone costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....foundations.futures import Future
from ....foundations.names import missing
from ....tensors.tensor import Tensor
from ...reducer import GradBucket

__all__ = ["noop_hook"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def noop_hook(_: Any, bucket: GradBucket) -> Future[Tensor]:
    """Leave the gradients as they are in this process."""
    done: Future[Tensor] = Future()
    done.set_result(bucket.buffer())
    return done
