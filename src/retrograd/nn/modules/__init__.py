"""torch.nn.modules: every module class of `torch.nn`. Each family has a file with PyTorch's name."""

from typing import TYPE_CHECKING

from ...names import offered
from .activation import *
from .adaptive import *
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .linear import Bilinear as Bilinear, Identity as Identity, LazyLinear as LazyLinear, Linear as Linear
from .linear_cross_entropy_options import *
from .loss import *
from .module import Module as Module
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

if not TYPE_CHECKING:                                    # a type checker reads the imports above
    __all__ = offered(globals())
