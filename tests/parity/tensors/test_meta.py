"""Meta tensors here and in PyTorch: shapes, dtypes, strides, `requires_grad` and the names of nodes."""

from __future__ import annotations

import copy
import re
import warnings
from typing import Any

import pytest
import torch as pytorch

import retrograd

_METHODS = """
    abs acos acosh asin asinh atan ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac isfinite
    isinf isnan lgamma log log10 log1p log2 logit neg rad2deg reciprocal relu round rsqrt sgn sigmoid sign signbit
    sin sinc sinh sqrt square tan tanh trunc clone contiguous detach t fliplr flipud tril triu logical_not
    nan_to_num positive sum mean prod std var amax amin argmax argmin max min all any norm median logsumexp(0)
    cumsum(0) cumprod(1) cummax(0) sort(1) argsort(1) topk(2) kthvalue(2) mode softmax(1) log_softmax(0) flatten
    ravel unbind split(2) chunk(2) unsqueeze(1) squeeze transpose(0,1) flip(0) roll(1) rot90 diag diagonal trace
    tile(2,2) repeat(2,1) expand(2,3,4) view(12) reshape(2,6) narrow(1,0,2) select(0,1) unfold(1,2,1) movedim(0,1)
    double half bool long sum(0) sum(1,keepdim=True) mean(0) var(1) amax(1) count_nonzero diff pow(2) clamp(0,1)
    fmod(2) remainder(3) div(2) floor_divide(2) add(1) sub(1) mul(2.5) eq(1) lt(0) histc(5) dist(x) heaviside(x)
    hypot(x) atan2(x) maximum(x) mm(x.t()) matmul(x.t()) inner(x) tensordot(x,2) renorm(2,0,1) unflatten(0,(3,1))
    masked_fill(x>0,1) bernoulli multinomial(2) to_dense zero_ add_(1) mul_(x) clamp_(0) exponential_ normal_
    uniform_ random_ fill_(3) as_strided((2,2),(1,2)) new_zeros(3) new_ones((2,2)) new_full((2,),1) new_empty(4)
"""
_UNARY = _METHODS.split()
_CALLS = """cat([x,x]) | stack([x,x],1) | hstack([x,x]) | vstack([x,x]) | where(x>0,x,y) | where(x>0,1.,2.)
    | lerp(x,x,0.5) | addcmul(x,x,x) | addcdiv(x,x,x) | einsum('ij,kj->ik',x,x) | outer(x[0],x[1]) | dot(x[0],x[1])
    | bmm(b,b.mT)
    | baddbmm(b@b.mT,b,b.mT) | addmm(x@x.T,x,x.T) | mv(x,x[0]) | kron(x,x) | gather(x,1,i) | index_select(x,0,k)
    | take_along_dim(x,i,1) | scatter(x,1,i,x) | x[k] | x[0] | x[:,1:] | x[None,...,0] | x[k,k] | zeros_like(x)
    | ones_like(x,dtype=torch.int64) | rand_like(x) | full_like(x,2) | empty_like(x.T) | y.T+x.T | x.T+y.T | (x.T*2).T
    | x.T.exp() | x.T.contiguous() | x.T.clone() | linalg.inv(s) | linalg.det(s) | linalg.cholesky(s) | linalg.qr(x)
    | linalg.svdvals(x) | linalg.eigh(s) | linalg.solve(s,s) | linalg.norm(x) | linalg.matrix_power(s,3) | fft.fft(x)
    | fft.rfft(x) | cdist(x,x) | cross(b[...,:3],b[...,:3]) | nn.functional.relu(x) | nn.functional.gelu(x)
    | nn.functional.silu(x) | nn.functional.softplus(x) | nn.functional.leaky_relu(x) | nn.functional.dropout(x)
    | nn.functional.layer_norm(x,(4,)) | nn.functional.one_hot(k,5) | nn.functional.embedding(k,x)
    | nn.functional.conv2d(v,w) | nn.functional.conv2d(v,w,stride=2,padding=1) | nn.functional.conv_transpose2d(v,u)
    | nn.functional.conv1d(b,z) | nn.functional.max_pool2d(v,2) | nn.functional.avg_pool2d(v,2)
    | nn.functional.adaptive_avg_pool2d(v,1) | nn.functional.interpolate(v,scale_factor=2) | nn.functional.pad(x,(1,1))
    | nn.functional.batch_norm(v,None,None,training=True) | nn.functional.group_norm(v,1) | nn.functional.linear(x,x)
    | nn.functional.mse_loss(x,x) | nn.functional.cross_entropy(x,k) | nn.functional.nll_loss(x,k)
    | nn.functional.binary_cross_entropy(x,x) | nn.functional.kl_div(x,x) | nn.functional.smooth_l1_loss(x,y)
    | nn.functional.normalize(x) | nn.functional.cosine_similarity(x,x) | nn.functional.unfold(v,2)
    | nn.functional.pixel_shuffle(w,1) | nn.functional.scaled_dot_product_attention(b,b,b) | meshgrid(x[0],x[1])
    | broadcast_tensors(x[0],x) | tensor_split(x,2) | searchsorted(x[0],x) | bucketize(x,x[0]) | cumulative_trapezoid(x)
    | arange(5,device='meta') | linspace(0,1,5,device='meta') | eye(3,device='meta') | full((2,),3,device='meta')
    | randint(5,(2,),device='meta') | randperm(5,device='meta') | tensor([1,2],device='meta') | complex(x,x)
    | empty(2,3,4,4,device='meta',memory_format=torch.channels_last) | empty_strided((2,3),(1,2),device='meta')
    | ones(2,3,device='meta:0',dtype=torch.int32) | x.to(torch.float64) | x.half()+x | k+x | k/2 | k+1.5 | x.T+1
    | v.to(memory_format=torch.channels_last)*2""".replace("\n", " ").split("|")


def _inputs(torch: Any, grad: bool) -> dict[str, Any]:
    def empty(*sizes: int, **options: Any) -> Any:
        return torch.empty(*sizes, device="meta", **options)

    return {"torch": torch, "x": empty(3, 4, requires_grad=grad), "y": empty(3, 4), "s": empty(3, 3),
            "b": empty(2, 3, 4),
            "v": empty(2, 3, 8, 8), "w": empty(4, 3, 3, 3), "u": empty(3, 5, 3, 3), "z": empty(5, 3, 2),
            "k": empty(3, dtype=torch.int64), "i": empty(3, 4, dtype=torch.int64)}


def _facts(value: Any) -> Any:
    """What can be compared of a result."""
    if isinstance(value, (tuple, list)):
        return [_facts(part) for part in value]
    if not hasattr(value, "is_meta"):
        return value
    node = value.grad_fn
    return (tuple(value.shape), str(value.dtype).split(".")[-1], value.stride(), value.requires_grad, str(value.device),
            None if node is None else type(node).__name__)


def _result(torch: Any, call: str, grad: bool) -> Any:
    inputs = _inputs(torch, grad)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {name: getattr(torch, name) for name in re.findall(r"[a-z_]\w*", call) if hasattr(torch, name)}
        return _facts(eval(call, {"torch": torch, **names, **inputs}))


_ALL = [f"x.{name}" if "(" in name else f"x.{name}()" for name in _UNARY] + [call.strip() for call in _CALLS]


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("call", _ALL)
def test_a_call_has_pytorchs_shape_dtype_and_strides(call: str, grad: bool) -> None:
    if grad and call.partition("(")[0].endswith("_"):
        call = call.replace("x.", "(x*1).", 1)
    try:
        expected = _result(pytorch, call, grad)
    except Exception as error:
        with pytest.raises(type(error)):
            _result(retrograd, call, grad)
        return
    assert _result(retrograd, call, grad) == expected


@pytest.mark.parametrize("call", [
    "c.add_(m)", "c.sub_(m, alpha=2)", "c.mul_(m[0])", "c.div_(m)", "c.__iadd__(m)", "c.logical_and_(m)", "m.add_(c)",
    "c.pow_(m)", "c.add(m)", "c.add_(m[:1])", "c.add_(m[None])", "c.long().add_(m)", "c.requires_grad_().add_(m)"])
def test_writes_with_operands_without_memory(call: str) -> None:
    def seen(package: Any) -> Any:
        c, m = package.tensor([2., 3.]), package.ones(2, device="meta")
        try:
            result = eval(call, {"c": c, "m": m})
        except RuntimeError as error:
            return type(error), c.tolist(), c._version
        return str(result.device), tuple(result.shape), result is c, c.tolist(), c._version

    assert seen(pytorch) == seen(retrograd)


def _seen_by_hooks(torch: Any) -> list[Any]:
    """What code of a program sees that runs inside of a backward pass: hooks of all kinds, and a Function."""
    seen: list[Any] = []

    def look(where: str, *tensors: Any) -> None:
        for t in tensors:
            seen.append((where, _facts(t), repr(t), _facts(t * 2), _facts(torch.zeros_like(t).sum()),
                         _facts(torch.ones(2).sum())))

    class Twice(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            look("Function", g, *ctx.saved_tensors)
            return g * 2

    layer = torch.nn.Linear(3, 2, device="meta")
    x = torch.ones(4, 3, device="meta", requires_grad=True)
    x.register_hook(lambda g: look("leaf", g))
    layer.weight.register_hook(lambda g: g * 3)
    layer.weight.register_post_accumulate_grad_hook(lambda p: look("after accumulation", p.grad))
    layer.register_full_backward_hook(lambda _, inner, outer: look("module", *inner, *outer))
    with torch.autograd.graph.saved_tensors_hooks(lambda t: look("pack", t) or t, lambda t: look("unpack", t) or t):
        y = layer(Twice.apply(x).sin())
    y.register_hook(lambda g: look("result", g))
    y.grad_fn.register_hook(lambda inner, outer: look("node", *[g for g in inner if g is not None], *outer))
    y.retain_grad()
    y.sum().backward()
    look("kept", x.grad, layer.weight.grad, y.grad)
    return seen


def test_hooks_and_functions_see_tensors_without_memory() -> None:
    assert _seen_by_hooks(retrograd) == _seen_by_hooks(pytorch)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam",
                                  "Rprop"])
def test_steps_of_optimizers(name: str) -> None:
    def state(torch: Any) -> Any:
        layer = torch.nn.Linear(3, 2, device="meta")
        optimizer = getattr(torch.optim, name)(layer.parameters(), **{"momentum": 0.9} if name == "SGD" else {})
        for _ in range(2):
            layer(torch.ones(4, 3, device="meta")).sum().backward()
            optimizer.step()
        return {key: _facts(value) for key, value in optimizer.state[layer.weight].items()}

    assert state(retrograd) == state(pytorch)


@pytest.mark.parametrize("counts", ["[1, 2], device='meta'", "[1, 2, 3], device='meta'", "[2], device='meta'", "[1, 2]",
                                    "2, device='meta'", "[[1, 2]], device='meta'", "[1, -2]", "[1., 2.]", "2"])
@pytest.mark.parametrize("output_size", [None, 3])
@pytest.mark.parametrize("dim", [0, None])
def test_counts_of_repeat_interleave(counts: str, output_size: int | None, dim: int | None) -> None:
    def seen(torch: Any) -> Any:
        x = torch.ones(2, 3, device="meta", requires_grad=True)
        repeats = eval(f"torch.tensor({counts})", {"torch": torch})
        try:
            return _facts(torch.repeat_interleave(x, repeats, dim, output_size=output_size))
        except Exception as error:
            return type(error), str(error).split("\n")[0]

    assert seen(retrograd) == seen(pytorch)


def test_copies_of_what_is_in_part_without_memory() -> None:
    def seen(torch: Any) -> Any:
        x = torch.ones(2, device="meta", requires_grad=True)
        x.grad, x.note = torch.ones(2, device="meta"), [torch.ones(1)]
        layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2, device="meta"), torch.nn.PReLU())
        first, again, last = copy.deepcopy([torch.zeros(1), x, torch.zeros(1)])
        return [_facts(t) for t in (first, again, again.grad, *again.note, last, *copy.deepcopy(layers).parameters())]

    assert seen(retrograd) == seen(pytorch)
