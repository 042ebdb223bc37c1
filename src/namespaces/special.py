"""torch.special: functions with names in mathematics. Only a namespace; `tensors.functions` has the functions."""

from typing import TYPE_CHECKING

from .foundations.names import missing, offered
from .tensors.functions.elementwise.special_only import (
    airy_ai, bessel_j0, bessel_j1, bessel_y0, bessel_y1, chebyshev_polynomial_t, chebyshev_polynomial_u,
    chebyshev_polynomial_v, chebyshev_polynomial_w, entr, erfcx, expit, gammainc, gammaincc, gammaln,
    hermite_polynomial_h, hermite_polynomial_he, i0e, i1, i1e, laguerre_polynomial_l, legendre_polynomial_p, log_ndtr,
    log_softmax, modified_bessel_i0, modified_bessel_i1, modified_bessel_k0, modified_bessel_k1, multigammaln,
    ndtr, ndtri, psi, scaled_modified_bessel_k0, scaled_modified_bessel_k1,
    shifted_chebyshev_polynomial_t, shifted_chebyshev_polynomial_u, shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w, softmax, special_digamma as digamma, special_erf as erf, special_erfc as erfc,
    special_erfinv as erfinv, special_exp2 as exp2, special_expm1 as expm1, special_i0 as i0, special_log1p as log1p,
    special_logit as logit, special_logsumexp as logsumexp, special_polygamma as polygamma, special_round as round,
    special_sinc as sinc, special_xlogy as xlogy, spherical_bessel_j0, xlog1py, zeta)

__all__ = offered(globals())
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
