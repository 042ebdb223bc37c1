"""How PyTorch's namespaces of functions may be called: what is said of wrong arguments is made from this.

A line is names and, each in parentheses, the ways to call them; lines that are indented go on with it. Types are
those that messages name; `ints[2]` takes a single int too, `str? x` None too. `out` stands for `*, Tensor out=None`,
`options` for what functions that make tensors take, `like` for what those do that are told the shape by a tensor.
Must not know any function.
"""

from __future__ import annotations

LINALG = """
eigvals: (Tensor input, out)
matrix_exp: (Tensor input)
multi_dot: (Tensors tensors, out)
norm:
  (Tensor input, Number ord=None, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor out=None)
  (Tensor input, str ord, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor out=None)
vector_norm: (Tensor input, Number ord=2, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor out=None)
matrix_norm:
  (Tensor input, Number ord, ints dim=(-2, -1), bool keepdim=False, *, dtype dtype=None, Tensor out=None)
  (Tensor input, str ord="fro", ints dim=(-2, -1), bool keepdim=False, *, dtype dtype=None, Tensor out=None)
det inv: (Tensor A, out)
slogdet: (Tensor A, *, Tensors[2] out=None)
inv_ex: (Tensor A, *, bool check_errors=False, Tensors[2] out=None)
eig: (Tensor input, *, Tensors[2] out=None)
solve: (Tensor A, Tensor B, *, bool left=True, Tensor out=None)
solve_triangular: (Tensor input, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, Tensor out=None)
lstsq: (Tensor input, Tensor b, float rcond=None, *, str driver=None, Tensors[4] out=None)
pinv:
  (Tensor input, *, Tensor atol=None, Tensor rtol=None, bool hermitian=False, Tensor out=None)
  (Tensor input, *, float atol=None, float rtol=None, bool hermitian=False, Tensor out=None)
  (Tensor input, Tensor rcond, bool hermitian=False, out)
  (Tensor input, float rcond, bool hermitian=False, out)
matrix_rank:
  (Tensor input, *, Tensor atol=None, Tensor rtol=None, bool hermitian=False, Tensor out=None)
  (Tensor input, *, float atol=None, float rtol=None, bool hermitian=False, Tensor out=None)
  (Tensor input, Tensor tol, bool hermitian=False, out)
  (Tensor input, float tol, bool hermitian=False, out)
matrix_power: (Tensor input, int n, out)
cholesky: (Tensor input, *, bool upper=False, Tensor out=None)
qr: (Tensor A, str mode="reduced", *, Tensors[2] out=None)
svd: (Tensor A, bool full_matrices=True, *, str driver=None, Tensors[3] out=None)
svdvals: (Tensor A, *, str driver=None, Tensor out=None)
eigh: (Tensor input, str UPLO="L", *, Tensors[2] out=None)
eigvalsh: (Tensor input, str UPLO="L", out)
lu: (Tensor A, *, bool pivot=True, Tensors[3] out=None)
lu_factor: (Tensor A, *, bool pivot=True, Tensors[2] out=None)
lu_solve: (Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor out=None)
householder_product: (Tensor input, Tensor tau, out)
tensorinv: (Tensor input, int ind=2, out)
tensorsolve: (Tensor input, Tensor other, ints dims=None, out)
vecdot: (Tensor x, Tensor y, *, int dim=-1, Tensor out=None)
vander: (Tensor x, *, int N=None)
cond: (Tensor input, Number p=None, out) (Tensor input, str p, out)
cross: (Tensor input, Tensor other, *, int dim=-1, Tensor out=None)
"""

FFT = """
fft ifft rfft ihfft irfft hfft: (Tensor input, int n=None, int dim=-1, str norm=None, out)
fft2 ifft2 rfft2 ihfft2 irfft2 hfft2: (Tensor input, ints[1] s=None, ints[1] dim=[-2, -1], str norm=None, out)
fftn ifftn rfftn ihfftn irfftn hfftn: (Tensor input, ints[1] s=None, ints[1] dim=None, str norm=None, out)
fftfreq rfftfreq:
  (int n, float d=1., *, dtype dtype=None, layout layout=None, device device=None, bool pin_memory=None,
   bool requires_grad=False, Tensor
    out=None)
fftshift ifftshift: (Tensor input, ints[1] dim=None)
"""

SPECIAL = """
bessel_j0 bessel_j1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr ndtr
  ndtri psi sinc:
  (Tensor input, out)
gammainc gammaincc: (Tensor input, Tensor other, out)
xlog1py xlogy zeta:
  (Tensor input, Tensor other, out)
  (Number self, Tensor other, out)
  (Tensor input, Number other, out)
logit: (Tensor input, float eps=None, out)
multigammaln: (Tensor input, int p, out)
polygamma: (int n, Tensor input, out)
logsumexp: (Tensor input, ints[1] dim, bool keepdim=False, out)
round: (Tensor input, *, int decimals=0, Tensor out=None)
softmax: (Tensor input, int dim, dtype dtype=None)
log_softmax: (Tensor input, int dim, *, dtype dtype=None)
"""

FUNCTIONAL = """
logsigmoid: (Tensor input, out)
pixel_shuffle: (Tensor input, int upscale_factor)
gelu: (Tensor input, *, str approximate="none", Tensor out=None)
hardshrink softshrink: (Tensor input, Number lambd=0.5, out)
prelu: (Tensor input, Tensor weight)
softplus: (Tensor input, Number beta=1, Number threshold=20, out)
conv1d:
  (Tensor input, Tensor weight, Tensor bias=None, ints[1] stride=1, ints[1] padding=0, ints[1] dilation=1, int
    groups=1)
  (Tensor input, Tensor weight, Tensor bias=None, ints[1] stride=1, str padding="valid", ints[1] dilation=1, int
    groups=1)
conv2d:
  (Tensor input, Tensor weight, Tensor bias=None, ints[2] stride=1, ints[2] padding=0, ints[2] dilation=1, int
    groups=1)
  (Tensor input, Tensor weight, Tensor bias=None, ints[2] stride=1, str padding="valid", ints[2] dilation=1, int
    groups=1)
conv3d:
  (Tensor input, Tensor weight, Tensor bias=None, ints[3] stride=1, ints[3] padding=0, ints[3] dilation=1, int
    groups=1)
  (Tensor input, Tensor weight, Tensor bias=None, ints[3] stride=1, str padding="valid", ints[3] dilation=1, int
    groups=1)
conv_transpose1d:
  (Tensor input, Tensor weight, Tensor bias=None, ints[1] stride=[1], ints[1] padding=[0], ints[1]
    output_padding=[0], int groups=1, ints[1] dilation=[1])
conv_transpose2d:
  (Tensor input, Tensor weight, Tensor bias=None, ints[2] stride=[1, 1], ints[2] padding=[0, 0], ints[2]
    output_padding=[0, 0], int groups=1, ints[2] dilation=[1, 1])
conv_transpose3d:
  (Tensor input, Tensor weight, Tensor bias=None, ints[3] stride=[1, 1, 1], ints[3] padding=[0, 0, 0], ints[3]
    output_padding=[0, 0, 0], int groups=1, ints[3] dilation=[1, 1, 1])
avg_pool1d:
  (Tensor input, ints[1] kernel_size, ints[1] stride=[], ints[1] padding=[0], bool ceil_mode=False, bool
    count_include_pad=True)
avg_pool2d:
  (Tensor input, ints[2] kernel_size, ints[2] stride=[], ints[2] padding=0, bool ceil_mode=False, bool
    count_include_pad=True, int divisor_override=None, out)
avg_pool3d:
  (Tensor input, ints[3] kernel_size, ints[3] stride=[], ints[3] padding=0, bool ceil_mode=False, bool
    count_include_pad=True, int divisor_override=None, out)
adaptive_avg_pool1d: (Tensor input, ints[1] output_size)
linear: (Tensor input, Tensor weight, Tensor bias=None, out)
bilinear: (Tensor input1, Tensor input2, Tensor weight, Tensor bias=None)
one_hot: (Tensor input, int num_classes=-1)
cosine_similarity: (Tensor x1, Tensor x2, int dim=1, float eps=1e-08)
pairwise_distance: (Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False)
pdist: (Tensor input, float p=2.)
scaled_dot_product_attention:
  (Tensor query, Tensor key, Tensor value, Tensor attn_mask=None, float dropout_p=0., bool is_causal=False, *, float
    scale=None, bool enable_gqa=False)
"""
