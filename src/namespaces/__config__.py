"""torch.__config__: how the package was built, as text for people."""

from typing import TYPE_CHECKING

import numpy as np

from .foundations.names import missing
from .tensors.face.settings import get_num_interop_threads
from .tensors.face.threading import get_num_threads
from .version import __version__

__all__ = ["parallel_info", "show"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def show() -> str:
    """What computes: retrograd on NumPy. PyTorch names its compilers and libraries here."""
    return f"PyTorch built with:\n  - retrograd {__version__}\n  - NumPy {np.__version__}\n"


def parallel_info() -> str:
    """How many threads compute."""
    return (f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"
            f"\tat::get_num_interop_threads() : {get_num_interop_threads()}\n")


def _cxx_flags() -> str:
    """The flags of the compiler: none, because no C++ is compiled."""
    return ""
