"""torch.special: functions with names in mathematics. A namespace only: what computes is in `tensor.functions`."""

from __future__ import annotations

from .tensor.functions.elementary import (
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    log1p,
    logit,
    round,
    sigmoid as expit,
    sinc,
    xlogy,
)
from .tensor.functions.normalizing import log_softmax, logsumexp, softmax

__all__ = [
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "round",
    "sinc",
    "softmax",
    "xlogy",
]
