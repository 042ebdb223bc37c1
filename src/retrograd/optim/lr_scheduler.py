"""torch.optim.lr_scheduler: how learning rates change from epoch to epoch."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from .combined_schedules import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from .cyclic_schedules import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .schedules import (
    EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING,
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)

__all__ = ["ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR",
           "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR",
           "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class _LRScheduler(LRScheduler):
    """The former name of `LRScheduler`."""
