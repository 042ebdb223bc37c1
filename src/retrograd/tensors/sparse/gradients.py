"""Operations of dense tensors with sparse gradients: rows of a table, bags of rows, and elements by index."""

from __future__ import annotations

from ...ops import sparse as ops
from ..recording.calls import recorded
from .recording import TABLE

TABLE.update(_embedding=recorded(ops.embedding), _embedding_bag=recorded(ops.embedding_bag),
             _gather=recorded(ops.gather))
