"""The layered layout: for random graphs, what every layout must hold; and how long large graphs take."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from retrograd.viz.coordinates import Gaps, coordinates
from retrograd.viz.graphs import Call, Drawn, DrawnNode
from retrograd.viz.groups import Group, groups_as_data, groups_of
from retrograd.viz.layers import Layers, layered
from retrograd.viz.placing import HEAD, Box, Placed, placed
from retrograd.viz.runs import Run, runs_in

GAPS = Gaps(20, 14, 26)
Edges = list[tuple[int, int, Any]]


@st.composite
def dags(draw: st.DrawFn) -> tuple[int, Edges]:
    """A graph whose edges lead from lower numbers to higher numbers, with the maker as the value."""
    count = draw(st.integers(0, 24))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] < pair[1])
    chosen = draw(st.lists(pairs, max_size=50, unique=True)) if count > 1 else []
    return count, [(user, maker, maker) for user, maker in chosen]


def rank_of(layers: Layers) -> dict[int, int]:
    return {place: number for number, rank in enumerate(layers.ranks) for place in rank}


@given(dags())
def test_every_edge_leads_down_rank_by_rank_to_its_maker(graph: tuple[int, Edges]) -> None:
    count, edges = graph
    layers = layered(count, edges)
    ranks = rank_of(layers)
    assert sorted(place for rank in layers.ranks for place in rank) == [*range(count + layers.points)]
    assert all(layers.ranks)
    assert len(layers.edges) == len(edges)
    after: dict[int, int] = {}                           # where the line through a point goes on
    for path in layers.edges:
        assert all(ranks[lower] == ranks[upper] + 1 for upper, lower in pairwise(path))
        after.update((upper, lower) for upper, lower in pairwise(path) if upper >= count)
    for (user, maker, _), path in zip(edges, layers.edges):
        assert path[0] == user
        assert all(place >= count for place in path[1:-1])
        end = path[-1]
        while end >= count:
            end = after[end]
        assert end == maker


@given(dags(), st.data())
def test_boxes_of_a_rank_keep_their_distance(graph: tuple[int, Edges], data: st.DataObject) -> None:
    count, edges = graph
    sizes = data.draw(st.lists(st.tuples(st.floats(10, 300), st.floats(10, 90)), min_size=count, max_size=count))
    layers = layered(count, edges)
    found = coordinates(layers, sizes, GAPS)
    widths = [width for width, _ in sizes] + [0.0] * layers.points
    for rank in layers.ranks:
        for left, right in pairwise(rank):
            gap = GAPS.boxes if right < count and left < count else GAPS.points
            assert found.x[right] - found.x[left] >= (widths[left] + widths[right]) / 2 + gap - 1e-6
    assert all(top - bottom >= GAPS.ranks - 1e-6 for bottom, top in zip(found.bottoms, found.tops[1:]))
    edges_of = [(x - width / 2, x + width / 2) for x, width in zip(found.x, widths)]
    assert min([left for left, _ in edges_of], default=0) == pytest.approx(0, abs=1e-6)
    assert max([right for _, right in edges_of], default=0) == pytest.approx(found.width, abs=1e-6)


@given(dags())
def test_a_layout_is_the_same_every_time(graph: tuple[int, Edges]) -> None:
    count, edges = graph
    assert layered(count, edges) == layered(count, edges)


@given(dags(), st.permutations(range(3)), st.permutations(range(3)))
def test_entries_and_exits_keep_their_order(graph: tuple[int, Edges], ins: list[int], outs: list[int]) -> None:
    count, edges = graph
    entries, exits = [count + i for i in ins], [count + 3 + i for i in outs]
    borders = [(entry, i % count, i) for i, entry in enumerate(sorted(entries)) if count]
    borders += [(i % count, way, way) for i, way in enumerate(sorted(exits)) if count]
    layers = layered(count + 6, edges + borders, entries, exits)
    assert (layers.ranks[0], layers.ranks[-1]) == (entries, exits)


def test_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="the edges form a cycle"):
        layered(2, [(0, 1, 1), (1, 0, 0)])


def test_a_tree_has_no_crossing_and_a_chain_is_straight() -> None:
    tree = [((child - 1) // 2, child, child) for child in range(1, 31)]
    layers = layered(31, tree)
    assert layers.points == 0
    for upper, lower in pairwise(layers.ranks):
        assert [(child - 1) // 2 for child in lower] == sorted([(child - 1) // 2 for child in lower], key=upper.index)
    chain = [(i, i + 1, i + 1) for i in range(9)] + [(i, 10 + i, 10 + i) for i in range(9)]
    found = coordinates(layered(19, chain), [(40.0 + 10 * (i % 3), 20.0) for i in range(19)], GAPS)
    assert found.x[:9] == pytest.approx([found.x[0]] * 9)


@pytest.mark.parametrize("more", [0, 1])
def test_a_loop_that_uses_one_leaf_is_straight(more: int) -> None:
    """The edges to the leaf run together beside the loop, and lead as deep as the loop, or deeper by one."""
    count = 40
    loop = [(i, i + 1, i + 1) for i in range(count - 1)] + [(i, count, count) for i in range(count)]
    found = coordinates(layered(count + 1 + more, [*loop, *[(count, count + 1, count + 1)][:more]]),
                        [(40.0 + 10 * (i % 3), 20.0) for i in range(count + 1 + more)], GAPS)
    assert found.x[:count - 1] == pytest.approx([found.x[0]] * (count - 1))
    assert found.width < 200


def test_crossings_are_reduced() -> None:
    """Two rows of six with edges that reverse their order: sorting removes every crossing."""
    edges = [(0, 1 + i, 1 + i) for i in range(6)] + [(1 + i, 12 - i, 12 - i) for i in range(6)]
    _, first, second = layered(13, edges).ranks
    assert [13 - place for place in second] == first


def test_users_stand_in_the_order_of_the_outputs_that_they_use() -> None:
    """A box below uses the outputs 3, 2, 1 and 0 of another box, from left to right."""
    edges = [(0, user, user) for user in range(1, 5)] + [(user, 5, (5, 4 - user)) for user in range(1, 5)]
    leans = [0.0] * 4 + [(4 - user) / 4 - 0.375 for user in range(1, 5)]
    assert layered(6, edges, leans=leans).ranks[1] == [4, 3, 2, 1]
    assert layered(6, edges).ranks[1] == [1, 2, 3, 4]


# Groups

MODULES = st.lists(st.sampled_from("ab"), max_size=3).map(lambda names: tuple(
    [Call(".".join(names[: i + 1]), "Block") for i in range(len(names))]))


@st.composite
def graphs(draw: st.DrawFn) -> Drawn:
    """A gradient graph in modules that are called in any order, with leaves and with several outputs."""
    count = draw(st.integers(1, 16))
    outputs = [draw(st.integers(1, 3)) for _ in range(count)]
    nodes = []
    for i in range(count):
        below = draw(st.lists(st.integers(i + 1, count - 1), max_size=3)) if i + 1 < count else []
        links: list[tuple[int, int] | None] = [(child, draw(st.integers(0, outputs[child] - 1))) for child in below]
        kind = "operator" if links else "leaf"
        nodes.append(DrawnNode(kind, "Node", "Node", [()] * outputs[i], ["float32"] * outputs[i], [*links, None],
                               draw(MODULES) if links else (), False))
    return Drawn(nodes, [], [(0, 0)])


def sizes(graph: Drawn) -> list[tuple[float, float]]:
    return [(60.0 + 7 * (i % 5), 40.0) for i in range(len(graph.nodes))]


def picture(graph: Drawn) -> tuple[list[Group], Placed]:
    groups = groups_of(graph)
    return groups, placed(graph, groups, sizes(graph), [50.0] * len(groups))


def apart(one: Box, other: Box) -> bool:
    return (one.left + one.width <= other.left or other.left + other.width <= one.left
            or one.top + one.height <= other.top or other.top + other.height <= one.top)


def inside(one: Box, other: Box) -> bool:
    return (one.left >= other.left - 1e-6 and one.top >= other.top - 1e-6
            and one.left + one.width <= other.left + other.width + 1e-6
            and one.top + one.height <= other.top + other.height + 1e-6)


@given(graphs())
def test_no_boxes_overlap_and_frames_hold_their_own(graph: Drawn) -> None:
    groups, found = picture(graph)
    boxes = [*found.boxes.values()]
    assert sorted(found.boxes) == [*range(len(graph.nodes))]
    assert all(apart(one, other) for i, one in enumerate(boxes) for other in boxes[:i])
    for group, frame in zip(groups, found.frames):
        mine = [found.boxes[child] if child >= 0 else found.frames[-child] for child in group.children]
        assert all(inside(box, frame) for box in mine)
        assert all(apart(one, other) for i, one in enumerate(mine) for other in mine[:i])


@given(graphs())
@settings(max_examples=2 * settings().max_examples)
def test_every_value_is_joined_with_its_users_by_lines(graph: Drawn) -> None:
    """Follow the lines of each value from its users down: they end at the box of the maker, and only there."""
    _, found = picture(graph)
    links = {(user, link) for user, node in enumerate(graph.nodes) for link in node.links if link is not None}
    begun = {(line.user, line.value) for line in found.lines if line.user is not None}
    assert begun == links
    for line in found.lines:
        ys = [y for _, *stretch in line.stretches for y in stretch]
        assert all(before <= after + 1e-6 for before, after in pairwise(ys))
        if line.user is not None:
            assert line.stretches[0][0] == pytest.approx(found.boxes[line.user].middle)
            assert line.stretches[0][1] == pytest.approx(found.boxes[line.user].top + found.boxes[line.user].height)
        if line.maker is not None:
            box, (x, _, end) = found.boxes[line.maker], line.stretches[-1]
            assert line.maker == line.value[0]
            assert box.left < x < box.left + box.width
            assert end == pytest.approx(box.top)
    for value in {line.value for line in found.lines}:
        mine = [line for line in found.lines if line.value == value]
        for line in mine:
            if line.maker is None:                       # another line goes on from where this line ends
                x, _, end = line.stretches[-1]
                assert any(abs(x - on[0]) < 1e-6 and on[1] - 1e-6 <= end <= on[2] + 1e-6
                           for other in mine if other is not line for on in other.stretches)


@given(graphs())
def test_lines_pass_no_boxes(graph: Drawn) -> None:
    _, found = picture(graph)
    for line in found.lines:
        for x, start, end in line.stretches:
            for i, box in found.boxes.items():
                if i not in (line.user, line.maker):
                    assert apart(Box(x, start, 0, end - start), box)


@given(graphs())
def test_groups_are_a_tree_whose_data_is_complete(graph: Drawn) -> None:
    data = groups_as_data(groups_of(graph, runs=True))
    assert [group["parent"] is None for group in data] == [True] + [False] * (len(data) - 1)
    assert sorted(child["node"] for group in data for child in group["children"] if "node" in child) == [
        *range(len(graph.nodes))]
    for number, group in enumerate(data[1:], 1):
        assert group["parent"] < number
        assert {"group": number} in data[group["parent"]]["children"]
        assert len(group["children"]) > 1
        assert group["alike"] is None or 0 < group["alike"] < number
        outer = data[group["parent"]]["edges"]
        place = data[group["parent"]]["children"].index({"group": number})
        assert [edge for edge, _ in group["ports"]] == [
            edge for edge, path in enumerate(outer) if place in (path[0], path[-1])]


def test_a_picture_of_a_single_node_is_its_box() -> None:
    one = Drawn([DrawnNode("leaf", "AccumulateGrad", "x", [(3,)], ["float32"], [], (), False)], [], [(0, 0)])
    groups, found = picture(one)
    assert [group.children for group in groups] == [[0]]
    assert (found.boxes[0], found.frames, found.lines) == (Box(0, 0, 60, 40), [Box(0, 0, 60, 40)], [])


def test_a_frame_has_room_for_its_title() -> None:
    call = (Call("block", "Block"),)
    nodes = [DrawnNode("operator", "A", "A", [()], ["float32"], [(1, 0), (2, 0)], call, False),
             DrawnNode("leaf", "B", "B", [()], ["float32"], [], (), False),
             DrawnNode("leaf", "C", "C", [()], ["float32"], [], (), False)]
    others = [DrawnNode("operator", "D", "D", [()], ["float32"], [(3, 0)], (), False),
              DrawnNode("leaf", "E", "E", [()], ["float32"], [], (), False)]
    shifted = [node._replace(links=[(link[0] + 2, link[1]) for link in node.links if link is not None])
               for node in nodes]
    groups, found = picture(Drawn([others[0]._replace(links=[(1, 0)]), others[1], *shifted], [], [(0, 0), (2, 0)]))
    assert [group.path for group in groups] == ["", "block"]
    assert found.boxes[2].top - found.frames[1].top == HEAD


# Runs


@given(st.text("ab", max_size=3), st.text("ab", min_size=1, max_size=4), st.integers(3, 6), st.text("ab", max_size=3))
def test_runs_are_repetitions_that_do_not_overlap(before: str, pattern: str, times: int, after: str) -> None:
    text = before + pattern * times + after
    runs = runs_in(text, [True] * len(text))
    assert runs
    for run in runs:
        assert run.times >= 3
        assert text[run.start: run.end] == text[run.start: run.start + run.length] * run.times
    assert all(one.end <= other.start for one, other in pairwise(runs))
    assert all(run.times >= 8 and run.end - run.start >= 24 for run in runs_in(text, [False] * len(text)))


def test_a_pattern_without_a_mark_is_a_run_if_there_is_much_of_it() -> None:
    assert runs_in("x" + "ab" * 12 + "y", [False] * 26) == [Run(1, 2, 12)]
    assert runs_in("ab" * 11, [False] * 22) == []
    assert runs_in("abcdefgh" * 7, [False] * 56) == []
    assert runs_in("abcdefgh" * 8, [False] * 64) == [Run(0, 8, 8)]


def test_the_pattern_that_covers_most_is_a_run() -> None:
    assert runs_in("xabababy", [True] * 8) == [Run(1, 2, 3)]
    assert runs_in("aabaabaab", [True] * 9) == [Run(0, 3, 3)]
    assert runs_in("aaaaaa", [True] * 6) == [Run(0, 1, 6)]
    assert runs_in("abab", [True] * 4) == []


def test_equal_blocks_in_a_row_have_a_group_around_them() -> None:
    """Four residual blocks with additions between them, and something before and after them."""
    nodes: list[DrawnNode] = []

    def node(name: str, links: list[int], *calls: Call) -> None:
        nodes.append(DrawnNode("operator" if links else "leaf", name, name, [(2,)], ["float32"],
                               [(link, 0) for link in links], calls, False))

    node("loss", [1])
    for number in range(4):
        at = len(nodes)
        call = Call(f"blocks.{3 - number}", "Block")
        node("add", [at + 1, at + 3])
        node("outer", [at + 2], call)
        node("inner", [at + 3], call)
    node("embedding", [14])
    node("x", [])
    graph = Drawn(nodes, [], [(0, 0)])
    data = groups_as_data(groups_of(graph, runs=True))
    assert [(group["path"], group["class"], group["parent"], group["repeats"]) for group in data] == [
        ("", "", None, 1), ("blocks.0 … blocks.3", "Block", 0, 4),
        *[(f"blocks.{number}", "Block", 1, 1) for number in (3, 2, 1, 0)]]
    assert [group["alike"] for group in data] == [None, None, None, 2, 2, 2]
    assert len(data[1]["children"]) == 8
    groups = groups_of(graph, runs=True)
    found = placed(graph, groups, sizes(graph), [50.0] * len(groups))
    assert inside(found.frames[2], found.frames[1])
    assert [group.path for group in groups_of(graph)] == ["", *[f"blocks.{number}" for number in (3, 2, 1, 0)]]


# Large graphs


def seconds(count: int, edges: Edges) -> float:
    start = time.process_time()
    coordinates(layered(count, edges), [(120.0, 42.0)] * count, GAPS)
    return time.process_time() - start


LARGE = {
    "a network of 2,000 nodes": (2000, [(max(0, (7 * maker) % 19 - 19 + maker), maker, maker)
                                        for maker in range(1, 2000)]
                                 + [(maker - 1, maker, maker) for maker in range(1, 2000)]),
    "2,000 nodes with edges from anywhere": (2000, [(maker * 7919 % 10007 % maker, maker, maker)
                                                    for maker in range(1, 2000)]
                                             + [(maker * 104729 % 10009 % maker, maker, maker)
                                                for maker in range(1, 2000)]),
    "a chain": (10_000, [(i, i + 1, i + 1) for i in range(9999)]),
    "a chain that uses one leaf": (10_001, [(i, i + 1, i + 1) for i in range(9999)]
                                   + [(i, 10_000, 10_000) for i in range(10_000)]),
    "a node of many inputs": (10_001, [(0, i, i) for i in range(1, 10_001)]),
    "no node": (0, []),
    "one node": (1, []),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_take_little_time(name: str) -> None:
    """2,000 nodes take a fourth of a second. The limits leave room for slow machines, and none for quadratic time.

    A run that takes too long, because of something else on the machine, is repeated once.
    """
    count, edges = LARGE[name]
    limit = 1.5 if count <= 2000 else 5
    taken = seconds(count, edges)
    assert taken < limit or seconds(count, edges) < limit, taken


def test_many_groups_take_little_time() -> None:
    """A loop of 10,000 equal calls, each of two nodes."""
    count = 10_000
    calls = [Call(f"step.{number}", "Step", number) for number in range(count)]
    nodes = [DrawnNode("operator", "MulBackward0", "", [(2,)], ["float32"],
                       [] if i == 2 * count - 1 else [(i + 1, 0)], (calls[i // 2],), False) for i in range(2 * count)]
    start = time.process_time()
    groups = groups_of(Drawn(nodes, [], [(0, 0)]))
    assert time.process_time() - start < 5
    assert len(groups) == count + 1
    assert [len(group.ports) for group in groups] == [0, 1, *[2] * (count - 2), 1]


def test_points_are_limited() -> None:
    """Ten leaves, each used in all steps of a long chain, would need one point for each step and leaf."""
    steps = 3000
    edges = [(i, i + 1, i + 1) for i in range(steps - 1)]
    edges += [(i, steps + leaf, steps + leaf) for leaf in range(10) for i in range(steps)]
    layers = layered(steps + 10, edges)
    assert 0 < layers.points <= 4 * (steps + 10) + 2000
    ranks = rank_of(layers)
    skipping = [path for path in layers.edges if ranks[path[-1]] > ranks[path[0]] + len(path) - 1]
    assert all(len(path) == 2 for path in skipping)
    assert skipping
