"""torch.nn.functional: the computations of layers and losses, as functions of tensors."""

from typing import TYPE_CHECKING        # PyTorch has the name, too

from ...names import offered
from .activation import *
from .affine import *
from .attention import *
from .classes import *
from .convolution import *
from .ctc import *
from .distance import *
from .dropping import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from .embedding import *
from .loss import *
from .margins import *
from .multihead import *
from .norms import *
from .padding import *
from .pooling import *
from .resampling import *
from .sampling import *
from .unpooling import *

__all__ = offered(globals())
