"""Transforms of functions: tangents beside memory, batches behind tensors, and the levels that both nest in."""

from typing import TYPE_CHECKING

from ...foundations.names import inside, late

if TYPE_CHECKING:
    # imported when a program first uses a transform
    from . import batching as batching, crossing as crossing, forward as forward

if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, (), inside({"": "batching crossing forward"}, __name__))
