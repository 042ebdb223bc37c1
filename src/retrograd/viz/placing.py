"""Where everything of a picture stands: boxes of nodes, frames of groups, and lines, in pixels.

The layouts of the groups are put together from the inside out: a group is as large as its contents, and then it is a
box in the layout of its parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .coordinates import Coordinates, Gaps, coordinates
from .graphs import Drawn
from .groups import Group, Value

GAPS = Gaps(boxes=20, points=14, ranks=26)
SIDE, HEAD, FOOT = 14.0, 30.0, 14.0          # the space inside a frame, beside, above and below its contents
_SPREAD = 22.0                               # between the ends of lines that go to two outputs of a node, at most


class Box(NamedTuple):
    """A rectangle: its left and its top, and its size."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """From left to right."""
        return self.left + self.width / 2


class Line(NamedTuple):
    """A line down to a value.

    Each of `stretches` is (x, top, bottom) of a vertical part, and curves join them. `user` is the node that the line
    begins at, and `maker` the node that the line ends at; None stands for a border, or for a line that another line
    goes on from.
    """

    value: Value
    stretches: list[tuple[float, float, float]]
    user: int | None
    maker: int | None


class Placed(NamedTuple):
    """A picture: the boxes by node, the frames by group (the first is the whole picture), and the lines.

    `entries` says for each group where lines come in through the top of its frame.
    """

    boxes: dict[int, Box]
    frames: list[Box]
    lines: list[Line]
    entries: list[list[float]]


def placed(graph: Drawn, groups: list[Group], sizes: Sequence[tuple[float, float]],
           heads: Sequence[float]) -> Placed:
    """Place nodes of these `sizes`: (width, height). `heads` are the widths of the groups' titles."""
    inside = [_Inside() for _ in groups]
    for number in range(len(groups) - 1, -1, -1):
        _fit(graph, groups, inside, number, sizes, heads[number])
    origins = [(0.0, 0.0)] * len(groups)
    found = Placed({}, [], [], [])
    for number, group in enumerate(groups):
        here, (left, top) = inside[number], origins[number]
        found.frames.append(Box(left, top, *here.size))
        found.entries.append([left + here.left + here.at.x[port] for _, port in group.ports if not here.rank_of[port]])
        spots = [here.spot(group, place) for place in range(len(group.children))]
        for child, spot in zip(group.children, spots):
            if child < 0:
                origins[-child] = left + spot.left, top + spot.top
            else:
                found.boxes[child] = spot._replace(left=left + spot.left, top=top + spot.top)
        found.lines.extend(_lines(group, here, spots, left, top))
    return found


class _Inside:
    """The contents of a group, measured from its left and its top."""

    size: tuple[float, float]
    at: Coordinates
    left: float
    top: float
    sizes: list[tuple[float, float]]
    offsets: dict[tuple[int, int], float]
    rank_of: list[int]

    def spot(self, group: Group, place: int) -> Box:
        """Where a child stands: in the middle of its rank."""
        width, height = self.sizes[place]
        rank = self.rank_of[place]
        middle = (self.at.tops[rank] + self.at.bottoms[rank]) / 2
        return Box(self.left + self.at.x[place] - width / 2, self.top + middle - height / 2, width, height)


def _fit(graph: Drawn, groups: list[Group], inside: list[_Inside], number: int,
         sizes: Sequence[tuple[float, float]], head: float) -> None:
    """Compute the contents of a group. The groups inside it are known."""
    group, here = groups[number], inside[number]
    layers = group.layers
    here.sizes = [sizes[child] if child >= 0 else inside[-child].size for child in group.children]
    here.offsets = _offsets(graph, groups, inside, number)
    here.rank_of = [0] * (layers.boxes + layers.points)
    for rank, places in enumerate(layers.ranks):
        for place in places:
            here.rank_of[place] = rank
    here.at = coordinates(layers, here.sizes, GAPS, here.offsets)
    bottom = here.at.bottoms[-1] if here.at.bottoms else 0.0
    if group.parent is None:
        here.left, here.top, here.size = 0.0, 0.0, (here.at.width, bottom)
        return
    ports = {place for _, place in group.ports}
    here.top = 0.0 if ports.intersection(layers.ranks[0]) else HEAD
    foot = 0.0 if ports.intersection(layers.ranks[-1]) else FOOT
    width = max(here.at.width, head)
    here.left = SIDE + (width - here.at.width) / 2
    here.size = (width + 2 * SIDE, here.top + bottom + foot)


def _offsets(graph: Drawn, groups: list[Group], inside: list[_Inside], number: int) -> dict[tuple[int, int], float]:
    """How far from the middle of a child the lines begin and end: at the ports of groups, and apart for outputs."""
    group, found = groups[number], {}
    for place, child in enumerate(group.children):
        if child < 0:
            here = inside[-child]
            for edge, port in groups[-child].ports:
                found[edge, place] = here.left + here.at.x[port] - here.size[0] / 2
    for edge, (path, (maker, output)) in enumerate(zip(group.layers.edges, group.edges)):
        last, count = path[-1], len(graph.nodes[maker].shapes)
        if count > 1 and last < len(group.children) and group.children[last] == maker:
            spread = min(_SPREAD, inside[number].sizes[last][0] * 0.8 / (count - 1))
            found[edge, last] = (output - (count - 1) / 2) * spread
    return found


def _lines(group: Group, here: _Inside, spots: list[Box], left: float, top: float) -> Iterator[Line]:
    """The lines of a group whose contents begin at `left` and `top`."""
    boxes = len(group.children)
    for edge, (path, value) in enumerate(zip(group.layers.edges, group.edges)):
        stretches = []
        for i, place in enumerate(path):
            x = here.left + here.at.x[place] + here.offsets.get((edge, place), 0.0)
            rank = here.rank_of[place]
            start, end = here.top + here.at.tops[rank], here.top + here.at.bottoms[rank]
            if place < boxes:
                spot = spots[place]
                start, end = (spot.top + spot.height, end) if i == 0 else (start, spot.top)
            elif i == len(path) - 1:
                end = start                              # from here on, another line goes on
            stretches.append((left + x, top + start, top + end))
        ends = [group.children[place] if place < boxes else -1 for place in (path[0], path[-1])]
        user, maker = [None if child < 0 else child for child in ends]
        yield Line(value, stretches, user, maker)
