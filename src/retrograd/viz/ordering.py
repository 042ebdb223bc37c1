"""The order in which documents and pictures list the nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any


def in_order(begin: Iterable[Any], links: Callable[[Any], Iterable[tuple[Any, int]]], number: Callable[[Any], int],
             is_leaf: Callable[[Any], bool]) -> list[Any]:
    """Every reachable node once: a node after all that use its value, and otherwise the newest first.

    The leaves come last, in the order of their first users. `links` gives the nodes that made the inputs of a node, and
    None for an input without a gradient. `number` grows with the time at which a node was made.
    """
    begin = [*dict.fromkeys(begin)]
    found, waiting = [*begin], dict.fromkeys(begin, 0)
    for node in found:
        for maker, _ in links(node):
            if maker is not None:
                if maker not in waiting:
                    found.append(maker)
                waiting[maker] = waiting.get(maker, 0) + 1
    order: list[Any] = []
    ready = [(-number(node), i, node) for i, node in enumerate(found) if not waiting[node]]
    heapify(ready)
    met = len(found)
    while ready:
        *_, node = heappop(ready)
        order.append(node)
        for maker, _ in links(node):
            if maker is not None:
                waiting[maker] -= 1
                if not waiting[maker]:
                    met += 1
                    heappush(ready, (-number(maker), met, maker))
    operations = [node for node in order if not is_leaf(node)]
    leaves = [maker for node in operations for maker, _ in links(node) if maker is not None and is_leaf(maker)]
    return [*operations, *dict.fromkeys([*leaves, *filter(is_leaf, begin)])]
