"""torch.nn: modules, layers, losses, and what goes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..names import missing
from . import functional, init, modules, utils
from .activation import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softmin,
    Softplus,
    Softsign,
    Tanh,
    Tanhshrink,
)
from .containers import ModuleDict, ModuleList, Sequential
from .dropout import Dropout
from .flatten import Flatten, Unflatten
from .linear import Bilinear, Identity, Linear
from .loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from .module import Module
from .parameter import Buffer, Parameter
from .parameter_containers import ParameterDict, ParameterList

__all__ = [
    # what models are made of
    "Buffer", "Module", "ModuleDict", "ModuleList", "Parameter", "ParameterDict", "ParameterList", "Sequential",
    # layers
    "Bilinear", "Dropout", "Flatten", "Identity", "Linear", "Unflatten",
    # activations
    "CELU", "ELU", "GELU", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "ReLU", "ReLU6", "SELU", "SiLU",
    "Sigmoid", "Softmax", "Softmin", "Softplus", "Softsign", "Tanh", "Tanhshrink",
    # losses
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "NLLLoss",
    "SmoothL1Loss",
    # modules
    "functional", "init", "modules", "utils",
]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
