"""torch.distributions: random variables with samples, densities and gradients.

Written with the public names of the package alone, as a program would be. A distribution is a file of PyTorch's name.
"""

from ..names import missing, offered
from . import constraints
from .cauchy import Cauchy
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .laplace import Laplace
from .normal import Normal
from .uniform import Uniform

__all__ = [name for name in offered(globals()) if name != "missing"]

__getattr__ = missing(__name__, __all__)
