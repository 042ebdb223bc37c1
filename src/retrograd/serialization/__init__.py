"""`torch.save` and `torch.load`: tensors and plain containers in a file that is data, never a program.

The file is a zip. `structure.json` says how the objects are nested. Each memory that tensors lie in is a `.npy` member,
which NumPy reads as well; tensors that share memory refer to the same member. `pytorch` reads PyTorch's own files, as
far as they hold data. Of modules and optimizers, save the `state_dict()`.
"""

from .loading import load
from .saving import save

__all__ = ["load", "save"]
