"""Entries for pooling: maxima, means and norms over windows."""

from __future__ import annotations

from typing import Any

from op_table.entry import Entry, functional

_LINES, _IMAGES, _VOLUMES = (((2, 3, 9),), ((3, 8),)), (((2, 3, 7, 6),), ((3, 7, 6),), ((0, 3, 7, 6),)), (
    ((2, 2, 5, 4, 5),), ((2, 5, 4, 5),))
_SHAPES = {1: _LINES, 2: _IMAGES, 3: _VOLUMES}


def _pool(name: str, *arguments: Any, title: str = "", **options: Any) -> Entry:
    """An entry for a function of nn.functional, on the shapes that its name asks for."""
    maxima = "max" in name
    kept = {key: options.pop(key) for key in ("kinds", "low", "no_tangent", "apart", "other_nodes") if key in options}
    return Entry(f"{name} {title}".strip(), functional(name, *arguments, **options), _SHAPES[int(name[-2])],
                 distinct=maxima, **kept)


def _unpooled(dims: int, **options: Any) -> Entry:
    def call(torch: Any, x: Any) -> Any:
        f = torch.nn.functional
        _, indices = getattr(f, f"max_pool{dims}d")(x.detach(), 2, return_indices=True)
        values = getattr(f, f"max_pool{dims}d")(x, 2)
        return getattr(f, f"max_unpool{dims}d")(values, indices, 2, output_size=x.shape[-dims:])

    return Entry(f"max_unpool{dims}d", call, _SHAPES[dims], distinct=True, **options)


def _at_random(dims: int) -> Entry:
    def call(torch: Any, x: Any) -> Any:
        samples = torch.tensor([0.1, 0.7, 0.4][:dims], dtype=x.dtype).expand(*x.shape[:2], dims)
        return getattr(torch.nn.functional, f"fractional_max_pool{dims}d")(x, 2, 3, _random_samples=samples)

    return Entry(f"fractional_max_pool{dims}d", call, ((((2, 2, 7, 6),),) if dims == 2 else (((1, 2, 5, 6, 7),),)),
                 distinct=True)


POOLING = [
    _pool("max_pool1d", 2),
    _pool("max_pool1d", 3, 2, 1, 2, title="strided", ceil_mode=True),
    _pool("max_pool2d", 2),
    _pool("max_pool2d", (3, 2), (2, 1), 1, (1, 2), title="strided", ceil_mode=True),
    _pool("max_pool2d", 3, 1, 1, title="overlapping"),
    _pool("max_pool3d", 2),
    _pool("max_pool3d", (3, 2, 2), (2, 1, 2), (1, 0, 1), title="strided", ceil_mode=True),
    Entry("max_pool2d of torch", lambda t, x: t.max_pool2d(x, 2, ceil_mode=True), _IMAGES, distinct=True),
    Entry("max_pool1d_with_indices", lambda t, x: t.max_pool1d_with_indices(x, 2)[0], _LINES, distinct=True),
    _unpooled(1), _unpooled(2), _unpooled(3),
    _pool("avg_pool1d", 2),
    _pool("avg_pool1d", 3, 2, 1, True, True, title="strided"),
    _pool("avg_pool2d", 2),
    _pool("avg_pool2d", (3, 2), (2, 1), 1, title="strided", ceil_mode=True, count_include_pad=False),
    _pool("avg_pool2d", 3, 2, 1, False, True, 5, title="by 5"),
    _pool("avg_pool3d", 2),
    _pool("avg_pool3d", (3, 2, 2), (2, 1, 2), (1, 0, 1), True, True, 3, title="strided"),
    _pool("adaptive_avg_pool1d", 4),
    _pool("adaptive_avg_pool2d", (3, 4)),
    _pool("adaptive_avg_pool2d", (None, 9), title="to more"),
    _pool("adaptive_avg_pool2d", 1, title="to one"),
    _pool("adaptive_avg_pool3d", (2, 3, None)),
    _pool("adaptive_max_pool1d", 4),
    _pool("adaptive_max_pool2d", (3, 4)),
    _pool("adaptive_max_pool2d", (None, 9), title="to more"),
    _pool("adaptive_max_pool3d", (2, 3, None)),
    Entry("adaptive_max_pool1d of torch", lambda t, x: t.adaptive_max_pool1d(x, 3)[0], _LINES, distinct=True),
    Entry("adaptive_avg_pool1d of torch", lambda t, x: t.adaptive_avg_pool1d(x, 3),
          _LINES),
    _pool("lp_pool1d", 2, 2, low=0.1), _pool("lp_pool2d", 3, (2, 3), 1, low=0.1), _pool("lp_pool3d", 2, 2, low=0.1),
    _at_random(2), _at_random(3),
]
