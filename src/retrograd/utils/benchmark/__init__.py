"""torch.utils.benchmark: times statements, says how sure the times are, and compares them in tables."""

from typing import TYPE_CHECKING

from ...foundations.names import missing
from . import utils
from .utils.common import (
    Measurement, TaskSpec, ordered_unique, select_unit, set_torch_threads, trim_sigfig, unit_to_english)
from .utils.compare import Colorize, Compare
from .utils.timer import Language, Timer, timer

__all__ = ["Colorize", "Compare", "Language", "Measurement", "TaskSpec", "Timer", "ordered_unique", "select_unit",
           "set_torch_threads", "timer", "trim_sigfig", "unit_to_english"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, [*__all__, "utils"])
