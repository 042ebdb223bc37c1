"""The modules of a graph as a tree of groups, and the layered layout of each group.

A group is one call of a module. Its children are nodes and other groups, and it has a layout of its own, in which they
are boxes. So a group may be drawn open, or folded to one box, without another layout. An edge that crosses the border
of a group goes on inside at a *port*: a point on the first rank for an edge that comes in, on the last rank for an edge
that goes out. There is one port for each value.

Nodes that stand next to each other in the engine's order form a group. Therefore groups never form a cycle, whatever
the modules are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .graphs import Call, Drawn, shared
from .layers import Layers, layered
from .runs import Run, runs_in

Value = tuple[int, int]          # a node, and the number of its output

_EMPTY = Layers(0, 0, [], [])


@dataclass
class Group:
    """One group. Group 0 is the whole graph.

    `children` are numbers of nodes, or -g for group g. `ports` are (edge of the parent, place) pairs, and `edges` says
    for each edge of `layers` which value it is about. `alike` is the first group with the same structure, if there is
    an earlier one. `repeats` is 1, but a group around a run of equal groups says how many they are.
    """

    path: str
    kind: str
    parent: int | None
    children: list[int] = field(default_factory=list)
    layers: Layers = _EMPTY
    ports: list[tuple[int, int]] = field(default_factory=list)
    edges: list[Value] = field(default_factory=list)
    alike: int | None = None
    repeats: int = 1
    step: int | None = None


def groups_of(graph: Drawn, runs: bool = False) -> list[Group]:
    """The groups of a graph, each parent before its children; with `runs`, also groups around runs of equal parts."""
    groups, home = _tree(graph)
    if runs:
        groups, home = _with_runs(graph, groups, home)
    _house_leaves(graph, groups, home)
    groups, home = _without_single(groups, home)
    contents = [_Content(group) for group in groups]
    for user, node in enumerate(graph.nodes):
        for link in node.links:
            if link is not None:
                _connect(groups, contents, home, user, link)
    _find_alike(graph, groups, contents)
    for number in range(len(groups)):
        _lay_out(graph, groups, contents, number)
    return groups


def groups_as_data(groups: list[Group]) -> list[dict[str, Any]]:
    """The groups of a graph for the explorer's document."""
    return [{"path": group.path, "class": group.kind, "parent": group.parent,
             "children": [{"node": child} if child >= 0 else {"group": -child} for child in group.children],
             "points": group.layers.points, "ranks": group.layers.ranks, "edges": group.layers.edges,
             "ports": [[*port] for port in group.ports], "alike": group.alike, "repeats": group.repeats,
             "step": group.step} for group in groups]


# The tree


def _tree(graph: Drawn) -> tuple[list[Group], list[int]]:
    """The groups, and for each node the number of the group that it is a child of."""
    groups = [Group("", "", None)]
    home = [0] * len(graph.nodes)
    opened: list[tuple[Call, int]] = []
    for i, node in enumerate(graph.nodes):
        if node.kind == "leaf":
            continue
        same = len(shared([call for call, _ in opened], node.calls))
        del opened[same:]
        for call in node.calls[same:]:
            groups.append(Group(call.path, call.kind, opened[-1][1] if opened else 0))
            opened.append((call, len(groups) - 1))
        home[i] = opened[-1][1] if opened else 0
    return groups, home


def _with_runs(graph: Drawn, groups: list[Group], home: list[int]) -> tuple[list[Group], list[int]]:
    """The tree with a group around each run of equal parts: modules with the nodes between them, or a loop's nodes."""
    inside: list[list[int]] = [[] for _ in groups]       # in the engine's order
    met = {0}
    for i, node in enumerate(graph.nodes):
        child, number = i, home[i]
        while node.kind != "leaf":
            inside[number].append(child)
            if number in met:
                break
            met.add(number)
            child, number = -number, groups[number].parent or 0
    known: dict[Any, int] = {}
    look: list[Any] = [0] * len(groups)
    for number in range(len(groups) - 1, -1, -1):
        items = [(graph.nodes[child].name, *graph.nodes[child].shapes) if child >= 0 else look[-child]
                 for child in inside[number]]
        look[number] = known.setdefault((groups[number].kind, *items), len(known))
        for run in runs_in(items, [child < 0 for child in inside[number]]):
            _wrap(groups, home, inside[number][run.start: run.end], number, run)
    return _renumbered(groups, home)


def _wrap(groups: list[Group], home: list[int], members: list[int], parent: int, run: Run) -> None:
    """Put a group around a run, and one around each step of a loop that is no group. The newest step comes first.

    A run is a loop if it calls a module again, or no module.
    """
    held = [groups[-child] for child in members if child < 0]
    paths, kinds = [group.path for group in held], {group.kind for group in held}
    loop = len({*paths}) < len(paths) or not paths
    kind = "loop" if not held else kinds.pop() if len(kinds) == 1 else ""
    path = "" if not paths else paths[0] if paths[-1] == paths[0] else f"{paths[-1]} … {paths[0]}"
    around = Group(path, kind, parent, repeats=run.times)
    groups.append(around)
    number = len(groups) - 1
    for place in range(run.times):
        part, outer = members[place * run.length: (place + 1) * run.length], number
        if loop and run.length > 1:
            groups.append(Group("", "iteration", number))
            outer = len(groups) - 1
        for child in part:
            if child >= 0:
                home[child] = outer
            else:
                groups[-child].parent = outer
        step = groups[-part[0]] if outer == number and part[0] < 0 else groups[outer]
        if loop and step is not around:
            step.step = run.times - place


def _renumbered(groups: list[Group], home: list[int]) -> tuple[list[Group], list[int]]:
    """The same tree, with each parent before its children."""
    below: list[list[int]] = [[] for _ in groups]
    for number, group in enumerate(groups[1:], 1):
        below[group.parent or 0].append(number)
    place: dict[int, int] = {}
    stack = [0]
    while stack:
        number = stack.pop()
        place[number] = len(place)
        stack += reversed(below[number])
    for group in groups[1:]:
        group.parent = place[group.parent or 0]
    return [groups[number] for number in place], [place[number] for number in home]


def _house_leaves(graph: Drawn, groups: list[Group], home: list[int]) -> None:
    """Put each leaf into the innermost group that holds all its users."""
    housed = [False] * len(home)
    for i, node in enumerate(graph.nodes):
        for link in node.links:
            if link is not None and graph.nodes[link[0]].kind == "leaf":
                leaf = link[0]
                home[leaf] = _common(groups, home[leaf], home[i]) if housed[leaf] else home[i]
                housed[leaf] = True


def _common(groups: list[Group], a: int, b: int) -> int:
    """The innermost group around two groups. A parent has a lower number than its children."""
    while a != b:
        if a > b:
            a = groups[a].parent or 0
        else:
            b = groups[b].parent or 0
    return a


def _without_single(groups: list[Group], home: list[int]) -> tuple[list[Group], list[int]]:
    """The tree without groups that hold nothing but one node or one group."""
    members = [0] * len(groups)
    for number in home:
        members[number] += 1
    for group in groups[1:]:
        members[group.parent or 0] += 1
    into = [*range(len(groups))]                         # where the children of a group that is left out belong
    place: dict[int, int] = {}                           # of each group that is kept
    kept: list[Group] = []
    for i, group in enumerate(groups):
        outer = 0 if group.parent is None else into[group.parent]
        if i and members[i] == 1:
            into[i] = outer
        else:
            place[i] = len(kept)
            kept.append(Group(group.path, group.kind, None if group.parent is None else place[outer],
                              repeats=group.repeats, step=group.step))
    home = [place[into[number]] for number in home]
    for i, number in enumerate(home):
        kept[number].children.append(i)
    for i, one in enumerate(kept[1:], 1):
        kept[one.parent or 0].children.append(-i)
    return kept, home


# The edges inside each group


class _Content:
    """The edges between the places of a group, before its layout. Ports come after the children."""

    def __init__(self, group: Group) -> None:
        self.place = {child: i for i, child in enumerate(group.children)}
        self.total = len(group.children)
        self.entries: dict[Value, int] = {}
        self.exits: dict[Value, int] = {}
        self.edges: dict[tuple[int, int, Value], None] = {}
        # After the layout, for each group inside, the ends of edges at its box: the number of the edge, its value,
        # whether it leads out of the box, and where in its rank the nearest place of the edge stands.
        self.around: dict[int, list[tuple[int, Value, bool, int]]] = {}

    def port(self, ports: dict[Value, int], value: Value) -> int:
        """The place of the port for a value; a new place on first use."""
        if value not in ports:
            ports[value] = self.total
            self.total += 1
        return ports[value]


def _connect(groups: list[Group], contents: list[_Content], home: list[int], user: int, value: Value) -> None:
    """Add the edge from a user to a value, with a port in every group whose border it crosses."""
    maker = value[0]
    common = _common(groups, home[user], home[maker])
    upper = user
    for group in _up(groups, home[user], common):
        content = contents[group]
        content.edges[content.place[upper], content.port(content.exits, value), value] = None
        upper = -group
    lower = maker
    for group in _up(groups, home[maker], common):
        content = contents[group]
        content.edges[content.port(content.entries, value), content.place[lower], value] = None
        lower = -group
    place = contents[common].place
    contents[common].edges[place[upper], place[lower], value] = None


def _up(groups: list[Group], group: int, stop: int) -> Iterator[int]:
    while group != stop:
        yield group
        group = groups[group].parent or 0


def _find_alike(graph: Drawn, groups: list[Group], contents: list[_Content]) -> None:
    """Note which groups have the structure of an earlier group: the same class, nodes, shapes and edges."""
    structure: list[int] = [0] * len(groups)
    known: dict[Any, int] = {}
    for i in range(len(groups) - 1, 0, -1):
        inside = [(graph.nodes[child].name, tuple(graph.nodes[child].shapes)) if child >= 0 else structure[-child]
                  for child in groups[i].children]
        edges = [(upper, lower) for upper, lower, _ in contents[i].edges]
        structure[i] = known.setdefault((groups[i].kind, tuple(inside), tuple(edges)), len(known))
    first: dict[int, int] = {}
    for i in range(1, len(groups)):
        if first.setdefault(structure[i], i) != i:
            groups[i].alike = first[structure[i]]


def _lay_out(graph: Drawn, groups: list[Group], contents: list[_Content], number: int) -> None:
    """Give a group its layout. Its ports stand in the order of their edges in the parent, which has its layout."""
    group, content = groups[number], contents[number]
    entries, exits, ports = [*content.entries.values()], [*content.exits.values()], []
    if group.parent is not None:
        order = dict.fromkeys([*entries, *exits], 0)
        for edge, value, leaves, position in contents[group.parent].around.get(-number, ()):
            port = content.exits[value] if leaves else content.entries[value]
            ports.append((edge, port))
            order[port] = position
        entries.sort(key=order.__getitem__)
        exits.sort(key=order.__getitem__)
    inside = len(group.children)
    leans = [(output + 0.5) / len(graph.nodes[maker].shapes) - 0.5 if lower < inside and group.children[lower] == maker
             else 0.0 for _, lower, (maker, output) in content.edges]
    found = layered(content.total, [*content.edges], entries, exits, leans)
    group.layers = found._replace(boxes=inside, points=found.points + content.total - inside)
    group.ports, group.edges = ports, [value for _, _, value in content.edges]
    _note_around(group, content)


def _note_around(group: Group, content: _Content) -> None:
    """Note the edges around each group inside, which the layout of that group asks for."""
    inside, layers = len(group.children), group.layers
    position = {place: i for rank in layers.ranks for i, place in enumerate(rank)}
    for edge, (path, value) in enumerate(zip(layers.edges, group.edges)):
        for box, near, leaves in ((path[0], path[1], True), (path[-1], path[-2], False)):
            if box < inside and group.children[box] < 0:
                content.around.setdefault(group.children[box], []).append((edge, value, leaves, position[near]))
