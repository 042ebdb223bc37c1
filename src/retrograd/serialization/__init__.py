"""`torch.save` and `torch.load`: tensors and plain containers in a file that is data, never a program.

The file is a zip. `structure.json` says how things are nested, and each memory that tensors lie in is a `.npy` member
that NumPy reads as well; tensors that shared memory refer to the same member. Files of PyTorch's own are read too, as
far as they hold data (`pytorch`). This package must not know modules or
optimisers: of these, what their `state_dict()` gives is saved.
"""

from typing import TYPE_CHECKING

from ..names import missing
from .loading import load
from .saving import save

__all__ = ["load", "save"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
