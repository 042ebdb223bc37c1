"""Entries for convolutions, and for columns of what a kernel sees."""

from __future__ import annotations

from typing import Any

from op_table.entry import Entry, functional, named

_PARTS = "PyTorch composes a complex convolution of three real ones"
_ROUNDED = {"h": "PyTorch rounds each partial sum to half precision, where all is summed in single here"}


def _conv(title: str, shapes: Any, dims: int = 2, transposed: bool = False, kinds: str = "f", **options: Any) -> Entry:
    """A convolution of an input, a weight and, with three shapes, a bias; the other kinds of numbers once."""
    name = f"conv{'_transpose' * transposed}{dims}d"
    apart = {"c": _PARTS, **(_ROUNDED if transposed else {})}
    return Entry(f"{name} {title}".strip(), functional(name, **options), (shapes,), kinds=kinds, apart=apart)


_LINE, _IMAGE, _VOLUME = (2, 4, 7), (2, 4, 6, 5), (2, 2, 4, 4, 3)

CONVOLUTION = [
    _conv("", (_LINE, (6, 4, 3), (6,)), 1),
    _conv("strided", (_LINE, (2, 2, 3), (2,)), 1, stride=2, padding=3, dilation=2, groups=2),
    _conv("same", (_LINE, (3, 4, 4), (3,)), 1, padding="same"),
    _conv("unbatched", ((4, 7), (6, 4, 3), (6,)), 1),
    _conv("of one", (_LINE, (3, 4, 1), (3,)), 1),
    _conv("", (_IMAGE, (6, 4, 3, 2), (6,))),
    _conv("without bias", (_IMAGE, (3, 4, 2, 2))),
    _conv("padded", (_IMAGE, (3, 4, 3, 3), (3,)), padding=1),
    _conv("strided", (_IMAGE, (2, 4, 3, 2), (2,)), stride=(2, 3), padding=(2, 1), dilation=(1, 2), groups=1),
    _conv("strided ahead", (_IMAGE, (2, 4, 2, 2), (2,)), stride=(2, 1)),
    _conv("strided last", (_IMAGE, (2, 4, 2, 3), (2,)), stride=(1, 2), padding=1),
    _conv("padded far", (_IMAGE, (2, 4, 2, 2), (2,)), padding=3),
    _conv("same", (_IMAGE, (3, 4, 2, 3), (3,)), padding="same", dilation=(3, 1)),
    _conv("valid", (_IMAGE, (3, 4, 2, 3), (3,)), padding="valid"),
    _conv("of one", (_IMAGE, (3, 4, 1, 1), (3,))),
    _conv("of one, grouped", (_IMAGE, (4, 2, 1, 1), (4,)), groups=2, stride=2),
    _conv("grouped", (_IMAGE, (4, 2, 3, 3), (4,)), groups=2, padding=1),
    _conv("depthwise", (_IMAGE, (8, 1, 3, 3), (8,)), groups=4, padding=1),
    _conv("unbatched", ((4, 6, 5), (3, 4, 2, 2), (3,))),
    _conv("empty", ((0, 4, 6, 5), (3, 4, 2, 2), (3,))),
    _conv("", (_VOLUME, (3, 2, 2, 3, 2), (3,)), 3),
    _conv("strided", (_VOLUME, (2, 1, 2, 2, 2), (2,)), 3, stride=(1, 2, 1), padding=1, dilation=1, groups=2),
    _conv("same", (_VOLUME, (2, 2, 3, 3, 3), (2,)), 3, padding="same"),
    _conv("", (_LINE, (4, 3, 3), (3,)), 1, True),
    _conv("strided", (_LINE, (4, 2, 3), (4,)), 1, True, stride=3, padding=1, output_padding=2, groups=2,
          dilation=1),
    _conv("", (_IMAGE, (4, 3, 3, 2), (3,)), 2, True),
    _conv("strided", (_IMAGE, (4, 3, 3, 3), (3,)), 2, True, stride=2, padding=1, output_padding=1, groups=1,
          dilation=1),
    _conv("dilated", (_IMAGE, (4, 3, 2, 2), (3,)), 2, True, dilation=(2, 3), output_padding=(1, 2), padding=(0, 1)),
    _conv("grouped", (_IMAGE, (4, 1, 3, 3), (2,)), 2, True, groups=2, padding=3),
    _conv("without bias", ((4, 3, 3), (4, 3, 2, 2)), 2, True),
    _conv("", (_VOLUME, (2, 3, 2, 2, 2), (3,)), 3, True, stride=(1, 2, 1), padding=0, output_padding=0, groups=1,
          dilation=1),
    Entry("conv2d of complex numbers", functional("conv2d", padding=1), ((_IMAGE, (3, 4, 3, 3), (3,)),), kinds="c",
          other_nodes=_PARTS),
    Entry("conv_transpose1d of complex numbers", functional("conv_transpose1d", stride=2),
          ((_LINE, (4, 3, 3), (3,)),), kinds="c", apart=_ROUNDED, other_nodes=_PARTS),
    Entry("convolution", lambda t, x, w, b: t.convolution(x, w, b, (2, 1), (1, 0), (1, 1), False, (0, 0), 1),
          ((_IMAGE, (3, 4, 3, 3), (3,)),), apart={"c": _PARTS}),
    Entry("conv_tbc", named("conv_tbc"), (((5, 2, 4), (3, 4, 6), (6,)),), apart=_ROUNDED,
          no_tangent="of conv_tbc it has none"),
    Entry("conv_tbc padded", lambda t, x, w, b: t.conv_tbc(x, w, b, 2), (((5, 2, 4), (2, 4, 3), (3,)),),
          apart=_ROUNDED, no_tangent="of conv_tbc it has none"),
    Entry("unfold images", functional("unfold", (2, 3)), (((2, 3, 5, 4),), ((3, 5, 4),), ((0, 3, 5, 4),)), kinds="fc"),
    Entry("unfold strided", functional("unfold", 2, dilation=(2, 1), padding=1, stride=(2, 3)), (((2, 3, 5, 4),),)),
    Entry("fold", functional("fold", (5, 4), (2, 3)), (((2, 12, 8),), ((12, 8),), ((0, 12, 8),)), kinds="fc"),
    Entry("fold strided", functional("fold", (5, 4), 2, dilation=(2, 1), padding=1, stride=(2, 3)), (((2, 8, 6),),)),
]
