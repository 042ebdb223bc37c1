"""torch.distributions: random variables with samples, densities and gradients.

Written with the public names of the package alone, as a program would be. A distribution is a file of PyTorch's name.
"""

from ..foundations import names
from . import (
    constraints as constraints, divergences_across_families as divergences_across_families,
    divergences_of_normal_vectors as divergences_of_normal_vectors, transforms as transforms)
from .bernoulli import *
from .beta import *
from .binomial import *
from .categorical import *
from .cauchy import *
from .chi2 import *
from .constraint_registry import biject_to as biject_to, transform_to as transform_to
from .continuous_bernoulli import *
from .dirichlet import *
from .distribution import *
from .exp_family import *
from .exponential import *
from .fishersnedecor import *
from .gamma import *
from .generalized_pareto import *
from .geometric import *
from .gumbel import *
from .half_cauchy import *
from .half_normal import *
from .independent import *
from .inverse_gamma import *
from .kl import *
from .kumaraswamy import *
from .laplace import *
from .lkj_cholesky import *
from .log_normal import *
from .logistic_normal import *
from .lowrank_multivariate_normal import *
from .mixture_same_family import *
from .multinomial import *
from .multivariate_normal import *
from .negative_binomial import *
from .normal import *
from .one_hot_categorical import *
from .pareto import *
from .poisson import *
from .relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
from .relaxed_categorical import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from .studentT import *
from .transformed_distribution import *
from .transforms import *
from .uniform import *
from .von_mises import *
from .weibull import *
from .wishart import *

__all__ = names.offered(globals())

names.hint_at_missing_names(__name__)
