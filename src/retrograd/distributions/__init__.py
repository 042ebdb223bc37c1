"""torch.distributions: random variables with samples, densities and gradients.

Written with the public names of the package alone, as a program would be. A distribution is a file of PyTorch's name.
"""

from ..names import missing
from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily

__all__ = ["Distribution", "ExponentialFamily"]

__getattr__ = missing(__name__, __all__)
