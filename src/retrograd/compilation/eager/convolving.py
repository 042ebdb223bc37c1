"""Convolutions of rows and pictures with strides of 1, as machine code: `kernels.images.served_convolution.gathered`.

A sample is copied between zeros, the padding. There, the elements that all positions see through one place of the
kernel lie beside each other, if a position is counted for each column of the padded picture. So no columns are made:
tiles of the result stay in registers while vectors are read at the offsets of all places and channels. The positions
beside the picture are computed for nothing, and are left out where the result is written.

The terms of a number are added one after the other, and blocks of them one after the other. Threads share the samples.
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
from ...kernels.native import threads
from ...kernels.native.heap import new_array
from ..native.host import host
from ..native.modules import Module
from ..native.tiles import Tile
from ..native.vector_math import shuffled
from .places import Called, Places, tile

# The addresses and sizes in the table. `image` numbers hold a padded sample, of which a channel has `plane` numbers and
# a row `line` numbers; the first number of a channel is the number `corner`. `span` positions are computed.
_ADDRESSES = ("x", "weight", "offsets", "bias", "result", "scratch")
_SIZES = ("samples", "channels", "height", "width", "image", "plane", "line", "corner", "depth", "groups", "inner",
          "tiles", "rows", "span", "over", "across", "room", "parts")
# The terms of a block, whose part of the weight stays in the nearest cache, and the positions of a strip, for which the
# numbers of a block of terms stay in a near one. A strip is a number of tiles.
_DEPTH, _STRIP = 256, 512


def text_of(dtype: Any) -> str:
    """The module for this dtype, with the functions `run(table, team)` and `help`."""
    writer = _Writer(Module(host()), dtype, _ADDRESSES, _SIZES)
    functions = writer.module.functions
    functions["tile.first"], functions["tile.more"] = writer.tile(False), writer.tile(True)
    functions["row.copied"], functions["row.moved"] = writer.row(False), writer.row(True)
    functions["part"] = writer.part()
    return writer.run()


class _Writer(Places):
    """The functions of the module."""

    def part(self) -> str:
        """`part(table, begin, end)` computes the samples of these parts. Each part has memory of its own."""
        return self.parts(self._part)

    def _part(self, part: str) -> None:
        code, at = self.code, self.at
        image = self.there("scratch", self.times(part, "room"))
        sums = self.there(image, at["image"])
        self.zeros(image, at["image"])

        def one(sample: str) -> None:
            self._copy_in(image, sample)
            code.loop(0, at["span"], _STRIP, lambda start: self._strip(image, sums, start))
            self._copy_out(sums, sample)

        code.loop(*self.samples(part), 1, one)

    def _copy_in(self, image: str, sample: str) -> None:
        """The rows of a sample, into the padded picture."""
        code, at = self.code, self.at

        def row(channel: str, y: str) -> None:
            number = self.plus(self.times(self.plus(self.times(sample, "channels"), channel), "height"), y)
            to = self.plus(self.plus(self.times(channel, "plane"), self.times(y, "line")), at["corner"])
            code.do(f"call void @row.copied(ptr {self.there('x', self.times(number, 'width'))}, "
                    f"ptr {self.there(image, to)}, i64 {at['width']}, {self.element} 0.0)")

        code.loop(0, at["channels"], 1, lambda c: code.loop(0, at["height"], 1, lambda y: row(c, y)))

    def _strip(self, image: str, sums: str, start: str) -> None:
        """All terms of the positions of a strip."""
        stop = self.least(self.plus(start, _STRIP), "span")
        self._terms(image, sums, start, stop, "0", "first")
        self.code.loop(_DEPTH, self.at["depth"], _DEPTH,
                       lambda p: self._terms(image, sums, start, stop, p, "more"))

    def _terms(self, image: str, sums: str, start: str, stop: str, first: str, which: str) -> None:
        """A block of terms, those of the channels and places from `first` on, for all tiles of a strip."""
        code, at, (rows, vectors) = self.code, self.at, tile()
        count = code.put(f"sub i64 {self.least(self.plus(first, _DEPTH), 'depth')}, {first}")
        offsets = code.put(f"getelementptr i64, ptr {at['offsets']}, i64 {first}")

        def panel(group: str, number: str) -> None:
            number = self.plus(self.times(group, "tiles"), number)
            weight = self.there("weight", self.times(self.plus(self.times(number, "depth"), first), rows))
            out = self.there(sums, self.times(self.times(number, rows), "span"))
            seen = self.there(image, self.times(group, "inner"))
            code.loop(start, stop, vectors * self.lanes, lambda j: code.do(
                f"call void @tile.{which}(ptr {weight}, ptr {offsets}, ptr {self.there(seen, j)}, "
                f"ptr {self.there(out, j)}, i64 {count}, i64 {at['span']})"))

        code.loop(0, at["groups"], 1, lambda g: code.loop(0, at["tiles"], 1, lambda t: panel(g, t)))

    def _copy_out(self, sums: str, sample: str) -> None:
        """The positions of the picture, with the bias, into the result."""
        code, at = self.code, self.at

        def line(channel: str, row: str, y: str) -> None:
            of = self.plus(self.times(row, "span"), self.times(y, "line"))
            channels = self.times(at["groups"], "rows")
            number = self.plus(self.times(self.plus(self.times(sample, channels), channel), "over"), y)
            bias = code.put(f"load {self.element}, ptr {self.there('bias', channel)}")
            code.do(f"call void @row.moved(ptr {self.there(sums, of)}, "
                    f"ptr {self.there('result', self.times(number, 'across'))}, i64 {at['across']}, "
                    f"{self.element} {bias})")

        def one(group: str, row: str) -> None:
            place = self.plus(self.times(self.times(group, "tiles"), tile()[0]), row)
            channel = self.plus(self.times(group, "rows"), row)
            code.loop(0, at["over"], 1, lambda y: line(channel, place, y))

        code.loop(0, at["groups"], 1, lambda g: code.loop(0, at["rows"], 1, lambda r: one(g, r)))

    def row(self, moved: bool) -> str:
        """`row(of, to, count, more)` copies numbers, and adds a number if they are `moved`. A row that is no whole
        number of vectors ends with a vector that overlaps the one before.
        """
        code = self.anew()

        def vector(width: int, i: str) -> None:
            kind = f"<{width} x {self.element}>"
            value = code.put(f"load {kind}, ptr {self.there('%of', i)}, align {self.size}")
            if moved:
                one = code.put(f"insertelement {kind} poison, {self.element} %more, i32 0")
                value = code.put(f"fadd {kind} {value}, {shuffled(code, kind, one, one, [0] * width)}")
            code.do(f"store {kind} {value}, ptr {self.there('%to', i)}, align {self.size}")

        def by(width: int) -> None:
            last = code.put(f"sub i64 %count, {width}")
            code.loop(0, last, width, lambda i: vector(width, i))
            vector(width, last)

        for width in [1 << i for i in range(self.lanes.bit_length())]:
            fits = code.put(f"icmp uge i64 %count, {width}")
            if width < self.lanes:
                fits = code.put(f"and i1 {fits}, {code.put(f'icmp ult i64 %count, {2 * width}')}")
            code.only_if(fits, partial(by, width))
        return code.function(f"internal void @row.{'moved' if moved else 'copied'}"
                             f"(ptr %of, ptr %to, i64 %count, {self.element} %more)")

    def tile(self, more: bool) -> str:
        """`tile(weight, offsets, image, out, count, span)` computes a tile of the result from so many terms. The tile
        is added to what there is, if there is `more`.
        """
        code, (rows, vectors) = self.anew(), tile()
        sums = Tile(code, self.dtype, rows, vectors)

        def term(p: str) -> None:
            offset = code.put(f"load i64, ptr {code.put(f'getelementptr i64, ptr %offsets, i64 {p}')}")
            first = self.times(p, rows)
            sums.add([self.there("%weight", self.plus(first, i)) for i in range(rows)], self.there("%image", offset))

        code.loop(0, "%count", 1, term)
        self.store_tile(sums, "%span", more)
        return code.function(f"internal void @tile.{'more' if more else 'first'}"
                             "(ptr %weight, ptr %offsets, ptr %image, ptr %out, i64 %count, i64 %span)")


class Convolving(Called):
    """The native function of convolutions."""

    def __call__(self, arrays: Sequence[Array], sizes: Sequence[Any], shapes: Sequence[Shape]) -> list[Any]:
        """The convolution of x by a weight, with a number for each channel added."""
        (x, weight, bias), (window, groups), dtype = arrays, sizes, arrays[0].dtype
        rows, vectors = tile()
        tiles = -(-len(weight) // groups // rows)
        block = vectors * host().lanes(dtype)
        known, offsets = _sizes(x.shape, weight.shape, window, groups, block)
        room = known["image"] + groups * tiles * rows * known["span"]
        parts = min(len(x), threads.available())
        result, scratch = new_array(shapes[0], dtype), np.empty(parts * room, dtype)
        packed = _packed(weight, groups, tiles, rows)
        values = {**known, "x": address(x), "weight": address(packed), "offsets": address(offsets),
                  "bias": address(bias), "result": address(result), "scratch": address(scratch), "groups": groups,
                  "tiles": tiles, "rows": len(weight) // groups, "room": room}
        self.call(*[values[name] for name in (*_ADDRESSES, *_SIZES[:-1])], parts=parts)
        return [result]


@lru_cache(maxsize=256)
def _sizes(shape: Shape, weight: Shape, window: Window, groups: int, block: int) -> tuple[dict[str, int], Array]:
    """The sizes in the table that shapes decide, and the offset of each channel and place. `span` is whole blocks."""
    samples, channels, *inputs = shape
    outputs = window.outputs(tuple(inputs))
    height, width, over, across = [(1, *sizes)[-2:][i] for sizes in (inputs, outputs) for i in (0, 1)]
    padding, dilation, kernel = [(fill, *each)[-2:] for fill, each in (
        (0, window.padding), (1, window.dilation), (1, window.kernel))]
    line = width + 2 * padding[1]
    plane = (height + 2 * padding[0]) * line
    span = -(-((over - 1) * line + across) // block) * block
    places = np.arange(kernel[0])[:, None] * dilation[0] * line + np.arange(kernel[1]) * dilation[1]
    offsets = (np.arange(weight[1])[:, None, None] * plane + places).reshape(-1)
    return {"samples": samples, "channels": channels, "height": height, "width": width,
            "image": -(-(channels * plane + block) // block) * block, "plane": plane, "line": line,
            "corner": padding[0] * line + padding[1], "depth": math.prod(weight[1:]),
            "inner": channels // groups * plane, "span": span, "over": over, "across": across}, offsets


def _packed(weight: Array, groups: int, tiles: int, rows: int) -> Array:
    """The weight in panels of so many rows, whose numbers of one place lie side by side. The last has rows of 0."""
    count, depth = len(weight) // groups, math.prod(weight.shape[1:])
    padded = np.zeros((groups, tiles * rows, depth), weight.dtype)
    padded[:, :count] = weight.reshape(groups, count, depth)
    return np.ascontiguousarray(padded.reshape(groups, tiles, rows, depth).swapaxes(2, 3))
