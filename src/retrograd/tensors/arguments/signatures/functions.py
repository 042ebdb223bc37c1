"""How PyTorch's functions of tensors may be called: what is said of wrong arguments is made from this.

A line is names and, each in parentheses, the ways to call them; lines that are indented go on with it. Types are
those that messages name; `ints[2]` takes a single int too, `str? x` None too. `out` stands for `*, Tensor out=None`,
`options` for what functions that make tensors take, `like` for what those do that are told the shape by a tensor.
Must not know any function.
"""

from __future__ import annotations

FUNCTIONS = """
abs acos acosh angle asin asinh atan atanh ceil conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2
  expm1 fix floor frac i0 isneginf isposinf lgamma log log10 log1p log2 logical_not neg rad2deg reciprocal rsqrt sgn
  sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc nonzero bitwise_not msort:
  (Tensor input, out)
conj isfinite isinf isnan isreal positive real argwhere ravel t fliplr flipud trace imag view_as_real
  view_as_complex corrcoef:
  (Tensor input)
add sub: (Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)
mul atan2 fmax fmin hypot igamma igammac logaddexp logaddexp2 maximum minimum nextafter logical_and logical_or
  logical_xor ldexp kron inner matmul vdot:
  (Tensor input, Tensor other, out)
div:
  (Tensor input, Tensor other, out)
  (Tensor input, Tensor other, *, str? rounding_mode, Tensor out=None)
  (Tensor input, Number other, *, str? rounding_mode)
fmod copysign eq ne lt le gt ge: (Tensor input, Tensor other, out) (Tensor input, Number other, out)
remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift:
  (Tensor input, Tensor other, out)
  (Number self, Tensor other)
  (Tensor input, Number other, out)
floor_divide true_divide: (Tensor input, Tensor other, out) (Tensor input, Number other)
pow float_power:
  (Tensor input, Tensor exponent, out)
  (Number self, Tensor exponent, out)
  (Tensor input, Number exponent, out)
heaviside: (Tensor input, Tensor values, out)
xlogy: (Tensor input, Tensor other, out) (Number self, Tensor other, out) (Tensor input, Number other, out)
isclose: (Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)
rsub: (Tensor input, Tensor other, *, Number alpha=1) (Tensor input, Number other, Number alpha=1)
addcdiv addcmul: (Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, Tensor out=None)
clamp clip:
  (Tensor input, Tensor min=None, Tensor max=None, out)
  (Tensor input, Number min=None, Number max=None, out)
clamp_min: (Tensor input, Tensor min, out) (Tensor input, Number min, out)
clamp_max: (Tensor input, Tensor max, out) (Tensor input, Number max, out)
lerp: (Tensor input, Tensor end, Tensor weight, out) (Tensor input, Tensor end, Number weight, out)
logit: (Tensor input, float eps=None, out)
mvlgamma: (Tensor input, int p, out)
nan_to_num: (Tensor input, float nan=None, float posinf=None, float neginf=None, out)
polygamma: (int n, Tensor input, out)
round: (Tensor input, out) (Tensor input, *, int decimals, Tensor out=None)
where:
  (Tensor condition)
  (Tensor condition, Tensor input, Tensor other, out)
  (Tensor condition, Number self, Tensor other)
  (Tensor condition, Tensor input, Number other)
  (Tensor condition, Number self, Number other)
isin:
  (Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)
  (Number element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)
  (Tensor elements, Number test_element, *, bool assume_unique=False, bool invert=False, Tensor out=None)
all any:
  (Tensor input, out)
  (Tensor input, ints dim=None, bool keepdim=False, out)
  (Tensor input, int dim, bool keepdim=False, out)
amax amin: (Tensor input, ints[1] dim=[], bool keepdim=False, out)
logsumexp: (Tensor input, ints[1] dim, bool keepdim=False, out)
mean:
  (Tensor input, *, dtype dtype=None, Tensor out=None)
  (Tensor input, ints[1]? dim, bool keepdim=False, *, dtype dtype=None, Tensor out=None)
nanmean nansum: (Tensor input, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor out=None)
sum:
  (Tensor input, *, dtype dtype=None)
  (Tensor input, ints[1]? dim, bool keepdim=False, *, dtype dtype=None, Tensor out=None)
count_nonzero: (Tensor input, int dim=None) (Tensor input, ints dim)
argmax argmin: (Tensor input, int dim=None, bool keepdim=False, out)
max min:
  (Tensor input, out)
  (Tensor input, Tensor other, out)
  (Tensor input, int dim, bool keepdim=False, *, Tensors out=None)
median nanmedian: (Tensor input) (Tensor input, int dim, bool keepdim=False, *, Tensors out=None)
mode: (Tensor input, int dim=-1, bool keepdim=False, *, Tensors out=None)
prod:
  (Tensor input, *, dtype dtype=None)
  (Tensor input, int dim, bool keepdim=False, *, dtype dtype=None, Tensor out=None)
cummax cummin: (Tensor input, int dim, *, Tensors[2] out=None)
cumsum cumprod: (Tensor input, int dim, *, dtype dtype=None, Tensor out=None)
logcumsumexp: (Tensor input, int dim, out)
std var:
  (Tensor input, ints[1]? dim, bool unbiased=True, bool keepdim=False, out)
  (Tensor input, ints[1] dim=None, *, Number correction=None, bool keepdim=False, Tensor out=None)
  (Tensor input, bool unbiased=True)
std_mean var_mean:
  (Tensor input, ints[1]? dim, bool unbiased=True, bool keepdim=False)
  (Tensor input, ints[1] dim=None, *, Number correction=None, bool keepdim=False)
  (Tensor input, bool unbiased=True)
sort:
  (Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensors out=None)
  (Tensor input, int dim=-1, bool descending=False, *, Tensors out=None)
argsort:
  (Tensor input, *, bool stable, int dim=-1, bool descending=False, Tensor out=None)
  (Tensor input, int dim=-1, bool descending=False)
unbind: (Tensor input, int dim=0)
aminmax: (Tensor input, *, int dim=None, bool keepdim=False, Tensors[2] out=None)
cumulative_trapezoid trapezoid: (Tensor y, Tensor x, *, int dim=-1) (Tensor y, *, Number dx=1, int dim=-1)
diff: (Tensor input, int n=1, int dim=-1, Tensor prepend=None, Tensor append=None, out)
kthvalue: (Tensor input, int k, int dim=-1, bool keepdim=False, *, Tensors out=None)
topk: (Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True, *, Tensors out=None)
renorm: (Tensor input, Number p, int dim, Number maxnorm, out)
quantile nanquantile:
  (Tensor input, Tensor q, int dim=None, bool keepdim=False, *, str interpolation="linear", Tensor out=None)
  (Tensor input, float q, int dim=None, bool keepdim=False, *, str interpolation="linear", Tensor out=None)
histc: (Tensor input, int bins=100, Number min=0, Number max=0, out)
bincount: (Tensor input, Tensor weights=None, int minlength=0)
bucketize:
  (Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor out=None)
  (Number self, Tensor boundaries, *, bool out_int32=False, bool right=False)
searchsorted:
  (Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str side=None, Tensor
    sorter=None, Tensor out=None)
  (Tensor sorted_sequence, Number self, *, bool out_int32=False, bool right=False, str side=None, Tensor
    sorter=None, Tensor out=None)
broadcast_to: (Tensor input, ints size)
cat stack: (Tensors tensors, int dim=0, out)
column_stack hstack vstack dstack: (Tensors tensors, out)
chunk: (Tensor input, int chunks, int dim=0)
tensor_split:
  (Tensor input, ints indices, int dim=0)
  (Tensor input, Tensor tensor_indices_or_sections, int dim=0)
  (Tensor input, int sections, int dim=0)
combinations: (Tensor input, int r=2, bool with_replacement=False)
diag tril triu: (Tensor input, int diagonal=0, out)
diagflat: (Tensor input, int offset=0)
diag_embed: (Tensor input, int offset=0, int dim1=-2, int dim2=-1)
diagonal: (Tensor input, int offset=0, int dim1=0, int dim2=1)
diagonal_scatter: (Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1)
dsplit hsplit vsplit: (Tensor input, int sections) (Tensor input, ints indices)
flatten: (Tensor input, int start_dim=0, int end_dim=-1)
flip tile: (Tensor input, ints dims)
outer: (Tensor input, Tensor vec2, out)
movedim: (Tensor input, int source, int destination) (Tensor input, ints source, ints destination)
narrow: (Tensor input, int dim, Tensor start, int length) (Tensor input, int dim, int start, int length)
repeat_interleave:
  (Tensor input, Tensor repeats, int dim=None, *, int output_size=None)
  (Tensor repeats, *, int output_size=None)
  (Tensor input, int repeats, int dim=None, *, int output_size=None)
reshape: (Tensor input, ints shape)
roll: (Tensor input, ints[1] shifts, ints[1] dims=[])
rot90: (Tensor input, int k=1, ints dims=[0, 1])
select: (Tensor input, int dim, int index)
select_scatter: (Tensor input, Tensor src, int dim, int index)
slice_scatter: (Tensor input, Tensor src, int dim=0, int start=None, int end=None, int step=1, out)
squeeze: (Tensor input) (Tensor input, int dim) (Tensor input, ints dim)
unsqueeze: (Tensor input, int dim)
swapaxes: (Tensor input, int axis0, int axis1)
take: (Tensor input, Tensor index, out)
take_along_dim: (Tensor input, Tensor indices, int dim=None, out)
tril_indices triu_indices:
  (int row, int col, int offset=0, *, dtype dtype=None, layout layout=None, device device=None,
   bool pin_memory=None, bool requires_grad=False)
unflatten: (Tensor input, int dim, ints sizes)
vander: (Tensor x, int N=None, bool increasing=False)
pixel_shuffle: (Tensor input, int upscale_factor)
gather: (Tensor input, int dim, Tensor index, *, bool sparse_grad=False, Tensor out=None)
scatter:
  (Tensor input, int dim, Tensor index, Tensor src, out)
  (Tensor input, int dim, Tensor index, Tensor src, *, str reduce, Tensor out=None)
  (Tensor input, int dim, Tensor index, Number value, out)
  (Tensor input, int dim, Tensor index, Number value, *, str reduce, Tensor out=None)
scatter_add: (Tensor input, int dim, Tensor index, Tensor src, out)
scatter_reduce:
  (Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, Tensor out=None)
index_add: (Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1, Tensor out=None)
index_copy: (Tensor input, int dim, Tensor index, Tensor source, out)
index_fill: (Tensor input, int dim, Tensor index, Tensor value) (Tensor input, int dim, Tensor index, Number value)
index_select: (Tensor input, int dim, Tensor index, out)
index_reduce:
  (Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, Tensor out=None)
masked_fill: (Tensor input, Tensor mask, Tensor value) (Tensor input, Tensor mask, Number value)
masked_scatter: (Tensor input, Tensor mask, Tensor source)
masked_select: (Tensor input, Tensor mask, out)
mm bmm: (Tensor input, Tensor mat2, out) (Tensor input, Tensor mat2, dtype out_dtype, out)
mv: (Tensor input, Tensor vec, out)
dot: (Tensor input, Tensor tensor, out)
addmm:
  (Tensor input, Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1, Tensor out=None)
  (Tensor input, Tensor mat1, Tensor mat2, dtype out_dtype, *, Number beta=1, Number alpha=1, Tensor out=None)
addmv: (Tensor input, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1, Tensor out=None)
addbmm: (Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, Tensor out=None)
baddbmm:
  (Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, Tensor out=None)
  (Tensor input, Tensor batch1, Tensor batch2, dtype out_dtype, *, Number beta=1, Number alpha=1, Tensor out=None)
addr: (Tensor input, Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1, Tensor out=None)
cross: (Tensor input, Tensor other, int dim=None, out)
cov: (Tensor input, *, int correction=1, Tensor fweights=None, Tensor aweights=None)
cholesky_solve: (Tensor input, Tensor input2, bool upper=False, out)
bernoulli:
  (Tensor input, *, Generator generator=None, Tensor out=None)
  (Tensor input, float p, *, Generator generator=None)
binomial: (Tensor count, Tensor prob, Generator generator=None)
multinomial: (Tensor input, int num_samples, bool replacement=False, *, Generator generator=None, Tensor out=None)
normal:
  (Tensor mean, float std=1., *, Generator generator=None, Tensor out=None)
  (float mean, Tensor std, *, Generator generator=None, Tensor out=None)
  (Tensor mean, Tensor std, *, Generator generator=None, Tensor out=None)
  (float mean, float std, ints size, *, Generator generator=None, dtype dtype=None, layout layout=None, device
    device=None, bool pin_memory=None, bool requires_grad=False, Tensor out=None)
poisson: (Tensor input, Generator generator=None)
rand randn: (ints size, options)
randint: (int high, ints size, options) (int low, int high, ints size, options)
randperm: (int n, options)
rand_like randn_like: (Tensor input, like)
randint_like: (Tensor input, int low, int high, like) (Tensor input, Tensor high, like) (Tensor input, int high, like)
softmax log_softmax: (Tensor input, int dim, dtype dtype=None, out)
layer_norm: (Tensor input, ints normalized_shape, Tensor weight=None, Tensor bias=None, float eps=1e-05,
  bool cudnn_enable=True)
dropout alpha_dropout feature_dropout feature_alpha_dropout: (Tensor input, float p, bool train)
det logdet: (Tensor input)
equal: (Tensor input, Tensor other)
dist: (Tensor input, Tensor other, Number p=2)
clone: (Tensor input, *, memory_format memory_format=None)
permute: (Tensor input, ints dims)
"""
