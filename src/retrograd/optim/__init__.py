"""torch.optim: optimizers, and schedules of their learning rates. A name is imported when a program first uses it."""

import sys
from typing import TYPE_CHECKING

from ..foundations.names import inside, late

if TYPE_CHECKING:
    from . import lr_scheduler as lr_scheduler, swa_utils as swa_utils
    from ._adafactor import Adafactor as Adafactor
    from ._muon import Muon as Muon
    from .adadelta import Adadelta as Adadelta
    from .adagrad import Adagrad as Adagrad
    from .adam import Adam as Adam
    from .adamax import Adamax as Adamax
    from .adamw import AdamW as AdamW
    from .asgd import ASGD as ASGD
    from .lbfgs import LBFGS as LBFGS
    from .nadam import NAdam as NAdam
    from .optimizer import Optimizer as Optimizer
    from .radam import RAdam as RAdam
    from .rmsprop import RMSprop as RMSprop
    from .rprop import Rprop as Rprop
    from .sgd import SGD as SGD
    from .sparse_adam import SparseAdam as SparseAdam
    from .swapping import swap_in_optimizer_params_and_state as swap_in_optimizer_params_and_state

__all__ = ["ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam",
           "Optimizer", "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils",
           "swap_in_optimizer_params_and_state"]
if not TYPE_CHECKING:                                        # a type checker reads the imports above
    _FILES = {
        "_adafactor": "Adafactor", "_muon": "Muon", "adadelta": "Adadelta", "adagrad": "Adagrad", "adam": "Adam",
        "adamax": "Adamax", "adamw": "AdamW", "asgd": "ASGD", "lbfgs": "LBFGS", "nadam": "NAdam",
        "optimizer": "Optimizer", "radam": "RAdam", "rmsprop": "RMSprop", "rprop": "Rprop", "sgd": "SGD",
        "sparse_adam": "SparseAdam", "swapping": "swap_in_optimizer_params_and_state",
    }
    __getattr__, __dir__ = late(__name__, __all__, {
        **inside(_FILES, __name__), **inside({"": "_adafactor _muon lr_scheduler swa_utils"}, __name__)},
        unlisted=_FILES)

    class _Package(type(sys.modules[__name__])):
        """The package without its files as attributes, as in PyTorch: `torch.optim.adam` is a mistake for `Adam`."""

        def __setattr__(self, name: str, value: object) -> None:
            if name.startswith("_") or name not in _FILES:
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package
