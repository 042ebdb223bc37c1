"""torch.utils.tensorboard: writes numbers, pictures and texts of a training run to files that TensorBoard shows.

The package `tensorboard` of the extra of this name writes the files.
"""

from typing import TYPE_CHECKING

from ...foundations.names import missing
from . import _needs as _needs
from . import summary, writer
from .writer import FileWriter, RecordWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, [*__all__, "summary", "writer"])
