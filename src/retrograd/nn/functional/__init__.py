"""torch.nn.functional: the computations of layers and losses, as functions of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...names import missing
from .activation import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from .affine import bilinear, linear
from .attention import scaled_dot_product_attention
from .classes import cross_entropy, linear_cross_entropy, nll_loss, one_hot
from .convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    fold,
    unfold,
)
from .ctc import ctc_loss
from .distance import cosine_similarity, normalize, pairwise_distance, pdist
from .dropping import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from .embedding import embedding, embedding_bag
from .loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from .margins import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .multihead import multi_head_attention_forward
from .norms import batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, rms_norm
from .padding import channel_shuffle, native_channel_shuffle, pad, pixel_shuffle, pixel_unshuffle
from .pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)
from .resampling import interpolate, upsample, upsample_bilinear, upsample_nearest
from .sampling import affine_grid, grid_sample
from .unpooling import (
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)

__all__ = [
    # normalization
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm",
    # attention
    "multi_head_attention_forward", "scaled_dot_product_attention",
    # images
    "affine_grid", "grid_sample", "interpolate", "upsample", "upsample_bilinear", "upsample_nearest",
    # affine maps
    "bilinear", "linear",
    # activations
    "celu", "celu_", "elu", "elu_", "gelu", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax",
    "logsigmoid", "mish", "relu", "relu6", "relu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin",
    "softplus", "softsign", "tanh", "tanhshrink",
    "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "prelu", "rrelu", "rrelu_", "softshrink",
    "threshold", "threshold_",
    # losses
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "huber_loss", "kl_div", "l1_loss",
    "linear_cross_entropy",
    "mse_loss", "nll_loss", "smooth_l1_loss",
    "ctc_loss", "cosine_embedding_loss", "gaussian_nll_loss", "hinge_embedding_loss", "margin_ranking_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "poisson_nll_loss",
    "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
    # convolutions
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold",
    "unfold",
    # pooling
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
    "max_unpool1d", "max_unpool2d", "max_unpool3d",
    # embeddings, padding, pixels
    "channel_shuffle", "embedding", "embedding_bag", "native_channel_shuffle", "pad", "pixel_shuffle",
    "pixel_unshuffle",
    # the rest
    "cosine_similarity", "dropout", "normalize", "one_hot", "pairwise_distance", "pdist",
    "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
