"""Claims of docs/differences.md that no other test holds: each program gives what the page says, here and in PyTorch.

A claim begins with words of the page, so that a claim without its sentence, or with another one, is noticed.
"""

from __future__ import annotations

import copy
import io
import re
import textwrap
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import retrograd
from showing.pages import ROOT, text_of


class Claim(NamedTuple):
    """Words of the page, a program that leaves its result in `r`, and the result in each package: as text, or the type
    of an error and how its message begins."""

    words: str
    program: str
    here: str
    there: str


MISSING = "NotImplementedError: "
UNKNOWN = "RuntimeError: derivative for "
LOAD = "f = io.BytesIO(); torch.save({}, f); f.seek(0); r = type(torch.load(f, weights_only=False)).__name__"
SECOND = """
x = torch.tensor({}, dtype=torch.float64, requires_grad=True)
(g,) = torch.autograd.grad({}, x, create_graph=True)
r = torch.autograd.grad(g.pow(2).sum(), x)[0].isfinite().all()
"""
TWO = "[[1., 2., 4.], [3., 5., 9.]]"
DUAL = """
import importlib
fw = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
with fw.dual_level():
    d = fw.make_dual(torch.ones(2), torch.full((2,), 5.))
    {}
"""

CLAIMS = [
    # What is not there, and what is there in part
    Claim("are only names: making such a tensor raises an error", "r = torch.zeros(1, dtype=torch.complex32)",
          "RuntimeError: torch.complex32 is a name", "tensor([0.+0.j], dtype=torch.complex32)"),
    Claim("An index on `meta` into a tensor with memory raises an error",
          "r = torch.arange(3.)[torch.tensor([0, 1], device='meta')].shape", "RuntimeError: ", "torch.Size([2])"),
    Claim("the strides of `V` of `linalg.svd`", "r = torch.linalg.svd(torch.empty(3, 4, device='meta')).Vh.stride()",
          "(1, 4)", "(4, 1)"),
    Claim("the node of `LSTM`",
          "r = torch.nn.LSTM(2, 3, device='meta')(torch.empty(4, 1, 2, device='meta'))[0].grad_fn.name()",
          "'MkldnnRnnLayerBackward0'", "'StackBackward0'"),
    Claim("Comparisons with `out=` take dual tensors",
          DUAL.format("r = torch.gt(d, 0, out=torch.empty(2, dtype=torch.bool))"), "tensor([True, True])", MISSING),
    Claim("`logical_and_` and its like make a tangent zero",
          DUAL.format("d.logical_and_(torch.ones(2)); r = fw.unpack_dual(d).tangent"), "tensor([0., 0.])",
          "tensor([5., 5.])"),
    Claim("memory of another shape or dtype to `.data` takes the tangent away",
          DUAL.format("r = []\n    for size in (2, 3):\n"
                      "        d.data = torch.zeros(size); r.append(fw.unpack_dual(d).tangent)"),
          "[tensor([5., 5.]), None]", "[tensor([5., 5.]), tensor([5., 5.])]"),
    Claim("a dual tensor requires grad if its tangent does",
          DUAL.format("r = fw.make_dual(torch.ones(2), torch.ones(2, requires_grad=True)).requires_grad"), "True",
          "False"),
    Claim("PyTorch computes some operators of a batch by others",
          "x = torch.ones(2, 3, requires_grad=True); r = torch.vmap(torch.dot)(x, x).grad_fn.name()",
          "'DotBackward0'", "'SqueezeBackward1'"),
    Claim("The nodes of `torch.func.rearrange` are those of `permute` and `reshape`",
          "r = torch.func.rearrange(torch.ones(2, 3, requires_grad=True), 'a b -> b a').grad_fn.name()",
          "'PermuteBackward0'", "'ReshapeAliasBackward0'"),
    Claim("`pin_memory=True` has no effect", "r = torch.ones(1, pin_memory=True)", "tensor([1.])", "RuntimeError: "),
    Claim("`set_flush_denormal` returns False", "r = torch.set_flush_denormal(False)", "False", "True"),

    # Numbers
    Claim("`matrix_exp` in bfloat16 gives numbers",
          "r = torch.linalg.matrix_exp(torch.eye(2, dtype=torch.bfloat16) * 3).isfinite().all()", "tensor(True)",
          "tensor(False)"),
    Claim("Inside of `vmap`, PyTorch rounds the number first",
          "x = torch.tensor([3.], dtype=torch.float16); r = torch.vmap(lambda v: v * 0.1)(x).equal(x * 0.1)", "True",
          "False"),
    Claim("So `affine_grid` and `linalg.pinv` of float32 return float32 under `autocast`",
          "with torch.autocast('cpu'):\n"
          "    r = torch.nn.functional.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 2)).dtype, "
          "torch.linalg.pinv(torch.eye(2)).dtype", "(torch.float32, torch.float32)",
          "(torch.bfloat16, torch.bfloat16)"),
    Claim("whose states have the other type of 16 bits compute in that type",
          "h = torch.ones(1, 2).half()\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n"
          "    r = torch.nn.GRUCell(2, 2).half()(h, h).dtype", "torch.float16", "torch.float32"),

    # Operators
    Claim("`hardsigmoid`, `ctc_loss`",
          SECOND.format("[.1, .2]", "(torch.nn.functional.hardsigmoid(x) ** 2).sum()"), "tensor(True)", UNKNOWN),
    Claim("`multi_margin_loss`", SECOND.format(TWO, "torch.nn.functional.multi_margin_loss(x, torch.tensor([0, 1]))"),
          "tensor(True)", UNKNOWN),
    Claim("`embedding_bag`, `cdist`", SECOND.format(
        TWO, "(torch.nn.functional.embedding_bag(torch.tensor([[0, 1]]), x) ** 2).sum()"), "tensor(True)", MISSING),
    Claim("`cdist`, `pdist`", SECOND.format(TWO, "torch.cdist(x, x.detach() + 1).sum()"), "tensor(True)", MISSING),
    Claim("`pdist` and `segment_reduce`", SECOND.format(TWO, "torch.nn.functional.pdist(x).sum()"), "tensor(True)",
          MISSING),
    Claim("First derivatives** exist for `vander`", "x = torch.tensor([2., 3.], requires_grad=True)\n"
          "r = torch.autograd.grad(torch.vander(x).sum(), x)", "(tensor([1., 1.]),)",
          "RuntimeError: one of the variables"),
    Claim("for `linalg.cond` (with 1, inf and \"fro\")",
          "x = torch.tensor([[1., 2.], [3., 5.]], requires_grad=True)\n"
          "r = torch.autograd.grad(torch.linalg.cond(x, 1), x)[0].isfinite().all()", "tensor(True)",
          "RuntimeError: one of the variables"),
    Claim("`ldexp` with negative ints (PyTorch gives 0)", "x = torch.ones(1, requires_grad=True)\n"
          "r = torch.autograd.grad(torch.ldexp(x, torch.tensor([-2])), x)", "(tensor([0.2500]),)", "(tensor([0.]),)"),
    Claim("and for `special.i1` and `i1e` in float16", "x = torch.ones(1, dtype=torch.float16, requires_grad=True)\n"
          "r = torch.autograd.grad(torch.special.i1(x), x)[0].item()", "0.70068359375",
          "NotImplementedError: \"i1_backward\""),
    Claim("The derivatives of `soft_margin_loss` and `log_ndtr` stay accurate",
          "x = torch.tensor([100.], requires_grad=True)\n"
          "r = torch.autograd.grad(torch.nn.functional.soft_margin_loss(x, torch.tensor([-1.])), x)",
          "(tensor([1.]),)", "(tensor([nan]),)"),
    Claim("`torch._dirichlet_grad` is nan for samples of 0 and 1",
          "r = torch._dirichlet_grad(torch.tensor([0., 1.]), torch.ones(2), torch.full((2,), 2.))",
          "tensor([nan, nan])", "tensor([0., 1.])"),
    Claim("The gradient of a `nanmean` over nothing but nan is 0",
          "x = torch.tensor([float('nan')], requires_grad=True); r = torch.autograd.grad(torch.nanmean(x), x)",
          "(tensor([0.]),)", "(tensor([nan]),)"),
    Claim("Tangents** of `triangular_solve(transpose=True)`",
          "a, b = torch.tensor([[2., 1.], [0., 3.]]), torch.ones(2, 1)\n"
          "def f(a): return torch.triangular_solve(b, a, transpose=True)[0].sum()\n"
          "r = torch.func.jvp(f, (a,), (torch.ones(2, 2).triu(),))[1].allclose(torch.func.grad(f)(a).triu().sum())",
          "True", "False"),
    Claim("`pack_padded_sequence` refuses lengths beyond the input",
          "r = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 1, 1), [5]).data.shape",
          "RuntimeError: Expected lengths of at most 3", "torch.Size([3, 1])"),
    Claim("`GeneralizedPareto` of `torch.distributions` has densities in float64",
          "x = torch.ones((), dtype=torch.float64)\n"
          "r = torch.distributions.GeneralizedPareto(x * 0, x, x / 2).log_prob(x).dtype", "torch.float64",
          "RuntimeError: "),
    Claim("A copy of the inverse of a transform works",
          "r = copy.deepcopy(torch.distributions.ExpTransform().inv)(torch.tensor(1.))", "tensor(0.)",
          "AssertionError: "),
    Claim("the entropy of an expanded `Multinomial`",
          "r = torch.distributions.Multinomial(1, torch.tensor([.5, .5])).expand((2,)).entropy()",
          "tensor([0.6931, 0.6931])", "AttributeError: "),
    Claim("a `ContinuousBernoulli` and a `Uniform` on the same interval is finite",
          "d = torch.distributions\n"
          "r = d.kl_divergence(d.ContinuousBernoulli(torch.tensor(.3)), d.Uniform(0., 1.)).isfinite()",
          "tensor(True)", "tensor(False)"),
    Claim("The transform of an empty batch is empty", "r = torch.fft.fft(torch.ones(0, 4)).shape",
          "torch.Size([0, 4])", "RuntimeError: MKL FFT error"),
    Claim("`fftfreq(out=)` is right if the output has gaps",
          "o = torch.zeros(8)[::2]; torch.fft.fftfreq(4, out=o); r = o", "tensor([ 0.0000,  0.2500, -0.5000, -0.2500])",
          "tensor([ 0.0000,  0.2500, -0.5000,  0.7500])"),
    Claim("Antialiased resizing to a width of 1 is right",
          "x = torch.arange(8.).reshape(1, 1, 4, 2)\n"
          "r = torch.nn.functional.interpolate(x, (2, 1), mode='bilinear', antialias=True).flatten().tolist()",
          "[1.9285714626312256, 5.071428298950195]", "[1.9285714626312256, 1.9285714626312256]"),
    Claim("`torch._foreach_add` and its like compute for one tensor after another",
          "x = torch.ones(1, requires_grad=True); r = torch._foreach_add([x], [x])[0].grad_fn.name()",
          "'AddBackward0'", "'ForeachAddBackward0List'"),
    Claim("`gelu` of infinity is infinity in `float32`, too",
          "r = torch.nn.functional.gelu(torch.full((16,), float('inf'))).isnan().any()", "tensor(False)",
          "tensor(True)"),
    Claim("`linalg.eigh` of a matrix with nan returns nan",
          "r = torch.linalg.eigh(torch.full((4, 4), float('nan')))[0].isnan().all()", "tensor(True)",
          "_LinAlgError: linalg.eigh"),
    Claim("A complex convolution is one node", "x = torch.ones(1, 1, 3, dtype=torch.complex64, requires_grad=True)\n"
          "r = torch.nn.functional.conv1d(x, x.detach()).grad_fn.name()", "'ConvolutionBackward0'", "'AddBackward0'"),
    Claim("`logical_and_` and similar functions refuse to write over a leaf that requires grad",
          "x = torch.ones(2, requires_grad=True); r = x.logical_and_(torch.ones(2)).requires_grad",
          "RuntimeError: a leaf Variable", "True"),
    Claim("that tensor does not come to require grad",
          "x = torch.ones(2, dtype=torch.int32); r = x.gt_(torch.ones(2, requires_grad=True)).requires_grad", "False",
          "True"),
    Claim("`dequantize` of a `float32` tensor that requires grad lets its gradient pass",
          "x = torch.ones(2, requires_grad=True); x.dequantize().sum().backward(); r = x.grad", "tensor([1., 1.])",
          "RuntimeError: derivative for dequantize"),
    Claim("`CrossMapLRN2d(1)` has a gradient",
          "x = torch.ones(1, 1, 2, 2, requires_grad=True); torch.nn.CrossMapLRN2d(1)(x).sum().backward()\n"
          "r = x.grad.shape", "torch.Size([1, 1, 2, 2])", "RuntimeError: "),
    Claim("`pixel_unshuffle`** of an empty tensor returns the new shape",
          "r = torch.nn.functional.pixel_unshuffle(torch.ones(0, 1, 4, 4), 2).shape", "torch.Size([0, 4, 2, 2])",
          "torch.Size([0, 1, 4, 4])"),
    Claim("A CSR matrix can be divided by a number", "r = (torch.eye(2).to_sparse_csr() / 2).values()",
          "tensor([0.5000, 0.5000])", "RuntimeError: unsupported tensor layout"),

    # Transforms, the graph, and inside of `vmap`
    Claim("`jacfwd` with a negative `argnums` is right",
          "r = torch.func.jacfwd(lambda x: x * 2, argnums=-1)(torch.ones(1))", "tensor([[2.]])", "tensor([[0.]])"),
    Claim("`linspace` and `logspace` between ends that differ by sample have the dtype that they have outside",
          "r = torch.vmap(lambda a: torch.linspace(a, 3.0, 2))(torch.ones(1)).dtype", "torch.float32", "torch.float64"),
    Claim("no second derivative of `glu` through forward mode",
          "def f(x): return torch.nn.functional.glu(x, 0).sum()\n"
          "def slope(x): return torch.func.jvp(f, (x,), (torch.ones(4),))[1]\n"
          "r = torch.func.grad(slope)(torch.ones(4)).isfinite().all()",
          "tensor(True)", UNKNOWN),
    Claim("`gaussian_nll_loss` and views of conjugates raise errors in PyTorch's `vmap`",
          "x = torch.ones(2, 3); r = torch.vmap(torch.nn.functional.gaussian_nll_loss)(x, x, x).shape",
          "torch.Size([2])", "RuntimeError: vmap: It looks like"),
    Claim("`gaussian_nll_loss` and views of conjugates raise errors in PyTorch's `vmap`",
          "r = torch.vmap(lambda x: x.conj().imag)(torch.ones(3, 2, dtype=torch.complex64)).shape",
          "torch.Size([3, 2])", "RuntimeError: Batching rule not implemented"),
    Claim("The nodes are `MkldnnRnnLayerBackward0`, `GruBackward0`, `RnnTanhBackward0`",
          "x = torch.ones(3, 1, 2); r = [kind(2, 2)(x)[0].grad_fn.name() for kind in (torch.nn.LSTM, torch.nn.GRU, "
          "torch.nn.RNN)]", "['MkldnnRnnLayerBackward0', 'GruBackward0', 'RnnTanhBackward0']",
          "['MkldnnRnnLayerBackward0', 'StackBackward0', 'StackBackward0']"),
    Claim("for any other tensor it is a new tensor with the same history",
          "x = torch.ones(2, requires_grad=True); y = x.exp().abs(); z = y.sin()\n"
          "saved = z.grad_fn._saved_self\n"
          "r = x.sin().grad_fn._saved_self is x, saved is y, saved.grad_fn is y.grad_fn",
          "(True, False, True)", "(True, True, True)"),
    Claim("it also frees the options of the operation",
          "y = torch.ones(2, 3, requires_grad=True).prod(1); n = y.grad_fn; y.sum().backward(); r = n._saved_dim",
          "RuntimeError: Trying to backward through the graph a second time", "1"),
    Claim("retrograd raises this error before anything is written",
          "with torch.inference_mode(): r = torch.zeros(2)\ntry: r.add_(1)\nexcept RuntimeError: pass",
          "tensor([0., 0.])", "tensor([1., 1.])"),
    Claim("the backward pass still uses it. PyTorch raises an error",
          "x = torch.zeros(2, requires_grad=True); y = x.exp(); z = y * y; y.detach_(); z.sum().backward(); r = x.grad",
          "tensor([2., 2.])", "RuntimeError: Trying to use a saved tensor that has been detached in-place"),
    Claim("A value that was saved as a constant stays a constant",
          "x, c = torch.ones(2, requires_grad=True), torch.ones(2); y = (x * c).sum(); c.requires_grad_()\n"
          "r = torch.autograd.grad(y, x, create_graph=True)[0].requires_grad", "False", "True"),
    Claim("`register_multi_grad_hook((y,), …)` before `y.backward()` is called",
          "r, y = [], torch.ones(2, requires_grad=True).sum()\n"
          "torch.autograd.graph.register_multi_grad_hook((y,), r.append); y.backward(); r = len(r)", "1", "0"),
    Claim("A batched tensor prints with `bdim=0`",
          "r = []\ntorch.vmap(lambda x: r.append(str(x)[:27]) or x, in_dims=1)(torch.ones(2, 3))",
          "['BatchedTensor(lvl=1, bdim=0']", "['BatchedTensor(lvl=1, bdim=1']"),
    Claim("A write by a mask that differs by sample",
          "def f(x, mask):\n    x = x.clone(); x[mask] = 0.; return x\n"
          "r = torch.vmap(f)(torch.ones(1, 2), torch.tensor([[True, False]]))", "tensor([[0., 1.]])",
          "RuntimeError: vmap: We do not support batching operators"),
    Claim("`torch.autograd.grad` works, and gives gradients by sample",
          "w = torch.ones(1, requires_grad=True)\n"
          "r = torch.vmap(lambda x: torch.autograd.grad((w * x).sum(), w)[0])(torch.tensor([[1.], [3.]])).tolist()",
          "[[1.0], [3.0]]", "RuntimeError: element 0 of tensors does not require grad"),

    # Views and memory
    Claim("`conj`, `mH` and `H` of complex tensors are copies",
          "x = torch.ones(1, 1, dtype=torch.complex64); x.conj().zero_(); y = x.clone(); x.mH.zero_(); r = x + y",
          "tensor([[2.+0.j]])", "tensor([[0.+0.j]])"),
    Claim("`torch.rsub` of two tensors follows the first tensor",
          "r = torch.rsub(torch.ones(2, 3).t(), torch.ones(3, 2)).stride()", "(1, 3)", "(2, 1)"),
    Claim("The result of a convolution of an input without channels is the bias",
          "r = torch.nn.functional.conv1d(torch.ones(1, 0, 2), torch.ones(1, 0, 2), torch.full((1,), 5.)).tolist()",
          "[[[5.0]]]", "[[]]"),
    Claim("The gradient of `threshold` is recorded as `WhereBackward0`",
          "x, g = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)\n"
          "y = torch.nn.functional.threshold(x, 0., 0.)\n"
          "r = torch.autograd.grad(y, x, g, create_graph=True)[0].grad_fn.name()", "'WhereBackward0'",
          "'ThresholdBackwardBackward0'"),
    Claim("`x[i] = v` writes nothing if an index is out of range",
          "r = torch.zeros(3)\ntry: r[torch.tensor([0, 5])] = 1.\nexcept IndexError: pass", "tensor([0., 0., 0.])",
          "tensor([1., 0., 0.])"),
    Claim("The gradient of the values that were replaced is zero",
          "x = torch.ones(4, requires_grad=True); torch.as_strided_scatter(x, torch.zeros(2), (2,), (1,)).sum()"
          ".backward(); r = x.grad", "tensor([0., 0., 1., 1.])", "tensor([1., 1., 0., 0.])"),
    Claim("a backward pass uses the values that the forward pass saw",
          "x = torch.ones(1, requires_grad=True); y = x * x; x.data = torch.full((1,), 5.); y.backward(); r = x.grad",
          "tensor([2.])", "tensor([10.])"),
    Claim("and raises an error after `set_`",
          "x = torch.ones(1, requires_grad=True); y = x * x\nwith torch.no_grad(): x.set_(torch.full((1,), 5.))\n"
          "y.backward(); r = x.grad", "tensor([2.])", "RuntimeError: one of the variables"),
    Claim("Storages** cannot be resized", "s = torch.ones(2).untyped_storage(); s.resize_(32); r = s.nbytes()",
          "AttributeError: ", "32"),

    # Errors, NumPy, modules, files, classes
    Claim("`dim=None` means all dims in `max`, `prod`", "r = torch.prod(torch.ones(2, 2), dim=None)", "tensor(1.)",
          "TypeError: prod() received"),
    Claim("`interpolate` takes a number for `align_corners`",
          "r = torch.nn.functional.interpolate(torch.ones(1, 1, 2, 2), (1, 1), mode='bilinear', align_corners=1).shape",
          "torch.Size([1, 1, 1, 1])", "TypeError: "),
    Claim("`torch.squeeze(x, 0, 1)`", "r = torch.squeeze(torch.ones(1, 1), 0, 1)", "tensor(1.)", "TypeError: "),
    Claim("`np.True_` makes the result floating", "r = (torch.ones(1, dtype=torch.int64) + np.True_).dtype",
          "torch.int64", "torch.float32"),
    Claim("`x[0] = np.float32(1)` works here", "r = torch.zeros(1, dtype=torch.float64); r[0] = np.float32(1)",
          "tensor([1.], dtype=torch.float64)", "TypeError: can't assign a numpy.float32"),
    Claim("refuses most operators with the array on the left", "r = type(np.ones(2) * torch.ones(2)).__name__",
          "'Tensor'", "TypeError: unsupported operand"),
    Claim("in PyTorch a module stands in it twice",
          "m = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()])\n"
          "try: m.insert(-5, torch.nn.Sigmoid())\nexcept KeyError: r = len(m)", "2", "3"),
    Claim("A subclass that overrides `_call_impl` is not asked",
          "class M(torch.nn.Identity):\n    def _call_impl(self, *args): return 'mine'\nr = M()(torch.ones(1))",
          "tensor([1.])", "'mine'"),
    Claim("a parameter that stands twice in a group has one buffer",
          "p = torch.ones(1, requires_grad=True); o = torch.optim.SGD([{'params': [p, p]}], lr=1., momentum=.5)\n"
          "for _ in range(2): p.grad = torch.ones(1); o.step()\nr = p.tolist()", "[-5.125]", "[-4.25]"),
    Claim("For a file that is no zip archive, `torch.load` raises RuntimeError",
          "torch.load(io.BytesIO(b'hello'), weights_only=False)", "RuntimeError: The file was not written",
          "UnpicklingError: "),
    Claim("A storage that was saved by itself comes back as `UntypedStorage`",
          LOAD.format("torch.ones(2).untyped_storage()"), "'UntypedStorage'", "'TypedStorage'"),
    Claim("`type(t)` prints as `<class 'retrograd.Tensor'>`", "r = str(type(torch.ones(1)))",
          '"<class \'retrograd.Tensor\'>"', '"<class \'torch.Tensor\'>"'),
    Claim("pickles of an instance of a class derived from `Parameter` keep the class",
          "class P(torch.nn.Parameter): pass\nr = type(copy.copy(P(torch.ones(1)))).__name__", "'P'", "'Parameter'"),
]


def outcome(package: Any, program: str) -> str:
    """The result of a program as text, or its error."""
    variables: dict[str, Any] = {"torch": package, "np": np, "io": io, "copy": copy}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                  # the claims are about results
        try:
            exec(textwrap.dedent(program), variables)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return repr(variables["r"])


def fits(found: str, expected: str) -> bool:
    """Whether an outcome is the expected one. Of an error, the message begins as expected."""
    is_error = re.match(r"\w*Error: ", expected)
    return found.startswith(expected) if is_error else found == expected


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.words[:60])
def test_a_claim_holds(claim: Claim) -> None:
    assert claim.words in " ".join(text_of(ROOT / "docs" / "differences.md").split())
    here, there = outcome(retrograd, claim.program), outcome(torch, claim.program)
    assert fits(here, claim.here), here
    assert fits(there, claim.there), there
