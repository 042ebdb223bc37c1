"""torch._functorch.batch_norm_replacement: batch norms without running statistics, which a batch may share."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from ..func.state import batch_norm_without_running_stats, replace_all_batch_norm_modules_

__all__ = ["batch_norm_without_running_stats", "replace_all_batch_norm_modules_"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
