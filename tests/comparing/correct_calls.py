"""A correct call of each everyday operator: what `wrong_calls` makes wrong calls of.

A line is the names and the arguments of one call, in Python; `f`, `i`, `b` and `c` make tensors of a shape, of floats
in (0, 1), ints, bools and complex numbers.
"""

from __future__ import annotations

from comparing import everyday

FAMILIES = {
    "torch": """
abs acos acosh angle asin asinh atan atanh ceil conj conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 \
expm1 fix floor frac i0 isfinite isinf isnan isneginf isposinf isreal lgamma log log10 log1p log2 logical_not neg \
positive rad2deg real reciprocal rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc \
atleast_1d atleast_2d atleast_3d nonzero argwhere ravel t fliplr flipud trace: f(3, 4)
add sub mul div fmod remainder floor_divide true_divide pow float_power atan2 copysign eq ne lt le gt ge fmax fmin \
heaviside hypot igamma igammac logaddexp logaddexp2 maximum minimum nextafter xlogy isclose logical_and logical_or \
logical_xor rsub: f(3, 4), f(3, 4)
bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift: i(3, 4), i(3, 4)
bitwise_not: i(3, 4)
ldexp: f(3, 4), i(3, 4)
addcdiv addcmul: f(3, 4), f(3, 4), f(3, 4), value=2
clamp clip: f(3, 4), 0.2, 0.7
clamp_min clamp_max: f(3, 4), 0.5
imag: c(3, 4)
lerp: f(3, 4), f(3, 4), 0.5
logit: f(3, 4), 0.1
mvlgamma: f(3, 4) + 3, 2
nan_to_num: f(3, 4), 0.0, 1.0, -1.0
polygamma: 1, f(3, 4)
round: f(3, 4), decimals=1
where: b(3, 4), f(3, 4), f(3, 4)
isin: f(3, 4), f(5), invert=True
all any amax amin logsumexp mean nanmean nansum sum count_nonzero: f(3, 4), 1
all any amax amin argmax argmin logsumexp mean sum nanmean nansum max min median nanmedian mode prod cummax cummin \
cumsum cumprod logcumsumexp std var std_mean var_mean sort argsort unbind: f(3, 4), dim=1
max min: f(3, 4), f(3, 4)
max min median prod std var sum mean mode all any: f(3, 4), 1, True
std var: f(3, 4), dim=1, correction=1, keepdim=True
aminmax: f(3, 4), dim=1, keepdim=True
cumulative_trapezoid trapezoid: f(3, 4), f(3, 4), dim=1
cumulative_trapezoid trapezoid: f(3, 4), dx=2.0
diff: f(3, 4), 1, 1, f(3, 1), f(3, 2)
kthvalue: f(3, 4), 2, 1, True
topk: f(3, 4), 2, 1, True, True
norm: f(3, 4), 2, 1, True
renorm: f(3, 4), 2, 1, 1.0
quantile nanquantile: f(3, 4), 0.5, 1, True, interpolation="linear"
unique: f(3, 4), True, True, True, 1
unique_consecutive: f(3, 4), True, True, 1
histc: f(3, 4), 5, 0, 1
bincount: i(5), f(5), 3
bucketize: f(3, 4), f(5).sort()[0], out_int32=True, right=True
searchsorted: f(5).sort()[0], f(3, 4), out_int32=True, right=True, side="right"
block_diag cartesian_prod meshgrid: f(3), f(4)
broadcast_tensors: f(3, 1), f(4)
meshgrid: f(3), f(4), indexing="ij"
broadcast_to: f(3, 4), (2, 3, 4)
cat: [f(3, 4), f(3, 4)], 1
stack: [f(3, 4), f(3, 4)], 1
column_stack hstack vstack dstack: [f(3, 4), f(3, 4)]
chunk tensor_split: f(3, 4), 2, 1
split: f(3, 4), 2, 1
combinations: f(4), 2, True
diag tril triu diagflat: f(3, 4), 1
diag_embed diagonal: f(3, 4), 1, 0, 1
diagonal_scatter: f(3, 4), f(3), 1, 0, 1
dsplit: f(2, 3, 4), 2
hsplit: f(3, 4), 2
vsplit: f(4, 3), 2
flatten: f(2, 3, 4), 1, 2
flip: f(3, 4), (0, 1)
kron inner outer: f(3), f(3)
movedim: f(2, 3, 4), 0, 1
movedim: f(2, 3, 4), (0, 1), (1, 2)
narrow: f(3, 4), 1, 0, 2
repeat_interleave: f(3, 4), 2, 1
repeat_interleave: f(3, 4), i(4), 1
reshape: f(3, 4), (4, 3)
roll: f(3, 4), 1, 1
roll: f(3, 4), (1, 2), (0, 1)
rot90: f(3, 4), 1, (0, 1)
select: f(3, 4), 1, 2
select_scatter: f(3, 4), f(3), 1, 2
slice_scatter: f(3, 4), f(3, 2), 1, 0, 2, 1
squeeze: f(3, 1), 1
unsqueeze: f(3, 4), 1
swapaxes: f(3, 4), 0, 1
take: f(3, 4), i(5)
take_along_dim: f(3, 4), i(3, 2), 1
tile: f(3, 4), (2, 2)
tril_indices triu_indices: 3, 4, 1
unflatten: f(3, 4), 1, (2, 2)
vander: f(3), 4, True
view_as_real: c(3, 4)
view_as_complex: f(3, 2)
as_strided: f(3, 4), (2, 2), (1, 2), 1
pixel_shuffle: f(1, 4, 2, 2), 2
gather: f(3, 4), 1, i(3, 2)
scatter scatter_add: f(3, 4), 1, i(3, 2), f(3, 2)
scatter: f(3, 4), 1, i(3, 2), 1.5
scatter: f(3, 4), 1, i(3, 2), f(3, 2), reduce="add"
scatter_reduce: f(3, 4), 1, i(3, 2), f(3, 2), "sum", include_self=True
index_add index_copy: f(3, 4), 1, i(2), f(3, 2)
index_add: f(3, 4), 1, i(2), f(3, 2), alpha=2
index_fill: f(3, 4), 1, i(2), 1.5
index_fill: f(3, 4), 1, i(2), f()
index_put: f(3, 4), (i(2), i(2)), f(2), True
index_select: f(3, 4), 1, i(2)
index_reduce: f(3, 4), 1, i(2), f(3, 2), "prod", include_self=True
masked_fill: f(3, 4), b(3, 4), 1.5
masked_fill: f(3, 4), b(3, 4), f()
masked_scatter: f(3, 4), b(3, 4), f(12)
masked_select: f(3, 4), b(3, 4)
sort argsort: f(3, 4), 1, True
msort: f(3, 4)
matmul mm: f(3, 4), f(4, 5)
matmul: f(2, 3, 4), f(2, 4, 5)
bmm: f(2, 3, 4), f(2, 4, 5)
mv: f(3, 4), f(4)
dot vdot: f(3), f(3)
addmm: f(3, 5), f(3, 4), f(4, 5), beta=2, alpha=3
addmv: f(3), f(3, 4), f(4), beta=2, alpha=3
addbmm: f(3, 5), f(2, 3, 4), f(2, 4, 5), beta=2, alpha=3
baddbmm: f(2, 3, 5), f(2, 3, 4), f(2, 4, 5), beta=2, alpha=3
addr: f(3, 4), f(3), f(4), beta=2, alpha=3
chain_matmul: f(3, 4), f(4, 5)
tensordot: f(3, 4), f(4, 5), 1
tensordot: f(3, 4), f(4, 5), ([1], [0])
einsum: "ij,jk->ik", f(3, 4), f(4, 5)
cross: f(4, 3), f(4, 3), 1
cdist: f(3, 4), f(5, 4), 2.0, "use_mm_for_euclid_dist"
cov: f(3, 4), correction=1, fweights=i(4) + 1, aweights=f(4)
corrcoef: f(3, 4)
cholesky_solve: f(3, 2), s(3), True
bernoulli: f(3, 4)
bernoulli: f(3, 4), 0.5
binomial: f(3, 4) * 0 + 5, f(3, 4)
multinomial: f(3, 4), 2, True
normal: f(3, 4), f(3, 4)
normal: 0.0, 1.0, (3, 4)
poisson: f(3, 4)
rand randn: 3, 4
rand randn: (3, 4), dtype=torch.float64, requires_grad=True
randint: 0, 10, (3, 4)
randint: 10, (3, 4), dtype=torch.int32
randperm: 5
rand_like randn_like: f(3, 4), dtype=torch.float64
randint_like: f(3, 4), 0, 10
""",
    "torch.special": """
bessel_j0 bessel_j1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr ndtr \
ndtri psi sinc: f(3, 4)
gammainc gammaincc xlog1py xlogy: f(3, 4), f(3, 4)
zeta: f(3, 4) + 1, f(3, 4)
logit: f(3, 4), 0.1
logsumexp: f(3, 4), 1, True
multigammaln: f(3, 4) + 3, 2
polygamma: 1, f(3, 4)
round: f(3, 4), decimals=1
softmax log_softmax: f(3, 4), 1, dtype=torch.float64
""",
    "torch.Tensor": """
expand: f(3, 1), 3, 4
expand: f(3, 1), (3, 4)
repeat: f(3, 1), 2, 2
unfold: f(3, 4), 1, 2, 1
view: f(3, 4), 4, 3
view: f(3, 4), torch.int32
put: f(3, 4), i(3), f(3), True
__getitem__: f(3, 4), 1
__getitem__: f(3, 4), (i(2), torch.tensor([True, False, True, False]))
__setitem__: f(3, 4), 1, 2.0
__setitem__: f(3, 4), i(2), f(4)
bernoulli_: f(3, 4), 0.5
cauchy_ normal_ log_normal_: f(3, 4), 0.5, 1.0
exponential_: f(3, 4), 2.0
geometric_: f(3, 4), 0.5
random_: f(3, 4), 1, 5
uniform_: f(3, 4), 0.0, 1.0
""",
    "torch.linalg": """
multi_dot: [f(3, 4), f(4, 5)]
norm: f(3, 4), "fro", (0, 1), True
norm: f(3, 4), 2, 1, True, dtype=torch.float64
vector_norm: f(3, 4), 2, 1, True, dtype=torch.float64
matrix_norm: f(3, 4), "fro", (0, 1), True, dtype=torch.float64
det slogdet inv inv_ex eig eigvals matrix_exp: s(3)
solve: s(3), f(3, 2), left=True
solve_triangular: s(3), f(3, 2), upper=True, left=True, unitriangular=False
lstsq: f(4, 3), f(4, 2), rcond=0.1, driver="gelsd"
pinv: f(3, 4), rcond=0.1, hermitian=False
pinv: f(3, 4), atol=0.1, rtol=0.1
matrix_rank: f(3, 4), tol=0.1, hermitian=False
matrix_rank: f(3, 4), atol=0.1, rtol=0.1
matrix_power: s(3), 2
cholesky: s(3), upper=True
qr: f(3, 4), "reduced"
svd: f(3, 4), True, driver=None
svdvals: f(3, 4), driver=None
eigh eigvalsh: s(3), "L"
lu lu_factor: s(3), pivot=True
lu_solve: s(3), i(3).int() + 1, f(3, 2), left=True, adjoint=False
householder_product: f(3, 2), f(2)
tensorinv: s(6).reshape(2, 3, 6), 2
tensorsolve: s(6).reshape(2, 3, 6), f(2, 3), dims=None
vecdot: f(3, 4), f(3, 4), dim=1
vander: f(3), N=4
cond: f(3, 3), 2
cross: f(4, 3), f(4, 3), dim=1
""",
    "torch.fft": """
fft ifft: f(3, 4), 4, 1, "ortho"
rfft ihfft: f(3, 4), 4, 1, "ortho"
irfft hfft: c(3, 4), 4, 1, "ortho"
fft2 ifft2 fftn ifftn rfft2 rfftn ihfft2 ihfftn: f(3, 4), (3, 4), (0, 1), "ortho"
irfft2 irfftn hfft2 hfftn: c(3, 4), (3, 4), (0, 1), "ortho"
fftfreq rfftfreq: 5, 2.0
fftshift ifftshift: f(3, 4), 1
fftshift ifftshift: f(3, 4), (0, 1)
""",
    "torch.nn.functional": """
pad: f(1, 3, 4), (1, 1), "constant", 0.5
pad: f(1, 3, 4), (1, 1), "reflect"
pad: f(1, 3, 4), (1, 1), "circular"
pixel_shuffle: f(1, 4, 2, 2), 2
celu elu: f(3, 4), 1.0, False
gelu: f(3, 4), approximate="tanh"
glu: f(3, 4), 1
hardshrink softshrink: f(3, 4), 0.5
hardsigmoid hardswish mish relu relu6 selu silu: f(3, 4), False
hardtanh: f(3, 4), -1.0, 1.0, False
leaky_relu: f(3, 4), 0.1, False
logsigmoid softsign tanhshrink: f(3, 4)
prelu: f(3, 4), f(4)
rrelu: f(3, 4), 0.1, 0.3, False, False
softmax log_softmax softmin: f(3, 4), 1, dtype=torch.float64
softplus: f(3, 4), 1.0, 20.0
threshold: f(3, 4), 0.5, 1.0, False
gumbel_softmax: f(3, 4), 1.0, False, dim=1
binary_cross_entropy binary_cross_entropy_with_logits: f(3, 4), f(3, 4), f(3, 4), reduction="mean"
binary_cross_entropy_with_logits: f(3, 4), f(3, 4), pos_weight=f(4)
cosine_embedding_loss: f(3, 4), f(3, 4), i(3) * 2 - 1, 0.1, reduction="mean"
cross_entropy: f(3, 4), i(3), f(4), ignore_index=-100, reduction="mean", label_smoothing=0.1
cross_entropy: f(3, 4), f(3, 4), f(4)
ctc_loss: f(5, 2, 4).log(), i(2, 3) + 1, i(2) * 0 + 5, i(2) * 0 + 2, 0, "mean", False
ctc_loss: f(5, 2, 4).log(), i(2, 3) + 1, (5, 5), (2, 2)
gaussian_nll_loss: f(3, 4), f(3, 4), f(3, 4), True, 1e-6, "mean"
hinge_embedding_loss: f(3, 4), i(3, 4) * 2 - 1, 1.0, reduction="mean"
huber_loss: f(3, 4), f(3, 4), "mean", 1.0, f(3, 4)
kl_div: f(3, 4), f(3, 4), reduction="batchmean", log_target=True
l1_loss mse_loss: f(3, 4), f(3, 4), reduction="mean"
margin_ranking_loss: f(3), f(3), i(3), 0.1, reduction="mean"
multi_margin_loss: f(3, 4), i(3), 1, 1.0, f(4), reduction="mean"
multilabel_margin_loss: f(3, 4), i(3, 4), reduction="mean"
multilabel_soft_margin_loss: f(3, 4), f(3, 4), f(4), reduction="mean"
nll_loss: f(3, 4), i(3), f(4), ignore_index=-100, reduction="mean"
nll_loss: f(2, 4, 3, 3), i(2, 3, 3)
poisson_nll_loss: f(3, 4), f(3, 4), True, True, eps=1e-8, reduction="mean"
smooth_l1_loss: f(3, 4), f(3, 4), reduction="mean", beta=1.0
soft_margin_loss: f(3, 4), i(3, 4) * 2 - 1, reduction="mean"
triplet_margin_loss: f(3, 4), f(3, 4), f(3, 4), 1.0, 2.0, 1e-6, True, reduction="mean"
conv1d: f(2, 4, 5), f(6, 2, 3), f(6), 1, 1, 1, 2
conv2d: f(2, 4, 5, 5), f(6, 2, 3, 3), f(6), 1, (1, 1), 1, 2
conv2d: f(2, 4, 5, 5), f(6, 4, 3, 3), padding="same"
conv3d: f(1, 2, 3, 3, 3), f(2, 2, 2, 2, 2), f(2), 1, 1, 1, 1
conv_transpose1d: f(2, 4, 5), f(4, 3, 3), f(6), 2, 1, 1, 2, 1
conv_transpose2d: f(2, 4, 5, 5), f(4, 3, 3, 3), f(6), 2, 1, (1, 1), 2, 1
conv_transpose3d: f(1, 2, 3, 3, 3), f(2, 2, 2, 2, 2), f(2), 2, 1, 1, 1, 1
unfold: f(1, 2, 4, 4), 2, 1, 0, 1
fold: f(1, 8, 9), (4, 4), 2, 1, 0, 1
max_pool1d: f(1, 2, 6), 2, 2, 1, 1, False, False
max_pool2d: f(1, 2, 6, 6), (2, 2), 2, 1, 1, False, True
max_pool3d: f(1, 2, 4, 4, 4), 2, 2, 1, 1, False, False
avg_pool1d: f(1, 2, 6), 2, 2, 1, False, True
avg_pool2d: f(1, 2, 6, 6), (2, 2), 2, 1, False, True, 3
avg_pool3d: f(1, 2, 4, 4, 4), 2, 2, 1, False, True, 3
adaptive_max_pool1d adaptive_avg_pool1d: f(1, 2, 6), 3
adaptive_max_pool2d adaptive_avg_pool2d: f(1, 2, 6, 6), (3, None)
adaptive_max_pool3d adaptive_avg_pool3d: f(1, 2, 4, 4, 4), (2, 2, 2)
lp_pool1d: f(1, 2, 6), 2.0, 2, 2, False
lp_pool2d: f(1, 2, 6, 6), 2.0, 2, 2, False
lp_pool3d: f(1, 2, 4, 4, 4), 2.0, 2, 2, False
interpolate: f(1, 2, 4, 4), (6, 6), mode="bilinear", align_corners=True
interpolate: f(1, 2, 4, 4), scale_factor=2.0, mode="nearest"
grid_sample: f(1, 2, 4, 4), f(1, 3, 3, 2), "bilinear", "zeros", True
affine_grid: f(1, 2, 3), (1, 2, 3, 3), True
batch_norm: f(3, 4), f(4), f(4), f(4), f(4), True, 0.1, 1e-5
layer_norm: f(3, 4), (4,), f(4), f(4), 1e-5
rms_norm: f(3, 4), (4,), f(4), 1e-5
group_norm: f(3, 4, 2), 2, f(4), f(4), 1e-5
instance_norm: f(3, 4, 5), f(4), f(4), f(4), f(4), True, 0.1, 1e-5
local_response_norm: f(1, 3, 4), 2, 1e-4, 0.75, 1.0
normalize: f(3, 4), 2.0, 1, 1e-12
linear: f(3, 4), f(5, 4), f(5)
bilinear: f(3, 4), f(3, 5), f(2, 4, 5), f(2)
embedding: i(3), f(4, 5), 1, 2.0, 2.0, False, False
embedding_bag: i(3, 2), f(4, 5), None, None, 2.0, False, "mean"
embedding_bag: i(6), f(4, 5), i(2).sort()[0] * 0 + torch.arange(2), per_sample_weights=f(6), mode="sum"
one_hot: i(3), 4
dropout alpha_dropout feature_alpha_dropout: f(3, 4), 0.5, True, False
dropout1d: f(2, 3, 4), 0.5, True, False
dropout2d: f(2, 3, 4, 4), 0.5, True, False
dropout3d: f(2, 3, 4, 4, 4), 0.5, True, False
cosine_similarity: f(3, 4), f(3, 4), 1, 1e-8
pairwise_distance: f(3, 4), f(3, 4), 2.0, 1e-6, True
pdist: f(3, 4), 2.0
scaled_dot_product_attention: f(2, 3, 4), f(2, 3, 4), f(2, 3, 4), b(3, 3), 0.0, False
""",
    "torch.nn": """
Linear: 4, 5, True
Bilinear: 4, 5, 6, True
Conv1d Conv2d Conv3d: 4, 6, 3, 1, 1, 1, 2, True, "zeros"
ConvTranspose1d ConvTranspose2d ConvTranspose3d: 4, 6, 3, 2, 1, 1, 2, True, 1, "zeros"
MaxPool1d MaxPool2d MaxPool3d: 2, 2, 1, 1, False, False
AvgPool1d AvgPool2d AvgPool3d: 2, 2, 1, False, True
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool2d: 3
BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d: 4, 1e-5, 0.1, True, True
GroupNorm: 2, 4, 1e-5, True
LayerNorm: (4,), 1e-5, True
RMSNorm: (4,), 1e-5, True
LocalResponseNorm: 2, 1e-4, 0.75, 1.0
Embedding: 4, 5, 1, 2.0, 2.0, False, False
EmbeddingBag: 4, 5, 2.0, 2.0, False, "mean"
Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout: 0.5, False
ReLU ReLU6 SELU SiLU Mish Hardsigmoid Hardswish: False
ELU CELU LeakyReLU: 0.1, False
Hardtanh: -1.0, 1.0, False
Threshold: 0.5, 1.0, False
GELU: "tanh"
PReLU: 3, 0.25
Softmax LogSoftmax Softmin: 1
Softplus: 1.0, 20.0
L1Loss MSELoss: None, None, "mean"
CrossEntropyLoss NLLLoss: f(4), None, -100, None, "mean"
Upsample: None, 2.0, "nearest"
Flatten: 1, -1
Unflatten: 1, (2, 2)
MultiheadAttention: 4, 2, 0.0, True
PixelShuffle: 2
ReflectionPad1d ReflectionPad2d ZeroPad2d ReplicationPad1d: 2
ConstantPad1d: 2, 0.5
Unfold: 2, 1, 0, 1
Fold: (4, 4), 2, 1, 0, 1
""",
}


def calls() -> list[tuple[str, str]]:
    """The full name of each function, and the arguments of a correct call; some have several."""
    found = []
    for space, text in FAMILIES.items():
        for line in text.strip().splitlines():
            names, _, arguments = line.partition(": ")
            found += [(f"{space}.{name}", arguments) for name in names.split()]
    return found


def uncalled() -> list[str]:
    """The everyday operators that no call is of."""
    called = {name for name, _ in calls()}
    return [name for names in everyday.names().values() for name in names if name not in called]
