"""Which functions autocast runs in which precision on the CPU: the one place where the lists stand.

The words are names of functions, methods and Python's operators. A function that stands in no list computes in the
types of its arguments.
"""

from __future__ import annotations

# Arguments of these are cast to the lower precision.
_LOWER_NAMES = """
    __matmul__ __rmatmul__ addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d linear lstm matmul mm prelu rnn_relu rnn_relu_cell
    rnn_tanh rnn_tanh_cell scaled_dot_product_attention vecdot
"""
LOWER = frozenset(_LOWER_NAMES.split())

# Arguments of these are cast to float32.
_FLOAT32_NAMES = """
    adaptive_avg_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool3d binary_cross_entropy
    binary_cross_entropy_with_logits cdist cholesky cholesky_ex cholesky_inverse cholesky_solve cond
    cosine_embedding_loss cross_entropy ctc_loss eig eigh eigvals eigvalsh fft fft2 fftn fractional_max_pool2d
    fractional_max_pool2d_with_indices fractional_max_pool3d fractional_max_pool3d_with_indices geqrf grid_sample
    grid_sampler grid_sampler_2d grid_sampler_3d hfft hinge_embedding_loss householder_product huber_loss ifft
    ifft2 ifftn ihfft inv inv_ex inverse irfft irfft2 irfftn kl_div l1_loss lstsq lu_solve lu_unpack
    margin_ranking_loss matrix_rank max_pool3d max_unpool1d max_unpool2d max_unpool3d mse_loss
    multi_margin_loss multilabel_margin_loss nanquantile nll_loss nll_loss_nd orgqr ormqr pinverse poisson_nll_loss
    polar prod qr quantile rfft rfft2 rfftn smooth_l1_loss soft_margin_loss solve stft svd svdvals tensorinv
    tensorsolve trace triangular_solve triplet_margin_loss view_as_complex
"""
FLOAT32 = frozenset(_FLOAT32_NAMES.split())

# Of the floating-point arguments of these, all are cast to float32 if one is float32.
WIDEST = frozenset(["cat", "concat", "concatenate", "index_copy", "stack"])

# These compute in the type of their last state, which is the argument at this place. `.data` names the overload for
# packed sequences.
BY_STATE = {"gru": 1, "gru_cell": 1, "lstm_cell": 1, "gru.data": 2, "lstm.data": 2}
PACKED = {name.removesuffix(".data"): name for name in BY_STATE if name.endswith(".data")}

# These are cast to float32 only if the argument at this place is a number, and no tensor.
BESIDE_NUMBER = {"fake_quantize_per_tensor_affine": 1}

# The modes in which `pad` is cast to float32, each with the largest number of padded dimensions for which it is.
COPYING = {"reflect": 2, "replicate": 3}

# These are cast to float32 only if the option `return_indices` at this place is False.
WITHOUT_INDICES = {"max_pool3d": 6}
