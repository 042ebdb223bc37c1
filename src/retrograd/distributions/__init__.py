"""torch.distributions: random variables with samples, densities and gradients.

Written with the public names of the package alone, as a program would be. A distribution is a file of PyTorch's name.
"""

from .. import names
from . import constraints as constraints, transforms as transforms
from .cauchy import *
from .constraint_registry import biject_to as biject_to, transform_to as transform_to
from .distribution import *
from .exp_family import *
from .exponential import *
from .generalized_pareto import *
from .gumbel import *
from .half_cauchy import *
from .half_normal import *
from .independent import *
from .kumaraswamy import *
from .laplace import *
from .log_normal import *
from .logistic_normal import *
from .normal import *
from .pareto import *
from .transformed_distribution import *
from .transforms import *
from .uniform import *
from .weibull import *

__all__ = names.offered(globals())

names.hint_at_missing_names()
