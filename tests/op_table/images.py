"""Entries for images: other sizes, values at the points of a grid, affine grids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import Entry, Shapes, functional

_SIGNAL: tuple[Shapes, ...] = (((2, 3, 5),), ((0, 1, 4),))
_IMAGE: tuple[Shapes, ...] = (((2, 3, 4, 5),), ((1, 5, 3, 2),))
_VOLUME: tuple[Shapes, ...] = (((1, 2, 3, 4, 2),),)
_NO_TANGENT = "PyTorch has no forward mode of grid_sample"
_HALF = "PyTorch finds the places in half precision"
_BYTES = "PyTorch has integer arithmetic of its own for images of bytes"


def _sizes(mode: str, shapes: tuple[Shapes, ...], sizes: Any, scales: Any, **options: Any) -> list[Entry]:
    """Larger and smaller, and by factors."""
    title = " ".join(["interpolate", mode, *(f"{k} {v}" for k, v in options.items()), f"{len(shapes[0][0]) - 2}D"])
    apart = {"i": _BYTES} if mode in ("bilinear", "bicubic", "lanczos") else {}
    return [*(Entry(f"{title} to {size}", functional("interpolate", size, mode=mode, **options), shapes, apart=apart)
              for size in sizes),
            *(Entry(f"{title} by {scale}", functional("interpolate", None, scale, mode=mode, **options), shapes,
                    apart=apart) for scale in scales)]


_GRIDS: tuple[Shapes, ...] = (((2, 3, 4, 5), (2, 3, 2, 2)), ((1, 1, 2, 1), (1, 2, 2, 2)))
_GRIDS_3D: tuple[Shapes, ...] = (((2, 2, 3, 4, 2), (2, 1, 2, 3, 3)),)


def _sampled(mode: str, padding: str, align: bool, shapes: tuple[Shapes, ...] = _GRIDS, **options: Any) -> Entry:
    return Entry(f"grid_sample {mode} {padding} {align} {len(shapes[0][0]) - 2}", _grid_sample(mode, padding, align),
                 shapes, low=-1.3, high=1.3, apart={"h": _HALF}, no_tangent=_NO_TANGENT,
                 **options)


def _grid_sample(mode: str, padding: str, align: bool) -> Callable[..., Any]:
    return functional("grid_sample", mode=mode, padding_mode=padding, align_corners=align)


IMAGES = [
    *(entry for mode in ("nearest", "nearest-exact", "area") for entry in (
        *_sizes(mode, _SIGNAL, (3, 8), (1.7, 0.6)), *_sizes(mode, _IMAGE, ((3, 8), (8, 10)), ((0.7, 1.6),)),
        *_sizes(mode, _VOLUME, ((2, 5, 7),), (2.0,)))),
    *(entry for align in (False, True) for entry in (
        *_sizes("linear", _SIGNAL, (3, 8, 1), (1.7, 0.6), align_corners=align),
        *_sizes("bilinear", _IMAGE, ((3, 8), (1, 7)), ((0.7, 1.6),), align_corners=align),
        *_sizes("bicubic", _IMAGE, ((3, 8), (1, 7)), ((0.7, 1.6),), align_corners=align),
        *_sizes("bilinear", _IMAGE, ((2, 8), (1, 3)), ((0.7, 1.6),), align_corners=align, antialias=True),
        *_sizes("bicubic", _IMAGE, ((2, 8), (1, 3)), ((0.7, 1.6),), align_corners=align, antialias=True),
        *_sizes("trilinear", _VOLUME, ((2, 5, 7),), (1.6,), align_corners=align))),
    *_sizes("lanczos", _IMAGE, ((2, 8), (1, 3)), (), antialias=True),
    *_sizes("linear", _SIGNAL, (), (1.7,), recompute_scale_factor=True),
    *(_sampled(mode, padding, align) for mode in ("bilinear", "nearest", "bicubic")
      for padding in ("zeros", "border", "reflection") for align in (False, True)),
    *(_sampled(mode, padding, align, _GRIDS_3D) for mode in ("bilinear", "nearest")
      for padding in ("zeros", "border", "reflection") for align in (False, True)),
    *(Entry(f"affine_grid {size} {align}", functional("affine_grid", size, align_corners=align),
            (((2, len(size) - 2, len(size) - 1),),), apart={"h": _HALF}) for size in ((2, 3, 4, 5), (2, 1, 2, 4, 3))
      for align in (False, True)),
    *(Entry(f"local_response_norm {size}", functional("local_response_norm", size, alpha=0.5),
            (((2, 4, 3),), ((1, 3, 2, 2),)),
            apart={"i": "PyTorch pools int64 with integer division"}) for size in (1, 2, 3)),
]
