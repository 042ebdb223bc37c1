"""The everyday operators: the names that a user of autograd on a CPU needs. The page on coverage counts them."""

from __future__ import annotations

EVERYDAY: dict[str, str] = {
    "Elementwise": """
        torch: abs acos acosh add addcdiv addcmul angle asin asinh atan atan2 atanh ceil clamp clamp_min clamp_max clip
        conj conj_physical copysign cos cosh deg2rad digamma div erf erfc erfinv exp exp2 expm1 fix floor floor_divide
        fmod fmax fmin frac float_power heaviside hypot i0 igamma igammac imag ldexp lerp lgamma log log10 log1p log2
        logaddexp logaddexp2 logit maximum minimum mul mvlgamma nan_to_num neg nextafter polygamma positive pow rad2deg
        real reciprocal remainder round rsqrt rsub sigmoid sign sgn signbit sin sinc sinh sqrt square sub tan tanh
        true_divide trunc where xlogy bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift
        bitwise_right_shift logical_and logical_or logical_xor logical_not eq ne lt le gt ge isclose isin isnan isinf
        isposinf isneginf isreal isfinite
        torch.special: bessel_j0 bessel_j1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc
        gammaln i0 i0e i1 i1e log1p log_ndtr logit logsumexp multigammaln ndtr ndtri polygamma psi round sinc softmax
        log_softmax xlog1py xlogy zeta""",
    "Reductions and scans": """
        torch: all any amax amin aminmax argmax argmin count_nonzero cumsum cumprod cummax cummin logcumsumexp
        cumulative_trapezoid diff kthvalue logsumexp max mean median nanmean nanmedian nansum nanquantile quantile mode
        min norm renorm prod std var std_mean var_mean sum trapezoid trace unique unique_consecutive histc bincount
        bucketize searchsorted""",
    "Shape and views": """
        torch: atleast_1d atleast_2d atleast_3d block_diag broadcast_to broadcast_tensors cartesian_prod cat chunk
        column_stack combinations diag diag_embed diagflat diagonal diagonal_scatter dsplit dstack flatten flip fliplr
        flipud hsplit hstack kron meshgrid movedim narrow ravel repeat_interleave reshape roll rot90 select
        select_scatter slice_scatter split squeeze stack swapaxes t take take_along_dim tensor_split tile tril triu
        tril_indices triu_indices unbind unflatten unsqueeze vander vsplit vstack view_as_real view_as_complex
        as_strided pixel_shuffle
        torch.Tensor: expand repeat unfold view
        torch.nn.functional: pad pixel_shuffle""",
    "Indexing": """
        torch: gather scatter scatter_add scatter_reduce index_add index_copy index_fill index_put index_select
        index_reduce masked_fill masked_scatter masked_select nonzero argwhere take sort argsort topk msort
        torch.Tensor: put __getitem__ __setitem__""",
    "Matrix": """
        torch: matmul mm bmm mv dot vdot inner outer addmm addmv addbmm baddbmm addr chain_matmul tensordot einsum cross
        cdist cov corrcoef cholesky_solve
        torch.linalg: multi_dot norm vector_norm matrix_norm det slogdet inv inv_ex solve solve_triangular lstsq pinv
        matrix_rank matrix_power matrix_exp cholesky qr svd svdvals eigh eigvalsh eig eigvals lu lu_factor lu_solve
        householder_product tensorinv tensorsolve vecdot vander cond cross""",
    "fft": """
        torch.fft: fft ifft rfft irfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft ihfft hfft2 ihfft2 hfftn
        ihfftn fftfreq rfftfreq fftshift ifftshift""",
    "nn.functional": """
        torch.nn.functional: celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid
        mish prelu relu relu6 rrelu selu silu softmax softmin log_softmax softplus softshrink softsign
        tanhshrink threshold gumbel_softmax binary_cross_entropy binary_cross_entropy_with_logits
        cosine_embedding_loss cross_entropy ctc_loss gaussian_nll_loss hinge_embedding_loss huber_loss kl_div
        l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss
        multilabel_soft_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss
        triplet_margin_loss conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d unfold fold
        max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
        lp_pool1d lp_pool2d lp_pool3d interpolate grid_sample affine_grid batch_norm layer_norm group_norm
        instance_norm rms_norm local_response_norm normalize linear bilinear embedding embedding_bag one_hot
        dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout cosine_similarity
        pairwise_distance pdist scaled_dot_product_attention""",
    "Random": """
        torch: bernoulli binomial multinomial normal poisson rand randint randn randperm rand_like randn_like
        randint_like
        torch.Tensor: bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_""",
}


def names() -> dict[str, list[str]]:
    """The names of each family, with their namespace, as in `torch.linalg.inv`."""
    found: dict[str, list[str]] = {}
    for family, text in EVERYDAY.items():
        space = ""
        for word in text.split():
            if word.endswith(":"):
                space = word[:-1]
            else:
                found.setdefault(family, []).append(f"{space}.{word}")
    return found
