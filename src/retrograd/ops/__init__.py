"""The op table: one statement for each operator, with its kernel and its derivative rules.

Programs find the operators of PyTorch's core here, as `torch.ops.aten`.
"""

from typing import TYPE_CHECKING

from ..names import missing

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, (), inside={name: f"_ops:{name}" for name in ("aten", "prim")})
