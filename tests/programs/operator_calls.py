"""How the operators of random programs are called: names, what the first tensor must be like, and the parameters.

A line is `names | domain | parameters`. A parameter is `name:kind`, with `?` where it may be left out and `*` where it
is given by name alone. `operator_arguments` draws what fits a kind; `-> n` says that there are n results.
"""

from __future__ import annotations

from dataclasses import dataclass

_POINTWISE = """
sin cos tanh sigmoid erf erfc atan asinh square neg positive sinc deg2rad rad2deg sinh cosh exp expm1 exp2 i0 | any |
special.erfcx special.i0e special.i1 special.i1e special.expit special.ndtr special.entr special.log_ndtr | wide |
abs absolute sign ceil floor trunc fix frac relu sgn | kink |
isnan isinf isfinite isposinf isneginf signbit logical_not isreal | kink |
sqrt rsqrt log log2 log10 log1p reciprocal digamma lgamma | positive |
asin acos atanh erfinv arcsin arccos | unit |
acosh tan logit | half |
bitwise_not invert | whole |
angle nan_to_num | kink |
round | kink | decimals:places_after?*
add sub subtract | any | other:other alpha:number?*
rsub mul multiply | any | other:other
atan2 | smooth | other:smooth
mul true_divide hypot logaddexp logaddexp2 xlogy | positive | other:positive
div divide | positive | other:positive rounding_mode:rounding*
pow float_power | positive | exponent:exponent
fmod remainder | whole | other:nonzero
maximum minimum fmax fmin copysign | kink | other:exact
eq ne lt le gt ge greater less_equal not_equal isclose | whole | other:exact
logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor gcd lcm | whole | other:exact
bitwise_left_shift bitwise_right_shift | whole | other:small
lerp | any | end:like weight:weight
addcmul | any | tensor1:like tensor2:like value:number?*
addcdiv | any | tensor1:like tensor2:positive value:number?*
clamp clip | kink | min:small? max:number?
clamp_min | kink | min:exact
clamp_max | kink | max:exact
masked_fill | any | mask:mask value:number
mvlgamma | far | p:one
"""

_REDUCED = """
sum nansum mean | any | dim:dims keepdim:flag? dtype:dtype?*
sum nansum mean | any | dtype:dtype?*
prod | any | dim:dim keepdim:flag? dtype:dtype?*
amax amin | ties | dim:dims? keepdim:flag?
max min median nanmedian | ties |
max min median nanmedian mode cummax cummin | apart | dim:dim -> 2
max min median nanmedian | apart | dim:dim keepdim:flag -> 2
max min | kink | other:exact_like
argmax argmin | apart | dim:dim? keepdim:flag?
aminmax | apart | dim:dim?* keepdim:flag?* -> 2
all any | whole | dim:dims? keepdim:flag?
count_nonzero | whole | dim:dims?
var std | spread | dim:dims? correction:small?* keepdim:flag?*
var std | spread | unbiased:flag
var std | spread | dim:dims unbiased:flag? keepdim:flag?
var_mean std_mean | spread | dim:dims? correction:small?* keepdim:flag?* -> 2
logsumexp | any | dim:dims keepdim:flag?
norm | spread | p:order? dim:dims? keepdim:flag?
linalg.vector_norm | spread | ord:order? dim:dims? keepdim:flag?
softmax log_softmax | any | dim:dim dtype:dtype?
cumsum cumprod | any | dim:dim dtype:dtype?*
logcumsumexp | any | dim:dim
sort | apart | dim:dim? descending:flag? -> 2
sort | apart | stable:flag* dim:dim?* -> 2
argsort msort | apart |
argsort | apart | dim:dim? descending:flag?
topk | apart | k:one dim:dim? largest:flag? -> 2
kthvalue | apart | k:one dim:dim? keepdim:flag? -> 2
quantile nanquantile | apart | q:fraction dim:dim? keepdim:flag?
diff | any | n:one? dim:dim?
trapezoid trapz cumulative_trapezoid | any | dim:dim?*
trace | any |
renorm | spread | p:two dim:dim maxnorm:number
dist | spread | other:like p:two?
unique unique_consecutive | whole |
"""

_SHAPED = """
reshape view | any | shape:shape
flatten | any | start_dim:dim? end_dim:dim?
unflatten | any | dim:dim sizes:parts
squeeze | any | dim:dims?
unsqueeze | any | dim:new
transpose swapdims | any | dim0:dim dim1:dim
swapaxes | any | axis0:dim axis1:dim
movedim moveaxis | any | source:dim destination:dim
permute | any | dims:order_of_dims
t ravel detach clone contiguous | any |
diagonal | any | offset:small? dim1:dim? dim2:dim?
diag | any | diagonal:small?
diag_embed | any | offset:small? dim1:new? dim2:new?
diagflat tril triu | any | small?
flip | any | dims:some_dims
fliplr flipud atleast_1d atleast_2d atleast_3d | any |
roll | any | shifts:small dims:dim?
rot90 | any | k:small? dims:two_dims?
tile | any | dims:repeats
repeat | any | repeats:repeats
repeat_interleave | any | repeats:one dim:dim?
expand | any | size:wider
broadcast_to | any | size:wider
narrow | any | dim:dim start:zero length:one
select | any | dim:dim index:zero
unfold | any | dimension:dim size:one step:one
index_select | any | dim:dim index:index
gather | any | dim:dim index:places
take | any | index:index
take_along_dim | any | indices:near dim:dim
masked_select | any | mask:mask
index_add | any | dim:dim index:index source:slices alpha:number?*
index_copy | any | dim:dim index:once source:slices
index_fill | any | dim:dim index:index value:number
scatter | any | dim:dim index:zeros src:row
scatter_add | any | dim:dim index:places src:like_self
scatter | any | dim:dim index:zeros value:number
select_scatter | any | src:slice dim:dim index:zero
masked_scatter | any | mask:mask source:like_self
block_diag cartesian_prod | any |
split | any | one dim:dim? -> list
chunk | any | chunks:one dim:dim? -> list
tensor_split | any | one dim:dim? -> list
unbind | any | dim:dim? -> list
meshgrid broadcast_tensors | any | other:like -> list
where | any | other:chosen
combinations | any |
"""

_JOINED = """
cat concat | any | dim:dim?
stack | any | dim:new?
hstack vstack dstack column_stack | any |
"""

_PRODUCTS = """
matmul inner vdot | any | other:right
mm bmm | any | mat2:right
mv | any | vec:right
dot | any | tensor:right
outer ger | any | vec2:right
addmm | any | mat1:factor1 mat2:factor2 beta:number?* alpha:number?*
addmv | any | mat:matrix vec:vector beta:number?* alpha:number?*
addr | any | vec1:rows vec2:columns beta:number?* alpha:number?*
tensordot | any | other:right dims:one
cross | any | other:like dim:dim?
linalg.vecdot | any | y:like dim:dim?*
"""

_FUNCTIONAL = """
nn.functional.elu nn.functional.celu nn.functional.selu nn.functional.gelu nn.functional.silu | kink |
nn.functional.mish | any |
nn.functional.softplus nn.functional.logsigmoid nn.functional.softsign nn.functional.tanhshrink | kink |
nn.functional.hardtanh nn.functional.relu6 nn.functional.hardshrink nn.functional.softshrink | kink |
nn.functional.relu nn.functional.hardsigmoid nn.functional.hardswish nn.functional.leaky_relu | kink | inplace:flag?*
nn.functional.softmax nn.functional.softmin nn.functional.log_softmax | any | dim:dim dtype:dtype?*
nn.functional.mse_loss | any | target:like_self reduction:reduction?*
nn.functional.l1_loss nn.functional.smooth_l1_loss | kink | target:exact_self reduction:reduction?*
nn.functional.linear | any | weight:weights
nn.functional.pad | any | pad:pads value:number?*
nn.functional.layer_norm | spread | normalized_shape:last
nn.functional.glu | any | dim:dim?
nn.functional.cosine_similarity | spread | x2:like dim:dim?
nn.functional.one_hot | whole |
nn.functional.binary_cross_entropy_with_logits | any | target:like_self reduction:reduction?*
linalg.matrix_norm | spread |
"""


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    optional: bool
    by_name: bool


@dataclass(frozen=True)
class Call:
    """One operator, and one of the ways to call it."""

    name: str
    domain: str
    parameters: tuple[Parameter, ...]
    results: str = "1"
    sequence: bool = False

    @property
    def plain(self) -> str:
        return self.name.rpartition(".")[2]


def _parameter(text: str) -> Parameter:
    name, _, kind = text.rstrip("?*").partition(":")
    return Parameter(name, kind or name, "?" in text, "*" in text)


def _parsed(text: str, sequence: bool = False) -> list[Call]:
    found = []
    for line in text.strip().splitlines():
        names, domain, rest = (part.strip() for part in line.split("|"))
        parameters, _, results = rest.partition("->")
        read = tuple(_parameter(word) for word in parameters.split())
        found += [Call(name, domain, read, results.strip() or "1", sequence) for name in names.split()]
    return found


CALLS = [*_parsed(_POINTWISE), *_parsed(_REDUCED), *_parsed(_SHAPED), *_parsed(_JOINED, sequence=True),
         *_parsed(_PRODUCTS), *_parsed(_FUNCTIONAL)]
