"""torch.distributions: random variables with samples, densities and gradients.

Written with the public names of the package alone, as a program would be. A distribution is a file of PyTorch's name.
"""

from .. import names
from . import constraints, transforms
from .cauchy import Cauchy
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .generalized_pareto import GeneralizedPareto
from .gumbel import Gumbel
from .half_cauchy import HalfCauchy
from .half_normal import HalfNormal
from .independent import Independent
from .kumaraswamy import Kumaraswamy
from .laplace import Laplace
from .log_normal import LogNormal
from .logistic_normal import LogisticNormal
from .normal import Normal
from .pareto import Pareto
from .transformed_distribution import TransformedDistribution
from .transforms import *
from .uniform import Uniform
from .weibull import Weibull

__all__ = names.offered(globals())

names.hint_at_missing_names()
