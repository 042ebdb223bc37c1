"""Gradients of convolutions by their weight as machine code: `kernels.images.served_convolution.weight_gradient`.

A sample is copied between zeros, the padding, with its channels last. There, the numbers that a position sees through
a row of the kernel lie beside each other. The cotangent is copied in panels of eight channels, with the channels last.
The sums of a panel and some vectors of a row stay in registers while all positions of the sample go by. Then they are
added to the sums of the samples before. Threads share the samples in parts, each of which has sums of its own. How many
parts there are depends on the sizes alone, so the result has the same bits with any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...kernels.images.columns import Window
from ...kernels.layout import address
from ..native.host import host
from ..native.modules import Module
from ..native.tiles import Tile, turning
from .places import Called, Places

# The addresses and sizes in the table. `image` numbers hold a padded sample, of which a position has `wide` numbers and
# a row `line` positions; the first position is the position `corner`. Through the kernel, a position sees `runs` runs
# of `vectors` vectors. From column to column a run moves by `step` numbers, from row to row by `stride`.
_ADDRESSES = ("x", "g", "offsets", "sums", "scratch")
_SIZES = ("samples", "channels", "height", "width", "image", "wide", "line", "corner", "rows", "tiles", "runs",
          "vectors", "over", "across", "positions", "step", "stride", "total", "room", "parts")
# The channels of a panel.
_PANEL = 8
# The rows of a tile, and the most vectors of each, for 32 and for 16 registers of vectors.
_TILES = {32: (8, 3), 16: (4, 2)}
# The most parts, the least ones if there are as many samples, and the bytes that all may have.
_PARTS, _LEAST, _ROOM = 16, 2, 1 << 24


def text_of(dtype: Any) -> str:
    """The module for this dtype, with the functions `run(table, team)` and `help`."""
    writer = _Writer(Module(host()), dtype, _ADDRESSES, _SIZES)
    functions = writer.module.functions
    for vectors in range(1, _tile()[1] + 1):
        functions[f"tile.{vectors}"] = writer.tile(vectors)
    functions["part"] = writer.part()
    return writer.run()


def _tile() -> tuple[int, int]:
    return _TILES[host().registers]


class _Writer(Places):
    """The functions of the module."""

    def part(self) -> str:
        """`part(table, begin, end)` adds up the samples of these parts. Each part has memory and sums of its own."""
        self.turn = turning(self.module, self.dtype)
        return self.parts(self._part)

    def _part(self, part: str) -> None:
        code, at = self.code, self.at
        image = self.there("scratch", self.times(part, "room"))
        panels = self.there(image, at["image"])
        self.zeros(image, at["image"])
        sums = self.there("sums", self.times(part, "total"))

        def one(sample: str) -> None:
            self._copy_sample(image, sample)
            code.loop(0, at["tiles"], 1, lambda t: self._copy_panel(panels, sample, t))
            code.loop(0, at["tiles"], 1, lambda t: self._panel(image, panels, sums, t))

        code.loop(*self.samples(part), 1, one)

    def _copy_sample(self, image: str, sample: str) -> None:
        code, at = self.code, self.at
        channel = self.times(at["height"], "width")
        start = self.there("x", self.times(self.times(sample, "channels"), channel))

        def row(y: str) -> None:
            place = self.times(self.plus(self.times(y, "line"), at["corner"]), "wide")
            self._turned(self.there(start, self.times(y, "width")), self.there(image, place), at["channels"],
                         at["width"], channel, at["wide"])

        code.loop(0, at["height"], 1, row)

    def _copy_panel(self, panels: str, sample: str, number: str) -> None:
        first = self.times(number, _PANEL)
        rows = self.least(self.code.put(f"sub i64 {self.at['rows']}, {first}"), _PANEL)
        of = self.there("g", self.times(self.plus(self.times(sample, "rows"), first), "positions"))
        self._turned(of, self.there(panels, self.times(first, "positions")), rows, self.at["positions"],
                     self.at["positions"], _PANEL)

    def _turned(self, of: str, to: str, count: str, length: str, gap: str, width: int | str) -> None:
        self.code.do(f"call void @{self.turn}(ptr {of}, ptr {to}, i64 {count}, i64 {length}, i64 {gap}, i64 {width})")

    def _panel(self, image: str, panels: str, sums: str, number: str) -> None:
        """The sums of a panel with all runs."""
        code, at, (_, most) = self.code, self.at, _tile()
        panel = self.there(panels, self.times(self.times(number, _PANEL), "positions"))

        def run(r: str) -> None:
            offset = code.put(f"getelementptr i64, ptr {at['offsets']}, i64 {r}")
            seen = self.there(image, code.put(f"load i64, ptr {offset}"))
            place = self.times(self.plus(self.times(number, "runs"), r), "vectors")

            def tile(vectors: int, v: str) -> None:
                out = self.there(sums, self.times(self.plus(place, v), _PANEL * self.lanes))
                code.do(f"call void @tile.{vectors}(ptr {panel}, ptr {self.there(seen, self.times(v, self.lanes))}, "
                        f"ptr {out}, i64 {at['over']}, i64 {at['across']}, i64 {at['step']}, i64 {at['stride']})")

            rest = code.put(f"urem i64 {at['vectors']}, {most}")
            whole = code.put(f"sub i64 {at['vectors']}, {rest}")
            code.loop(0, whole, most, lambda v: tile(most, v))
            for vectors in range(1, most):
                code.only_if(code.put(f"icmp eq i64 {rest}, {vectors}"), partial(tile, vectors, whole))

        code.loop(0, at["runs"], 1, run)

    def tile(self, vectors: int) -> str:
        """`tile(panel, image, sums, over, across, step, stride)` adds vectors of a run to the sums of a panel."""
        code = self.anew()
        for first in range(0, _PANEL, _tile()[0]):
            self._some_rows(vectors, first)
        return code.function(f"internal void @tile.{vectors}(ptr %panel, ptr %image, ptr %sums, i64 %over, "
                             "i64 %across, i64 %step, i64 %stride)")

    def _some_rows(self, vectors: int, first: int) -> None:
        """The rows of a panel from `first` on that fit in registers."""
        rows, code = _tile()[0], self.code
        sums = Tile(code, self.dtype, rows, vectors)

        def line(y: str) -> None:
            start, numbers = self.times("%stride", y), self.times("%across", y)

            def position(x: str) -> None:
                panel = self.plus(self.times(self.plus(numbers, x), _PANEL), first)
                sums.add([self.there("%panel", self.plus(panel, i)) for i in range(rows)],
                         self.there("%image", self.plus(start, self.times("%step", x))))

            code.loop(0, "%across", 1, position)

        code.loop(0, "%over", 1, line)
        for i in range(rows):
            for v in range(vectors):
                self.store(sums.value(i, v), self.there("%sums", (v * _PANEL + first + i) * self.lanes), True)


class ConvolvingWeight(Called):
    """The native function of gradients by the weight."""

    def __call__(self, arrays: Sequence[Array], sizes: Sequence[Any], shapes: Sequence[Shape]) -> list[Any]:
        """The gradient by a weight of this shape of a convolution of x, if the gradient of the result is g."""
        (x, g), (window,), (shape,) = arrays, sizes, shapes
        lanes = host().lanes(x.dtype)
        known, offsets, length = _sizes(x.shape, shape, window, lanes)
        one = known["tiles"], known["runs"], known["vectors"], _PANEL, lanes
        each = (math.prod(one) + known["room"]) * x.itemsize
        parts = min(len(x), _PARTS, max(_LEAST, _ROOM // each))
        scratch, sums = np.empty(parts * known["room"], x.dtype), np.zeros((parts, *one), x.dtype)
        values = {**known, "x": address(x), "g": address(g), "offsets": address(offsets), "sums": address(sums),
                  "scratch": address(scratch), "total": math.prod(one)}
        self.call(*[values[name] for name in (*_ADDRESSES, *_SIZES[:-1])], parts=parts)
        seen = sums.sum(0).transpose(0, 3, 1, 2, 4)                     # tile, row, run, vector, lane
        seen = seen.reshape(*seen.shape[:3], -1)[..., :length].reshape(-1, math.prod(shape[2:]), known["wide"])
        return [np.ascontiguousarray(seen[:shape[0], :, :shape[1]].swapaxes(1, 2)).reshape(shape)]


@lru_cache(maxsize=256)
def _sizes(shape: Shape, weight: Shape, window: Window, lanes: int) -> tuple[dict[str, int], Array, int]:
    """The sizes in the table that shapes decide, the offset of each run, and the numbers of a run.

    If places of the kernel lie beside each other, a run is a row of the kernel. Otherwise a run is one place.
    """
    samples, channels, *inputs = shape
    height, width = (1, *inputs)[-2:]
    over, across = (1, *window.outputs(tuple(inputs)))[-2:]
    kernel, stride, padding, dilation = [(fill, *each)[-2:] for fill, each in zip((1, 1, 0, 1), window)]
    wide, line = -(-channels // _PANEL) * _PANEL, width + 2 * padding[1]
    places = np.arange(kernel[0])[:, None] * dilation[0] * line + np.arange(kernel[1]) * dilation[1]
    merged = dilation[1] == 1
    offsets = (places[:, :1] if merged else places).reshape(-1) * wide
    length = wide * (kernel[1] if merged else 1)
    tiles, vectors = -(-weight[0] // _PANEL), -(-length // lanes)
    image = -(-((height + 2 * padding[0]) * line * wide + lanes) // lanes) * lanes
    return {"samples": samples, "channels": channels, "height": height, "width": width, "image": image, "wide": wide,
            "line": line, "corner": padding[0] * line + padding[1], "rows": weight[0], "tiles": tiles,
            "runs": len(offsets), "vectors": vectors, "over": over, "across": across, "positions": over * across,
            "step": stride[1] * wide, "stride": stride[0] * line * wide,
            "room": image + tiles * _PANEL * over * across}, np.ascontiguousarray(offsets), length
