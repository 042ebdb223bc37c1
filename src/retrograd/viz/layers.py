"""The layered layout of a graph: ranks, and the order in each rank.

The layout knows boxes by number, and nothing of what they stand for. An edge leads from the user of a value down to
its maker. The steps are those of Sugiyama: each box gets a rank below all its users; an edge over several ranks gets a
*point* on each rank between; and sweeps over the ranks reduce crossings. Nothing recurses, and the time is nearly
linear. The same graph always gives the same layout.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

# An edge: the user, the maker, and the value that it is about. Edges of one value to one maker share their points.
Edge = tuple[int, int, Hashable]

_SWEEPS = 12                    # of crossing reduction, at most
_WORK = 120_000                 # places that all sweeps of crossing reduction together may visit
_POINTS = (4, 2000)             # at most so many points for each box, and so many more



class Layers(NamedTuple):
    """Boxes and points in their ranks.

    Places below `boxes` are boxes, and the next `points` places are points. `ranks` lists the places of each rank in
    order. An edge is the list of its places, one on each rank. It ends early, at a point, where it joins an edge of the
    same value. A very long edge may skip ranks.
    """

    boxes: int
    points: int
    ranks: list[list[int]]
    edges: list[list[int]]


def layered(boxes: int, edges: Sequence[Edge], entries: Sequence[int] = (), exits: Sequence[int] = (),
            leans: Sequence[float] = ()) -> Layers:
    """The ranks and the order of the boxes 0 to `boxes` - 1.

    The boxes in `entries` are the first rank, and those in `exits` are the last rank, both in the given order. `leans`
    says for each edge how far from the middle of its maker the edge ends, between -0.5 and 0.5. The edges must not form
    a cycle.
    """
    rank_of = _ranks(boxes, edges, entries, exits)
    paths, rank_of = _with_points(boxes, edges, rank_of)
    above, below = _neighbors(paths, rank_of)
    ranks = _first_order(rank_of, above, below, entries, exits)
    fixed = {number for number, given in ((0, entries), (len(ranks) - 1, exits)) if given}
    aside = _lean(paths, below, leans, boxes)
    return Layers(boxes, len(rank_of) - boxes, _with_few_crossings(ranks, above, below, aside, fixed), paths)


def _ranks(boxes: int, edges: Sequence[Edge], entries: Sequence[int], exits: Sequence[int]) -> list[int]:
    """The rank of each box: below all its users, and near its makers if it has more makers than users."""
    makers: list[list[int]] = [[] for _ in range(boxes)]
    users = [0] * boxes
    for user, maker, _ in edges:
        makers[user].append(maker)
        users[maker] += 1
    rank_of = [1 if entries else 0] * boxes
    for box in entries:
        rank_of[box] = 0
    waiting = [*users]
    order = [box for box in range(boxes) if not waiting[box]]
    for box in order:
        for maker in makers[box]:
            rank_of[maker] = max(rank_of[maker], rank_of[box] + 1)
            waiting[maker] -= 1
            if not waiting[maker]:
                order.append(maker)
    if len(order) < boxes:
        raise ValueError("the edges form a cycle")
    if exits:
        last = 1 + max((rank_of[box] for box in set(range(boxes)).difference(exits)), default=-1)
        for box in exits:
            rank_of[box] = last
    kept = {*entries, *exits}
    for box in reversed(order):
        if len(makers[box]) > users[box] and box not in kept:
            rank_of[box] = min(rank_of[maker] for maker in makers[box]) - 1
    return rank_of


def _with_points(boxes: int, edges: Sequence[Edge], rank_of: list[int]) -> tuple[list[list[int]], list[int]]:
    """The places of each edge, and the ranks of all places."""
    highest: dict[tuple[int, Hashable], int] = {}        # the rank of the first user of a value
    for user, maker, value in edges:
        highest[maker, value] = min(highest.get((maker, value), rank_of[maker]), rank_of[user])
    each, more = _POINTS
    left = each * boxes + more
    rank_of, chains = [*rank_of], {}
    for key, top in sorted(highest.items(), key=lambda item: rank_of[item[0][0]] - item[1]):     # the shortest first
        length = rank_of[key[0]] - top - 1
        left -= length
        if left < 0:
            break
        chains[key] = range(len(rank_of), len(rank_of) + length), top + 1
        rank_of += range(top + 1, top + 1 + length)
    joined: set[tuple[int, Hashable]] = set()
    paths: list[list[int]] = [[] for _ in edges]
    for index in sorted(range(len(edges)), key=lambda index: rank_of[edges[index][0]]):
        user, maker, value = edges[index]
        points, top = chains.get((maker, value), (range(0), 0))
        rest = points[rank_of[user] + 1 - top:]
        if (maker, value) in joined and rest:
            paths[index] = [user, rest[0]]
        else:
            paths[index] = [user, *rest, maker]
            joined.add((maker, value))
    return paths, rank_of


def _neighbors(paths: list[list[int]], rank_of: list[int]) -> tuple[list[list[int]], list[list[int]]]:
    """The places that a place is joined with on the rank above it, and on the rank below it."""
    above: list[list[int]] = [[] for _ in rank_of]
    below: list[list[int]] = [[] for _ in rank_of]
    for path in paths:
        for upper, lower in pairwise(path):
            if rank_of[lower] == rank_of[upper] + 1:
                above[lower].append(upper)
                below[upper].append(lower)
    return above, below


def _first_order(rank_of: list[int], above: list[list[int]], below: list[list[int]], entries: Sequence[int],
                 exits: Sequence[int]) -> list[list[int]]:
    """The ranks in the order in which a walk, depth first, meets the places. For a tree there are no crossings."""
    ranks: list[list[int]] = [[] for _ in range(max(rank_of, default=-1) + 1)]
    seen: set[int] = set()
    first = [*entries, *(place for place in range(len(rank_of)) if not above[place])]
    stack = first[::-1]
    while stack:
        place = stack.pop()
        if place not in seen:
            seen.add(place)
            ranks[rank_of[place]].append(place)
            stack += reversed(below[place])
    if exits:
        ranks[-1] = [*exits]
    return ranks


# For each box that edges end at aside of its middle: the numbers of these ends, and how far aside they are.
_Aside = dict[int, list[tuple[int, float]]]


def _lean(paths: list[list[int]], below: list[list[int]], leans: Sequence[float], boxes: int) -> _Aside:
    """Give the ends of leaning edges numbers of their own, above those of the places, and put them into `below`."""
    aside: _Aside = {}
    number = len(below)
    for path, lean in zip(paths, leans):
        if lean and path[-1] < boxes and path[-1] in below[path[-2]]:
            near = below[path[-2]]
            near[near.index(path[-1])] = number
            aside.setdefault(path[-1], []).append((number, lean))
            number += 1
    return aside


def _with_few_crossings(ranks: list[list[int]], above: list[list[int]], below: list[list[int]], aside: _Aside,
                        fixed: set[int]) -> list[list[int]]:
    """The ranks, sorted again and again by the mean position of the neighbors; the best order that occurs."""
    places = sum(map(len, ranks))
    position = [0.0] * (places + sum(map(len, aside.values())))
    for rank in ranks:
        _number(rank, position, aside)
    best, fewest, idle = [[*rank] for rank in ranks], _crossings(ranks, below, position), 0
    for sweep in range(max(2, min(_SWEEPS, _WORK // (places or 1)))):
        if fewest == 0 or idle == 4:
            break
        downward = sweep % 2 == 0
        numbers = range(1, len(ranks)) if downward else range(len(ranks) - 2, -1, -1)
        for number in numbers:
            if number not in fixed:
                _sort(ranks[number], above if downward else below, position, aside)
        found = _crossings(ranks, below, position)
        idle += 1
        if found < fewest:
            best, fewest, idle = [[*rank] for rank in ranks], found, 0
    return best


def _sort(rank: list[int], neighbors: list[list[int]], position: list[float], aside: _Aside) -> None:
    """Sort a rank by the mean position of the neighbors. A place without neighbors keeps its position."""
    keys = []
    for i, place in enumerate(rank):
        near = neighbors[place]
        keys.append((sum([position[other] for other in near]) / len(near) if near else float(i), place))
    keys.sort(key=itemgetter(0))
    rank[:] = [place for _, place in keys]
    _number(rank, position, aside)


def _number(rank: list[int], position: list[float], aside: _Aside) -> None:
    """Note the positions of the places of a rank, and of the ends of edges at them."""
    for i, place in enumerate(rank):
        position[place] = i
        for end, lean in aside.get(place, ()) if aside else ():
            position[end] = i + lean


def _crossings(ranks: list[list[int]], below: list[list[int]], position: list[float]) -> int:
    """How many pairs of edges between neighboring ranks cross."""
    count = 0
    for rank in ranks:
        ends: list[float] = []                           # of the edges further left, sorted
        for place in rank:
            for end in sorted([position[other] for other in below[place]]):
                at = bisect_right(ends, end)
                count += len(ends) - at
                ends.insert(at, end)
    return count
