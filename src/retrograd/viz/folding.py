"""Which groups of a large graph are open at first, and a graph in which the other groups are one node each."""

from __future__ import annotations

from collections.abc import Sequence

from .graphs import Calls, Drawn, DrawnNode, shared
from .groups import Group, groups_of

_BOXES = 60                      # as many are easy to survey
_FEW = 6                         # a graph of fewer boxes says little, so that the next group may be large
_BLOCKS = 8                      # a run of more blocks is one box of the picture of a large graph


def open_at_first(groups: Sequence[Group], nodes: int, runs: bool = True) -> list[int]:
    """The groups that are open at first: from the outside in, as many as leave the graph easy to survey.

    In a large graph, blocks that equal an earlier block are folded, and so are the steps of a loop. With `runs`, a long
    run of blocks is open, so that it shows one box for each block; otherwise it is one box.
    """
    known, boxes = [0], len(groups[0].children)
    for number in known:
        for inner in [-child for child in groups[number].children if child < 0]:
            group = groups[inner]
            more = len(group.children) - 1
            most = _BOXES if boxes >= _FEW else 8 * _BOXES
            run = runs and group.repeats > 1
            part = group.alike is not None or group.step is not None or group.repeats > _BLOCKS
            if run or (boxes + more <= most and not (part and nodes > _BOXES)):
                known.append(inner)
                boxes += more
    return sorted(known)


def folded(graph: Drawn) -> Drawn:
    """The graph with one node, of the kind "group", for each group that is not open at first.

    The leaves that the parts of a folded run share are shown beside the run.
    """
    groups = groups_of(graph, runs=True)
    is_open = {*open_at_first(groups, len(graph.nodes), runs=False)}
    outermost: list[int | None] = [None] * len(groups)   # the outermost folded group that holds a group
    for number, group in enumerate(groups[1:], 1):
        above = outermost[group.parent or 0]
        outermost[number] = number if above is None and number not in is_open else above
    held: dict[int, list[int]] = {}                      # the nodes in each folded group
    home: list[int | None] = [None] * len(graph.nodes)
    for number, group in enumerate(groups):
        within = outermost[number]
        if within is not None:
            for child in group.children:
                if child >= 0 and not (within == number and group.repeats > 1 and graph.nodes[child].kind == "leaf"):
                    home[child] = within
                    held.setdefault(within, []).append(child)
    return _contracted(graph, groups, home, held) if held else graph


def _contracted(graph: Drawn, groups: Sequence[Group], home: Sequence[int | None],
                held: dict[int, list[int]]) -> Drawn:
    """The graph in which the nodes that are `held` by a group are one node."""
    place: dict[int, int] = {}                           # of a node, or of -g for a group, among the nodes shown
    firsts: list[int] = []                               # one node of the graph for each node shown
    for i, within in enumerate(home):
        key = i if within is None else -within
        if key not in place:
            place[key] = len(place)
            firsts.append(i)
    values: dict[int, dict[tuple[int, int], int]] = {number: {} for number in held}

    def target(link: tuple[int, int]) -> tuple[int, int]:
        within = home[link[0]]
        if within is None:
            return place[link[0]], link[1]
        return place[-within], values[within].setdefault(link, len(values[within]))

    outputs = [target(link) for link in graph.outputs]
    links: list[dict[tuple[int, int], None] | list[tuple[int, int] | None]] = []
    for i in firsts:
        within = home[i]
        if within is None:
            links.append([None if link is None else target(link) for link in graph.nodes[i].links])
        else:
            links.append(dict.fromkeys([target(link) for one in held[within] for link in graph.nodes[one].links
                                        if link is not None and home[link[0]] != within]))
    nodes = []
    for i, found in zip(firsts, links):
        within, node = home[i], graph.nodes[i]
        if within is None:
            nodes.append(node._replace(links=[*found]))
        else:
            inner = [graph.nodes[one] for one in held[within]]
            shapes = [graph.nodes[maker].shapes[output] for maker, output in values[within]]
            dtypes = [graph.nodes[maker].dtypes[output] for maker, output in values[within]]
            nodes.append(DrawnNode("group", f"{len(inner)} nodes", _title(groups[within]), shapes, dtypes, [*found],
                                   _around(groups[within], inner), False))
    return Drawn(nodes, [graph.live[i] for i in firsts], outputs)


def _title(group: Group) -> str:
    times = f" × {group.repeats}" if group.repeats > 1 else ""
    return " ".join(filter(None, [group.path, group.kind])) + times


def _around(group: Group, inner: Sequence[DrawnNode]) -> Calls:
    """The calls around a group: the calls that all its nodes share, without the group's own call."""
    calls: Calls | None = None
    for node in inner:
        if node.kind != "leaf":
            calls = node.calls if calls is None else tuple(shared(calls, node.calls))
    calls = calls or ()
    own = calls and (calls[-1].path, calls[-1].kind) == (group.path, group.kind)
    return calls[:-1] if own else calls
