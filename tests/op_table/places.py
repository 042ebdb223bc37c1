"""Entries for values brought together at places, for embeddings, padding, blocks, and copies of views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import MANY, MATRICES, NO_SECOND, Entry, Shapes, functional

_ROWS: tuple[Shapes, ...] = (((3, 4), (4, 4)),)
_PLACES: tuple[Shapes, ...] = (((3, 4), (3, 3)),)
_LARGER: tuple[Shapes, ...] = (((3, 4), (4, 3)),)
_TABLE: tuple[Shapes, ...] = (((5, 3),),)
_IMAGES: tuple[Shapes, ...] = (((1, 4, 2, 6),), ((2, 8, 2, 3),))
_SMALLER = dict.fromkeys("fhc", "PyTorch refuses the gradient of a source that is larger than the index")
_NO_TANGENT = "PyTorch has no forward mode of it"
_LOST = "PyTorch's forward mode loses the tangent"
_SAVED = dict.fromkeys("fhc", "PyTorch's backward fails, as it wrote over what it had saved")


def _index(t: Any) -> Any:
    return t.tensor([2, 0, 2, 2])


def _places(t: Any) -> Any:
    return t.tensor([[0, 1, 1], [1, 1, 3], [2, 1, 2]])


def _reducing(reduce: str, include_self: bool) -> list[Entry]:
    """scatter_reduce and index_reduce of one reduction."""
    said = f"{reduce}{'' if include_self else ' without self'}"
    options: dict[str, Any] = {"distinct": reduce in ("amax", "amin"), "low": 0.4}
    lost = _LOST if reduce == "prod" else ""

    def scatter(t: Any, x: Any, y: Any) -> Any:
        return x.scatter_reduce(1, _places(t), y, reduce, include_self=include_self)

    def index(t: Any, x: Any, y: Any) -> Any:
        return x.index_reduce(0, _index(t), y, reduce, include_self=include_self)

    entries = [Entry(f"scatter_reduce {said}", scatter, _PLACES, wrong_tangent=lost, **options)]
    if reduce != "sum":
        entries.append(Entry(f"index_reduce {said}", index, _ROWS, no_tangent=_NO_TANGENT, **options))
    return entries


def _with_zeros(zeros: list[int]) -> Callable[..., Any]:
    """A product of a source that is 0 at these places."""

    def call(t: Any, x: Any, y: Any) -> Any:
        mask = t.zeros(9, dtype=t.bool)
        mask[t.tensor(zeros)] = True
        y = y * t.where(mask.view(3, 3), t.zeros(()), t.ones(())).to(y.dtype)
        return x.scatter_reduce(1, _places(t), y, "prod")

    return call


_SEVERAL = "PyTorch has no second derivative of a product with several zeros"
REDUCING = [
    *[entry for reduce in ("sum", "prod", "mean", "amax", "amin") for include_self in (True, False)
      for entry in _reducing(reduce, include_self)],
    Entry("scatter_reduce prod of a zero", _with_zeros([3, 2]), _PLACES, low=0.4, wrong_tangent=_LOST),
    Entry("scatter_reduce prod of zeros", _with_zeros([1, 2, 3, 4]), _PLACES, low=0.4, first_only=_SEVERAL,
          wrong_tangent=_LOST),
    Entry("scatter_reduce ties", lambda t, x, y: (x * 0).scatter_reduce(1, _places(t), y * 0, "amax"), _PLACES,
          conventional="a tie is a kink"),
    Entry("scatter_reduce larger", lambda t, x, y: x.scatter_reduce(1, _places(t), y, "mean"), _LARGER, apart=_SMALLER),
    Entry("scatter_reduce of one", lambda t, x, y: x.scatter_reduce(0, t.tensor([0, 0]), y, "prod"), (((), (2,)),),
          low=0.4, wrong_tangent=_LOST),
    Entry("scatter_reduce_", lambda t, x, y: x.clone().scatter_reduce_(1, _places(t), y, "prod"), _PLACES, low=0.4,
          no_tangent=_LOST, apart={"c": "PyTorch has the first derivative of the write, but not the second"}),
    Entry("index_reduce_", lambda t, x, y: x.clone().index_reduce_(0, _index(t), y, "mean"), _ROWS,
          no_tangent=_NO_TANGENT),
    Entry("scatter reduce=", lambda t, x, y: x.scatter(1, _places(t), y, reduce="multiply"), _PLACES, kinds="fc",
          refused=True),
    Entry("scatter_ reduce=", lambda t, x, y: x.clone().scatter_(1, _places(t), y, reduce="add"), _PLACES, kinds="fc",
          refused=True),
    Entry("scatter reduce= number", lambda t, x: x.scatter(1, _places(t), 2, reduce="add"), MATRICES, kinds="fc",
          refused=True),
    Entry("scatter_ reduce= number", lambda t, x: x.clone().scatter_(1, _places(t), 2, reduce="multiply"), MATRICES,
          refused=True),
    Entry("masked_scatter", lambda t, x, y: x.masked_scatter(t.tensor([True, False, True, True]), y),
          (((3, 4), (3, 4)), ((4,), (2, 3))), kinds="fc"),
    Entry("masked_scatter_", lambda t, x, y: x.clone().masked_scatter_(t.tensor([True, False, True, True]), y),
          (((3, 4), (3, 4)),)),
    Entry("put", lambda t, x, y: x.put(t.tensor([[0, -1], [5, 2]]), y), (((3, 4), (2, 2)),), kinds="fc"),
    Entry("put accumulate", lambda t, x, y: x.put(t.tensor([[0, -1], [0, 2]]), y, accumulate=True),
          (((3, 4), (2, 2)),), kinds="fc"),
    Entry("put_", lambda t, x, y: x.clone().put_(t.tensor([0, -1]), y), (((3, 4), (2,)),)),
    Entry("nonzero_static", lambda t, x: t.nonzero_static(x, size=5), MATRICES, kinds="fci", no_tangent=_NO_TANGENT),
]


def _embedded(*arguments: Any, **options: Any) -> Callable[..., Any]:
    return lambda t, x: t.nn.functional.embedding(t.tensor([[0, 2], [2, 4]]), x, *arguments, **options)


def _bags(**options: Any) -> Callable[..., Any]:
    return lambda t, x, *weights: t.nn.functional.embedding_bag(
        t.tensor([0, 2, 2, 4, 1, 1]), x, t.tensor([0, 3, 3]), **options,
        **({"per_sample_weights": weights[0]} if weights else {}))


_UNDERIVED = "PyTorch has not implemented the second derivative"
_CONVENTION = "the convention is for gradients alone"
_PADDED = "the padding has no gradient"
EMBEDDINGS = [
    Entry("embedding", _embedded(), _TABLE),
    Entry("embedding padding_idx", _embedded(2), _TABLE, conventional=_PADDED),
    Entry("embedding scale_grad_by_freq", _embedded(scale_grad_by_freq=True), _TABLE, conventional="by convention",
          first_only="PyTorch forgets to divide by the count"),
    Entry("embedding max_norm", lambda t, x: t.nn.functional.embedding(t.tensor([0, 2]), x.detach(), max_norm=0.5),
          _TABLE),
    Entry("embedding_renorm_", lambda t, x: t.embedding_renorm_(x.clone(), t.tensor([0, 2, 2]), 0.5, 1.0), _TABLE,
          refused=True),
    *[Entry(f"embedding_bag {mode}", _bags(mode=mode), _TABLE, distinct=True, first_only=_UNDERIVED,
            no_tangent=_NO_TANGENT)
      for mode in ("sum", "mean", "max")],
    *[Entry(f"embedding_bag {mode} padding_idx", _bags(mode=mode, padding_idx=2), _TABLE, distinct=True,
            first_only=_UNDERIVED, no_tangent=_NO_TANGENT) for mode in ("sum", "mean", "max")],
    Entry("embedding_bag weights", _bags(mode="sum"), (((5, 3), (6,)),), first_only=_UNDERIVED,
          no_tangent=_NO_TANGENT),
    Entry("embedding_bag weights padding_idx", _bags(mode="sum", padding_idx=1), (((5, 3), (6,)),),
          first_only=_UNDERIVED, no_tangent=_NO_TANGENT),
    Entry("embedding_bag scale_grad_by_freq", _bags(mode="mean", scale_grad_by_freq=True), _TABLE,
          conventional="by convention", apart=dict.fromkeys("fh", "PyTorch divides by the count of another row"),
          no_tangent=_NO_TANGENT),
    Entry("embedding_bag rows", lambda t, x: t.nn.functional.embedding_bag(t.tensor([[0, 1], [1, 4]]), x), _TABLE,
          first_only=_UNDERIVED, no_tangent=_NO_TANGENT),
]

PADDING = [
    Entry("pad", functional("pad", (1, -1, 2, 0)), MANY, kinds="fc"),
    Entry("pad value", functional("pad", (1, 2), value=2), MANY, kinds="fc"),
    Entry("constant_pad_nd", lambda t, x: t.constant_pad_nd(x, (-1, 2), 3), MANY),
    *[Entry(f"pad {mode} {count}", functional("pad", (1, 0, 2, -1, 0, 1)[:2 * count], mode), shapes, kinds="fc")
      for mode in ("reflect", "replicate", "circular")
      for count, shapes in ((1, (((3, 4),), ((2, 3, 4),))), (2, (((2, 4, 3),), ((1, 2, 4, 3),))),
                            (3, (((2, 2, 4, 3),), ((1, 2, 3, 4, 3),))))],
    Entry("pad reflect both", functional("pad", (2, 3), "reflect"), MANY),
    Entry("pad replicate both", functional("pad", (5, 3), "replicate"), MANY),
    Entry("pixel_shuffle", functional("pixel_shuffle", 2), (((1, 4, 2, 3),), ((8, 1, 2),)), kinds="fc"),
    Entry("pixel_unshuffle", functional("pixel_unshuffle", 2), (((1, 4, 2, 6),), ((3, 2, 2),)), kinds="fc"),
    Entry("channel_shuffle", functional("channel_shuffle", 2), _IMAGES),
    Entry("native_channel_shuffle", functional("native_channel_shuffle", 2), _IMAGES, refused=True),
]


def _copying(name: str, *arguments: Any, shapes: tuple[Shapes, ...] = MATRICES, **options: Any) -> Entry:
    said = f"{name}{arguments or ''}"
    return Entry(said, lambda t, x: getattr(t, name)(x, *arguments), shapes, **options)


_DEEP: tuple[Shapes, ...] = (((2, 1, 3),),)
COPIES = [
    _copying("alias_copy", kinds="fcib"), _copying("detach_copy", refused=True),
    Entry("as_strided_copy", lambda t, x: t.as_strided_copy(x.contiguous(), (2, 2), (1, 3), 1), MATRICES),
    _copying("diagonal_copy", 1), _copying("expand_copy", (2, 3, 4)), _copying("permute_copy", (1, 0), kinds="fc"),
    _copying("select_copy", 1, -1), _copying("slice_copy", 1, 0, 4, 2), _copying("split_copy", 2),
    _copying("split_with_sizes_copy", [1, 2]), _copying("squeeze_copy", shapes=_DEEP),
    _copying("squeeze_copy", 1, shapes=_DEEP), _copying("squeeze_copy", (0, 1), shapes=_DEEP), _copying("t_copy"),
    _copying("transpose_copy", 0, 1), _copying("unbind_copy", 1), _copying("unfold_copy", 1, 2, 1),
    _copying("unsqueeze_copy", -1), _copying("view_copy", (4, 3)), _copying("narrow_copy", 1, 1, 2),
    _copying("view_as_real_copy", kinds="c"),
    _copying("unsafe_split", 2, 1), _copying("unsafe_split_with_sizes", [1, 3], 1), _copying("unsafe_chunk", 2),
    Entry("unsafe_split written", lambda t, x: t.unsafe_split(x * 2, 2, 1)[0].add_(1), MATRICES),
]

COMBINING = [
    Entry("block_diag", lambda t, x, y: t.block_diag(x, y), (((2, 3), (1, 2)), ((3,), ())), kinds="fci"),
    Entry("cartesian_prod", lambda t, x, y: t.cartesian_prod(x, y), (((2,), (3,)),), kinds="fi"),
    Entry("combinations", lambda t, x: t.combinations(x, 3), (((4,),),)),
    Entry("combinations with_replacement", lambda t, x: t.combinations(x, 2, True), (((3,),),)),
    Entry("diagflat", lambda t, x: t.diagflat(x, -1), (((2, 2),), ((3,),), ((),))),
    Entry("kron", lambda t, x, y: t.kron(x, y), (((2, 3), (3, 2)), ((3,), (2, 1, 2)), ((), (2,))), kinds="fci"),
    Entry("vander", lambda t, x: t.vander(x), (((4,),),), kinds="fc", apart=_SAVED),
    Entry("vander increasing", lambda t, x: t.vander(x, 2, increasing=True), (((3,),),), kinds="fci", apart=_SAVED),
]

def _segments(reduce: str) -> list[Entry]:
    """segment_reduce by lengths, by offsets that leave rows out, and with lengths for each row."""
    options: dict[str, Any] = {"kinds": "fh", "first_only": NO_SECOND, "no_tangent": _NO_TANGENT, "low": 0.4,
                               "distinct": reduce in ("max", "min")}

    def by_lengths(t: Any, x: Any) -> Any:
        return t.segment_reduce(x, reduce, lengths=t.tensor([1, 1, 3]))

    def by_offsets(t: Any, x: Any) -> Any:
        return t.segment_reduce(x, reduce, offsets=t.tensor([1, 1, 2, 4]), initial=1.25)

    def in_rows(t: Any, x: Any) -> Any:
        return t.segment_reduce(x, reduce, lengths=t.tensor([[1, 3], [4, 0]]), axis=1, initial=0.5)

    def level(t: Any, x: Any) -> Any:
        return t.segment_reduce(x * 0, reduce, lengths=t.tensor([2, 3]))

    return [Entry(f"segment_reduce {reduce}", by_lengths, (((5,),), ((5, 2),)), **options,
                  points=(0.0, float("inf"), float("nan"))),
            Entry(f"segment_reduce {reduce} offsets", by_offsets, (((5,),), ((5, 2),)), **options),
            Entry(f"segment_reduce {reduce} rows", in_rows, (((2, 4),), ((2, 4, 3),)), **options),
            Entry(f"segment_reduce {reduce} level", level, (((5,),),), **options)]


SEGMENTS = [entry for reduce in ("sum", "mean", "max", "min", "prod") for entry in _segments(reduce)]
PLACES = [*REDUCING, *SEGMENTS, *EMBEDDINGS, *PADDING, *COPIES, *COMBINING]
