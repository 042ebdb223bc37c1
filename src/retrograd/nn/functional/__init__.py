"""torch.nn.functional: the computations of layers and losses, as functions of tensors."""

from typing import TYPE_CHECKING

from ...names import missing as _missing, offered
from ...tensors.functions.images.convolution import (
    conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d, conv_transpose3d)
from ...tensors.functions.images.padding import (
    channel_shuffle, native_channel_shuffle, pad, pixel_shuffle, pixel_unshuffle)
from ..borrowed import BORROWED as _BORROWED
from .activation import *
from .activation import _get_softmax_dim as _get_softmax_dim
from .affine import *
from .attention import *
from .classes import *
from .constants import *
from .convolution import *
from .ctc import *
from .distance import *
from .dropping import *
from .embedding import *
from .embedding import _no_grad_embedding_renorm_ as _no_grad_embedding_renorm_
from .grouped import *
from .loss import *
from .margins import *
from .multihead import *
from .multihead import (
    _canonical_mask as _canonical_mask, _check_key_padding_mask as _check_key_padding_mask,
    _in_projection as _in_projection, _in_projection_packed as _in_projection_packed,
    _mha_shape_check as _mha_shape_check, _none_or_dtype as _none_or_dtype)
from .norms import *
from .norms import _verify_batch_size as _verify_batch_size, _verify_spatial_size as _verify_spatial_size
from .pooling import *
from .resampling import *
from .sampling import *
from .unpooling import *
from .unpooling import _unpool_output_size as _unpool_output_size

__all__ = offered(globals())
if not TYPE_CHECKING:
    __getattr__ = _missing(__name__, __all__, inside={**_BORROWED, **{name: f"overrides:{name}" for name in (
        "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")},
        **{name: f"_jit_internal:{name}" for name in (
            "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "boolean_dispatch")}})
