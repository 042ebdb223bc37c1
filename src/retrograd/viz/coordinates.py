"""The coordinates of a layered layout: boxes move to where their edges become straight and short.

First, sweeps over the ranks move each box to the mean of where its edges draw it. Then chains become straight columns.
Nothing recurses, and the time is nearly linear. In the explorer's page groups fold, so the page has the same rules in
JavaScript (`explorer/layout.js`). It takes the constants from here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from .layers import Layers

SWEEPS = 4                      # down and up
# What edges weigh: between two points, to the maker that leads deepest, and others.
WEIGHTS = {"long": 24.0, "deepest": 16.0, "other": 1.0}
SLOPE = 0.06                    # of the distance that edges go to the side, how much is added between two ranks

# What draws a place: a neighbor, how far right of the neighbor the place wants to be, and the weight of the edge.
_Pull = tuple[int, float, float]
_Pulls = list[list[_Pull]]       # for each place
_Row = tuple[list[int], list[float]]     # a rank, and where its boxes stand if they stand as close as they may


class Gaps(NamedTuple):
    """The space between the boxes of a rank, beside a point, and between ranks."""

    boxes: float
    points: float
    ranks: float


class Coordinates(NamedTuple):
    """The middle of each place from left to right, and the top and the bottom of each rank; all begin at 0."""

    x: list[float]
    tops: list[float]
    bottoms: list[float]
    width: float


def coordinates(layers: Layers, sizes: Sequence[tuple[float, float]], gaps: Gaps,
                offsets: Mapping[tuple[int, int], float] | None = None) -> Coordinates:
    """Where the boxes stand that have these `sizes`: (width, height). A rank is as high as its highest box.

    `offsets[edge, box]` says how far from the middle of the box an edge begins or ends. Ranks stand further apart
    where edges between them go far to the side.
    """
    widths = [width for width, _ in sizes] + [0.0] * layers.points
    above, below = _pulls(layers, offsets or {})
    packed = [_packed(rank, widths, layers.boxes, gaps) for rank in layers.ranks]
    x = [0.0] * len(widths)
    for rank, steps in zip(layers.ranks, packed):
        for place, at in zip(rank, steps):
            x[place] = at - steps[-1] / 2
    rows = [*zip(layers.ranks, packed)]
    for _ in range(SWEEPS):
        for rank, steps in rows[1:]:
            _settle(rank, steps, x, [above])
        for rank, steps in rows[-2::-1]:
            _settle(rank, steps, x, [below])
    for rank, steps in rows:
        _settle(rank, steps, x, [above, below])
    x = _in_columns(rows, x, above, below)
    left = min((x[place] - widths[place] / 2 for place in range(len(x))), default=0.0)
    x = [at - left for at in x]
    tops: list[float] = []
    bottoms: list[float] = []
    y = 0.0
    for rank in layers.ranks:
        aside = max((abs(x[other] + shift - x[place]) for place in rank for other, shift, _ in above[place]), default=0)
        y += gaps.ranks + min(aside * SLOPE, gaps.ranks * 2) if tops else 0
        tops.append(y)
        y += max((sizes[place][1] for place in rank if place < layers.boxes), default=0.0)
        bottoms.append(y)
    return Coordinates(x, tops, bottoms, max((x[place] + widths[place] / 2 for place in range(len(x))), default=0.0))


def _pulls(layers: Layers, offsets: Mapping[tuple[int, int], float]) -> tuple[_Pulls, _Pulls]:
    """What draws each place to its neighbors on the rank above, and on the rank below."""
    total = layers.boxes + layers.points
    rank_of = [0] * total
    for number, rank in enumerate(layers.ranks):
        for place in rank:
            rank_of[place] = number
    pairs = [(upper, lower, offsets.get((edge, upper), 0.0) - offsets.get((edge, lower), 0.0))
             for edge, path in enumerate(layers.edges) for upper, lower in pairwise(path)
             if rank_of[lower] == rank_of[upper] + 1]
    pairs.sort(key=lambda pair: rank_of[pair[1]], reverse=True)
    # Of a place, and of the deepest place joined below it; of two as deep, a box before a point.
    depth, deepest = [0] * total, [(0, False)] * total
    for upper, lower, _ in pairs:
        deepest[upper] = max(deepest[upper], (depth[lower] + 1, lower < layers.boxes))
        depth[upper] = deepest[upper][0]
    above: _Pulls = [[] for _ in range(total)]
    below: _Pulls = [[] for _ in range(total)]
    for upper, lower, shift in pairs:
        weight = WEIGHTS["long" if upper >= layers.boxes and lower >= layers.boxes else
                         "deepest" if (depth[lower] + 1, lower < layers.boxes) == deepest[upper] else "other"]
        above[lower].append((upper, shift, weight))
        below[upper].append((lower, -shift, weight))
    return above, below


def _packed(rank: list[int], widths: list[float], boxes: int, gaps: Gaps) -> list[float]:
    """Where the middles of a rank lie if its boxes stand as close as they may; the first is 0."""
    steps = [0.0]
    for left, right in pairwise(rank):
        gap = gaps.boxes if left < boxes and right < boxes else gaps.points
        steps.append(steps[-1] + (widths[left] + widths[right]) / 2 + gap)
    return steps


def _settle(rank: list[int], steps: list[float], x: list[float], pulls: list[_Pulls]) -> None:
    """Move the boxes of a rank as close as possible to the mean of where their edges draw them.

    Without the `steps`, every box would stand where it is drawn to. Boxes that come too close form a block, and a block
    stands at the mean of what its boxes want. This is the least sum of squares ("pool adjacent violators").
    """
    blocks: list[tuple[float, float, int]] = []          # (where, weight, boxes)
    for place, step in zip(rank, steps):
        at, weight, count = x[place] - step, 0.01, 1
        drawn = [pull for one in pulls for pull in one[place]]
        if drawn:
            weight = sum([pull[2] for pull in drawn])
            at = sum([(x[other] + shift) * share for other, shift, share in drawn]) / weight - step
        while blocks and blocks[-1][0] > at:
            before, heavy, many = blocks.pop()
            at = (before * heavy + at * weight) / (heavy + weight)
            weight, count = heavy + weight, count + many
        blocks.append((at, weight, count))
    numbers = iter(range(len(rank)))
    for at, _, count in blocks:
        for i in [next(numbers) for _ in range(count)]:
            x[rank[i]] = at + steps[i]


# Columns


def _in_columns(rows: list[_Row], x: list[float], above: _Pulls, below: _Pulls) -> list[float]:
    """Make the chains of places straight.

    A chain becomes a column, which moves as a whole to the mean of where its places were. Columns that come too close
    move aside: once all to the right, once all to the left, and the mean of both keeps the distances too.
    """
    column, shift, count = _columns(rows, above, below)
    sums, members = [0.0] * count, [0] * count
    for place, at in enumerate(x):
        sums[column[place]] += at - shift[place]
        members[column[place]] += 1
    wanted = [total / many for total, many in zip(sums, members)]
    rightward: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    leftward: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    waiting = [0] * count
    for rank, steps in rows:
        for (left, right), (before, after) in zip(pairwise(rank), pairwise(steps)):
            distance = after - before + shift[left] - shift[right]
            rightward[column[left]].append((column[right], distance))
            leftward[column[right]].append((column[left], distance))
            waiting[column[right]] += 1
    order = [number for number in range(count) if not waiting[number]]
    for number in order:
        for other, _ in rightward[number]:
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    high, low = [*wanted], [*wanted]
    for number in order:
        high[number] = max([wanted[number], *[high[other] + far for other, far in leftward[number]]])
    for number in reversed(order):
        low[number] = min([wanted[number], *[low[other] - far for other, far in rightward[number]]])
    return [(high[column[place]] + low[column[place]]) / 2 + shift[place] for place in range(len(x))]


def _columns(rows: list[_Row], above: _Pulls, below: _Pulls) -> tuple[list[int], list[float], int]:
    """For each place its column, and how far right of its column it stands; and the number of columns.

    Two places share a column if the edge between them is the heaviest of both, and crosses no heavier such edge.
    """
    up, down = [_heaviest(pulls) for pulls in above], [_heaviest(pulls) for pulls in below]
    column, shift, count = [-1] * len(above), [0.0] * len(above), 0
    upper: list[int] = []
    for rank, _ in rows:
        position = {place: i for i, place in enumerate(upper)}
        pairs = []
        for i, place in enumerate(rank):
            pull = up[place]
            if pull is not None and (back := down[pull[0]]) is not None and back[0] == place:
                pairs.append((-pull[2], position[pull[0]], i))
        kept: list[tuple[int, int]] = []
        for _, start, end in sorted(pairs):
            at = bisect_left(kept, (start, end))
            if (at == 0 or kept[at - 1][1] < end) and (at == len(kept) or end < kept[at][1]):
                kept.insert(at, (start, end))
                place = rank[end]
                column[place] = column[upper[start]]
                shift[place] = shift[upper[start]] + (up[place] or (0, 0.0, 0.0))[1]
        for place in rank:
            if column[place] < 0:
                column[place] = count
                count += 1
        upper = rank
    return column, shift, count


def _heaviest(pulls: list[_Pull]) -> _Pull | None:
    """The one pull that weighs more than all others, if there is such a pull."""
    most = max(pulls, key=itemgetter(2), default=None)
    return most if most is not None and sum(pull[2] == most[2] for pull in pulls) == 1 else None
