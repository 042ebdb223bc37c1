"""torch.nn.utils: tools for the parameters of a model."""

from typing import TYPE_CHECKING

from . import clip_grad as clip_grad, convert_parameters as convert_parameters, rnn as rnn
from .clip_grad import *
from .convert_parameters import *

if not TYPE_CHECKING:                                    # a type checker reads the imports above
    __all__ = ["rnn", *clip_grad.__all__, *convert_parameters.__all__]
