"""Draws the figures of `growth` as SVG, with matplotlib: time and memory by size, and the limits of the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

from benchmarks.report import ALONE

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "retrograd", "font.family": "sans-serif", "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#888", "axes.labelcolor": "#222",
    "xtick.color": "#444", "ytick.color": "#444", "grid.color": "#e4e4e4", "grid.linewidth": 0.7,
    "text.color": "#222", "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
})
from matplotlib import pyplot  # noqa: E402  # after the choice of what draws

COLORS = {"torch": "#d1642a", "retrograd": "#2458a6", "numpy": "#3a9a6b", "llvm": "#7a3fa0", ALONE: "#3a9a6b"}
LABELS = {"torch": "PyTorch", "retrograd": "retrograd", "numpy": "compiled, NumPy", "llvm": "compiled, machine code",
          ALONE: "retrograd, NumPy alone"}
LIMIT = "#777"
LETTER = 0.075      # the least distance of two labels, as a share of the height
SECONDS = {1e-6: "1 µs", 1e-5: "10 µs", 1e-4: "100 µs", 1e-3: "1 ms", 1e-2: "10 ms", 0.1: "100 ms", 1.0: "1 s",
           10.0: "10 s", 100.0: "100 s"}
BYTES = {1e3: "1 kB", 1e4: "10 kB", 1e5: "100 kB", 1e6: "1 MB", 1e7: "10 MB", 1e8: "100 MB", 1e9: "1 GB", 1e10: "10 GB"}


class Line(NamedTuple):
    """A line with its label at the right end. A limit is dashed and grey."""

    label: str
    points: dict[int, float]
    color: str
    limit: bool = False


def lines_of(points: dict[str, dict[Any, Any]], value: Callable[[Any], float] = float) -> list[Line]:
    """A line for each contestant. Values that are not above 0, which a logarithm cannot show, are left out."""
    return [Line(LABELS[name], {int(size): value(found) for size, found in of.items() if value(found) > 0},
                 COLORS[name]) for name, of in points.items()]


def limit(label: str, sizes: Sequence[int], value: Callable[[int], float]) -> Line:
    """What no program can beat."""
    return Line(label, {size: value(size) for size in sizes}, LIMIT, limit=True)


def panel(axes: Any, title: str, along: str, ticks: dict[float, str], lines: Sequence[Line]) -> None:
    """Straight lines are growth in proportion: both axes have logarithms."""
    for line in lines:
        style = {"linestyle": (0, (4, 3)), "linewidth": 1.2} if line.limit else {"marker": "o", "markersize": 3.5,
                                                                                  "linewidth": 1.8}
        axes.plot([*line.points], [*line.points.values()], color=line.color, **style)
    axes.set(xscale="log", yscale="log", title=title, xlabel=along)
    values = [value for line in lines for value in line.points.values()]
    low, high = min(values) / 1.6, max(values) * 1.6
    axes.set_ylim(low, high)
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.set_yticklabels([text for tick, text in ticks.items() if low <= tick <= high])
    axes.minorticks_off()
    axes.grid(True)
    axes.tick_params(length=0)
    ends = [(log10([*line.points.values()][-1] / low) / log10(high / low), line) for line in lines]
    for height, line in apart(ends):
        axes.annotate(line.label, (1.02, height), xycoords="axes fraction", va="center", color=line.color,
                      annotation_clip=False)


def apart(ends: list[tuple[float, Line]]) -> list[tuple[float, Line]]:
    """The heights of the labels, moved as far as needed so that no two of them overlap."""
    placed = sorted(ends, key=lambda end: end[0])
    for _ in range(100):
        for i, ((low, one), (high, other)) in enumerate(pairwise(placed)):
            if (lacks := LETTER - (high - low)) > 1e-6:
                placed[i:i + 2] = [(low - lacks / 2, one), (high + lacks / 2, other)]
    return placed


def draw(figures: dict[str, Any], folder: Path) -> None:
    """Write the pictures `growth-elements`, `growth-nodes`, `growth-kernels` and `growth-memory`."""
    limits = figures["limits"]
    copying = f"a copy, {limits['gigabytes_a_second']:.0f} GB/s"
    calling = "a call of NumPy"
    sizes = [int(size) for size in next(iter(figures["elements"].values()))]
    nodes = [int(size) for size in next(iter(figures["nodes"].values()))]

    figure, (axes,) = _figure(1)
    panel(axes, "A step sin(a) * a + exp(a), forward and backward", "elements", SECONDS,
          [*lines_of(figures["elements"]),
           limit(copying, sizes, lambda size: size * limits["copy_seconds_each"]),
           limit(calling, sizes, lambda size: limits["call_seconds"])])
    _save(figure, folder / "growth-elements.svg")

    figure, both = _figure(3)
    for axes, part in zip(both, ("forward", "backward", "release"), strict=True):
        beside = [] if part == "release" else [limit(calling, nodes, lambda size: size * limits["call_seconds"])]
        panel(axes, f"A chain of nodes: {part}", "nodes", SECONDS,
              [*lines_of(figures["nodes"], lambda found, part=part: found[part]), *beside])
    _save(figure, folder / "growth-nodes.svg")

    if figures["kernels"]:
        _kernels(figures["kernels"], folder / "growth-kernels.svg")
    if not figures["elements_memory"]:
        return
    figure, both = _figure(2)
    panel(both[0], "Peak memory of the step", "elements", BYTES,
          [*lines_of(figures["elements_memory"], lambda found: found["peak"]),
           limit("input and gradient", sizes, lambda size: 8 * size)])
    panel(both[1], "Peak memory of the chain", "nodes", BYTES,
          lines_of(figures["nodes_memory"], lambda found: found["peak"]))
    _save(figure, folder / "growth-memory.svg")


def _kernels(kernels: dict[str, Any], path: Path) -> None:
    """Small panels side by side. The lines have one legend, below all."""
    rows = -(-len(kernels) // 3)
    figure, axes = pyplot.subplots(rows, 3, figsize=(7.4, 2.1 * rows + 0.5), squeeze=False, layout="constrained")
    for each, (kernel, points) in zip(axes.flat, kernels.items()):
        for name, line in points.items():
            sizes = [int(size) for size in line]
            each.plot(sizes, [*line.values()], color=COLORS[name], marker="o", markersize=2.5, linewidth=1.4,
                      label=LABELS[name])
        each.set(xscale="log", yscale="log")
        each.set_title(kernel, fontsize=9)
        low, high = each.get_ylim()
        each.set_yticks([tick for tick in SECONDS if low <= tick <= high])
        each.set_yticklabels([text for tick, text in SECONDS.items() if low <= tick <= high], fontsize=8)
        each.set_xticks(sizes[::2], [f"1e{round(log10(size))}" for size in sizes[::2]], fontsize=8)
        each.minorticks_off()
        each.grid(True)
        each.tick_params(length=0)
    for each in axes.flat[len(kernels):]:
        each.set_axis_off()
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    _save(figure, path)


def _figure(panels: int) -> tuple[Any, Sequence[Any]]:
    """Panels below each other: a page is not wide enough for labels beside several."""
    size = (7.4, 3.6 if panels == 1 else 2.8 * panels)
    figure, axes = pyplot.subplots(panels, 1, figsize=size, squeeze=False, layout="constrained")
    return figure, axes[:, 0]


def _save(figure: Any, path: Path) -> None:
    """White paper, so that the picture can be read on a dark page; no date, so that equal figures make equal files."""
    figure.savefig(path, facecolor="white", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    path.write_text("\n".join(line.rstrip() for line in path.read_text(encoding="utf-8").splitlines()) + "\n",
                    encoding="utf-8")
