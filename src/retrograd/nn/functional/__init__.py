"""torch.nn.functional: the computations of layers and losses, as functions of tensors.

A function is imported when a program first uses it.
"""

from ...foundations.names import inside as _inside, late as _late
from ..borrowed import BORROWED as _BORROWED

# The functions of each file of this folder.
_OWN = {
    "activation":
        "celu celu_ elu elu_ gelu glu gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu "
        "leaky_relu_ log_softmax logsigmoid mish prelu relu relu6 relu_ rrelu rrelu_ selu selu_ sigmoid silu softmax "
        "softmin softplus softshrink softsign tanh tanhshrink threshold threshold_",
    "affine": "bilinear linear",
    "attention": "scaled_dot_product_attention",
    "classes": "cross_entropy linear_cross_entropy nll_loss one_hot",
    "constants":
        "GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES assert_int_or_pair reproducibility_notes "
        "sparse_support_notes tf32_notes",
    "convolution": "fold unfold",
    "ctc": "ctc_loss",
    "distance": "cosine_similarity normalize pairwise_distance pdist",
    "dropping": "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
    "embeddings": "embedding embedding_bag",
    "grouped": "ScalingType SwizzleType grouped_mm",
    "loss":
        "binary_cross_entropy binary_cross_entropy_with_logits gaussian_nll_loss huber_loss kl_div l1_loss mse_loss "
        "poisson_nll_loss smooth_l1_loss",
    "margins":
        "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss multilabel_margin_loss "
        "multilabel_soft_margin_loss soft_margin_loss triplet_margin_loss triplet_margin_with_distance_loss",
    "multihead": "multi_head_attention_forward",
    "norms": "batch_norm group_norm instance_norm layer_norm local_response_norm rms_norm",
    "pooling":
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
        "adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d "
        "adaptive_max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d lp_pool3d max_pool1d "
        "max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices",
    "resampling": "interpolate upsample upsample_bilinear upsample_nearest",
    "sampling": "affine_grid grid_sample",
    "unpooling":
        "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
        "fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d",
}
# Functions that are also in other namespaces.
_SHARED = {
    "tensors.functions.images.convolution":
        "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
    "tensors.functions.images.padding": "channel_shuffle native_channel_shuffle pad pixel_shuffle pixel_unshuffle",
}
# What PyTorch's file of the functions has for itself, and programs import from there.
_PRIVATE = {
    "nn.functional.activation": "_get_softmax_dim",
    "nn.functional.embeddings": "_no_grad_embedding_renorm_",
    "nn.functional.multihead":
        "_canonical_mask _check_key_padding_mask _in_projection _in_projection_packed _mha_shape_check _none_or_dtype",
    "nn.functional.norms": "_verify_batch_size _verify_spatial_size",
    "nn.functional.unpooling": "_unpool_output_size",
    "overrides":
        "handle_torch_function has_torch_function has_torch_function_unary has_torch_function_variadic",
    "_jit_internal": "BroadcastingList1 BroadcastingList2 BroadcastingList3 boolean_dispatch",
}

__all__ = [name for table in (_SHARED, _OWN) for names in table.values() for name in names.split()]
__getattr__, __dir__ = _late(__name__, __all__, {
    **_inside(_OWN, __name__), **_inside(_SHARED), **_inside(_PRIVATE), **_BORROWED, "grad": "nn.grad"})
