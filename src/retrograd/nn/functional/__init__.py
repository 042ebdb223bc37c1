"""torch.nn.functional: the computations of layers and losses, as functions of tensors."""

from ...names import offered
from ...tensors.functions.images.convolution import (
    conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d, conv_transpose3d)
from ...tensors.functions.images.padding import (
    channel_shuffle, native_channel_shuffle, pad, pixel_shuffle, pixel_unshuffle)
from .activation import *
from .affine import *
from .attention import *
from .classes import *
from .convolution import *
from .ctc import *
from .distance import *
from .dropping import *
from .embedding import *
from .loss import *
from .margins import *
from .multihead import *
from .norms import *
from .pooling import *
from .resampling import *
from .sampling import *
from .unpooling import *

__all__ = offered(globals())
