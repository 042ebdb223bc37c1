"""torch.nn.utils: tools for the parameters of a model."""

from typing import TYPE_CHECKING

from ...foundations.names import hint_at_missing_names, inside, late
from . import clip_grad as clip_grad, convert_parameters as convert_parameters, rnn as rnn
from .clip_grad import *
from .convert_parameters import *
from .spectral_norm import remove_spectral_norm as remove_spectral_norm, spectral_norm as spectral_norm
from .weight_norm import remove_weight_norm as remove_weight_norm, weight_norm as weight_norm

if TYPE_CHECKING:                                            # imported when a program first names them
    from . import (
        fusion as fusion, init as init, memory_format as memory_format, parametrizations as parametrizations,
        parametrize as parametrize, prune as prune, stateless as stateless)
    from .fusion import (
        fuse_conv_bn_eval as fuse_conv_bn_eval, fuse_conv_bn_weights as fuse_conv_bn_weights,
        fuse_linear_bn_eval as fuse_linear_bn_eval, fuse_linear_bn_weights as fuse_linear_bn_weights)
    from .init import skip_init as skip_init
    from .memory_format import (
        convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format,
        convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format)
else:
    # Modules that are imported when a program first names them, and the functions that such modules define.
    _MODULES = "fusion init memory_format parametrizations parametrize prune stateless"
    _FUNCTIONS = {
        "fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
        "init": "skip_init",
        "memory_format": "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
    }
    __all__ = [*clip_grad.__all__, *convert_parameters.__all__, "remove_spectral_norm", "remove_weight_norm", "rnn",
               "spectral_norm", "weight_norm", *" ".join(_FUNCTIONS.values()).split(), *_MODULES.split()]
    __getattr__, __dir__ = late(__name__, __all__, inside({"": _MODULES, **_FUNCTIONS}, __name__))

hint_at_missing_names(__name__)
