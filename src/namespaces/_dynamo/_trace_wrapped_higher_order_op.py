"""torch._dynamo._trace_wrapped_higher_order_op: a mode for masks that are functions of indices, under `vmap`."""

from contextlib import AbstractContextManager

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(AbstractContextManager[None]):
    """A block in which `x[i]` works under `vmap` for an index that is a batch. `vmap` takes such indices anyway."""

    def __exit__(self, *error: object) -> None:
        pass
