"""Hooks that average gradients: as they are, or as numbers of 16 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....foundations.dtypes import bfloat16, dtype, float16
from ....foundations.futures import Future
from ....foundations.names import missing
from ....tensors.tensor import Tensor
from ...collectives import all_reduce
from ...groups import ProcessGroup, member
from ...reducer import GradBucket

__all__ = ["allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook",
           "fp16_compress_wrapper"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

Hook = Callable[[Any, GradBucket], Future[Tensor]]


def summed(tensor: Tensor, group: ProcessGroup | None) -> Future[Tensor]:
    """A future of the sum of a tensor over the processes. The tensor itself receives the sum."""
    work = all_reduce(tensor, group=group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda future: future.value()[0])


def allreduce_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Average the gradients, as a module without a hook does."""
    group = member(process_group)
    return summed(bucket.buffer().div_(group.size()), group)


def _narrow(process_group: ProcessGroup | None, bucket: GradBucket, kind: dtype) -> Future[Tensor]:
    group, buffer = member(process_group), bucket.buffer()

    def widen(future: Future[Tensor]) -> Tensor:
        buffer.copy_(future.value())
        return buffer

    return summed(buffer.to(kind).div_(group.size()), group).then(widen)


def fp16_compress_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Average the gradients as float16, in half of the bytes."""
    return _narrow(process_group, bucket, float16)


def bf16_compress_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Average the gradients as bfloat16, in half of the bytes."""
    return _narrow(process_group, bucket, bfloat16)


def _around(hook: Hook, kind: dtype) -> Hook:
    def narrowed(state: Any, bucket: GradBucket) -> Future[Tensor]:
        wide = bucket.buffer()
        bucket.set_buffer(wide.to(kind))

        def widen(future: Future[Tensor]) -> Tensor:
            wide.copy_(future.value())
            bucket.set_buffer(wide)
            return wide

        return hook(state, bucket).then(widen)

    return narrowed


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gives another hook the gradients as float16, and casts back what the other hook returns."""
    return _around(hook, float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gives another hook the gradients as bfloat16, and casts back what the other hook returns."""
    return _around(hook, bfloat16)
