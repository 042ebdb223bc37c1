"""Entries for views in other shapes, for joining, splitting, rearranging and copying."""

from __future__ import annotations

import warnings
from typing import Any

from op_table.entry import MANY, MATRICES, Entry


def _kept_gradient(t: Any, x: Any) -> Any:
    """What a backward pass that is recorded leaves in the leaf x."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # of the cycle that x.grad closes; it is opened below
        (x ** 3).sum().backward(create_graph=True)
    kept, x.grad = x.grad, None
    return kept


def _resized(t: Any, x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # the method is old, and warns
        return x.contiguous().resize(4, 3)


SHAPES = [
    Entry("resize", _resized, MATRICES, no_tangent="PyTorch's function in Python has none"),
    Entry("reshape", lambda t, x: x.reshape(-1), MANY, kinds="fci"),
    Entry("reshape copy", lambda t, x: x.transpose(0, 1).reshape(-1), MANY),
    Entry("reshape strided", lambda t, x: x[:, ::2].reshape(3, 2, 1), MATRICES),
    Entry("view", lambda t, x: x.contiguous().view(4, -1), MATRICES, kinds="fc"),
    Entry("view_as", lambda t, x: x.contiguous().view_as(x), MATRICES, kinds="fc"),
    Entry("x[...]", lambda t, x: x[...]),
    Entry("transpose", lambda t, x: x.transpose(0, 1), MANY, kinds="fc"),
    Entry("t", lambda t, x: x.t(), MATRICES),
    Entry("permute", lambda t, x: x.permute(2, 0, 1), (((2, 3, 4),),)),
    Entry("squeeze", lambda t, x: x.squeeze(), (((2, 1, 3),), ((1, 1),))),
    Entry("squeeze dim", lambda t, x: x.squeeze(1), (((2, 1, 3),),)),
    Entry("squeeze dims", lambda t, x: x.squeeze((0, 1)), (((2, 1, 3),), ((1, 1, 3),))),
    Entry("unsqueeze", lambda t, x: x.unsqueeze(-1)),
    Entry("expand", lambda t, x: x.expand(2, 3, 4), (((3, 1),), ((3, 4),), ((1, 1, 1),))),
    Entry("expand sizes", lambda t, x: x.expand((2, 3, 4)), (((3, 1),),)),
    Entry("flatten", lambda t, x: x.flatten(1, -1), MANY),
    Entry("diagonal", lambda t, x: x.diagonal(1, 0, 1), MATRICES),
    Entry("diag of a matrix", lambda t, x: t.diag(x, -1), MATRICES),
    Entry("diag of a vector", lambda t, x: t.diag(x), (((3,),),)),
    Entry("diag_embed", lambda t, x: t.diag_embed(x, 1, 0, 1), MANY),
    Entry("unfold", lambda t, x: x.unfold(1, 2, 1), MANY),
    Entry("unfold apart", lambda t, x: x.unfold(-1, 1, 2), MANY),
    Entry("narrow", lambda t, x: x.narrow(1, 1, 2), MANY),
    Entry("select", lambda t, x: x.select(1, 2), MANY),
    Entry("split", lambda t, x: x.split(2, 1), MANY),
    Entry("split_with_sizes", lambda t, x: x.split([1, 2], 1), (((2, 3),),)),
    Entry("chunk", lambda t, x: x.chunk(2, 0), MANY),
    Entry("unbind", lambda t, x: x.unbind(1), MANY),
    Entry("cat", lambda t, x, y: t.cat([x, y], 1), (((2, 3), (2, 1)),), kinds="fci"),
    Entry("stack", lambda t, x, y: t.stack([x, y], -1), (((2, 3), (2, 3)),)),
    Entry("clone", lambda t, x: x.clone(), kinds="fcib"),
    Entry("contiguous", lambda t, x: x.transpose(0, 1).contiguous(), MANY),
    Entry("a kept gradient", _kept_gradient,
          other_nodes="PyTorch's copy has an edge for what it writes over, too, which leads nowhere",
          no_tangent="a backward pass is part of it"),
    Entry("repeat", lambda t, x: x.repeat(2, 1, 3), MATRICES),
    Entry("repeat_interleave", lambda t, x: x.repeat_interleave(2, 1), MATRICES),
    Entry("flip", lambda t, x: t.flip(x, (0, 1)), MANY),
    Entry("repeat_interleave counts", lambda t, x: x.repeat_interleave(t.tensor([2, 0, 1]), 0), MATRICES),
    Entry("roll", lambda t, x: x.roll(1, 1), MANY),
    Entry("roll dims", lambda t, x: x.roll((1, 2), (0, 1)), MANY),
    Entry("rot90", lambda t, x: x.rot90(1, (0, 1)), MANY),
    Entry("tril", lambda t, x: x.tril(-1), MATRICES),
    Entry("triu", lambda t, x: x.triu(1), MATRICES),
    Entry("movedim", lambda t, x: x.movedim(0, -1), MANY),
    Entry("movedim several", lambda t, x: x.movedim((0, 1), (1, 0)), MANY),
    Entry("to", lambda t, x: x.to(t.float32), kinds="fib",
          conventional="single precision is too coarse for differences"),
    Entry("to memory_format", lambda t, x: x.mT.to(t.float32, memory_format=t.contiguous_format), MATRICES,
          kinds="fib", conventional="single precision is too coarse for differences"),
    Entry("as_strided", lambda t, x: x.contiguous().as_strided((2, 2), (1, 3), 1), MATRICES),
    Entry("as_strided overlap", lambda t, x: x.contiguous().as_strided((3, 3), (2, 1)), MATRICES),
    Entry("as_strided of an overlap", lambda t, x: x.contiguous().view(-1).unfold(0, 3, 1).as_strided((4,), (2,), 1),
          MATRICES),
    Entry("as_strided_", lambda t, x: x.contiguous().mul(2).as_strided_((2, 2), (1, 3), 1), MATRICES),
    Entry("transpose_", lambda t, x: x.clone().transpose_(0, 1), MATRICES),
    Entry("t_", lambda t, x: x.clone().t_(), MATRICES),
    Entry("squeeze_", lambda t, x: x.clone().squeeze_(), (((2, 1, 3),),)),
    Entry("squeeze_ dim", lambda t, x: x.clone().squeeze_(1), (((2, 1, 3),),)),
    Entry("squeeze_ dims", lambda t, x: x.clone().squeeze_((0, 1)), (((2, 1, 3),),)),
    Entry("unsqueeze_", lambda t, x: x.clone().unsqueeze_(-1)),
    Entry("select_scatter", lambda t, x, y: x.select_scatter(y, 1, 2), (((3, 4), (3,)),)),
    Entry("slice_scatter", lambda t, x, y: x.slice_scatter(y, 1, 0, 4, 2), (((3, 4), (3, 2)),)),
    Entry("diagonal_scatter", lambda t, x, y: x.diagonal_scatter(y, 1, 0, 1), (((3, 4), (3,)),), kinds="fc"),
    Entry("as_strided_scatter", lambda t, x, y: x.contiguous().as_strided_scatter(y, (2, 2), (1, 3), 1),
          (((3, 4), (2, 2)),), apart=dict.fromkeys("fhc", "PyTorch has the gradient where it should have zeros")),
    Entry("fill_diagonal_", lambda t, x: x.contiguous().mul(2).fill_diagonal_(0.0, wrap=True), (((7, 2),),)),
]
