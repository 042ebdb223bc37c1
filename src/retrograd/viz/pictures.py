"""Pictures of gradient graphs: as SVG text, in a notebook, in a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from ..graph.node import AccumulateGrad
from ..tensors.state.base import TensorBase
from .drawing import tree_text
from .exploring import Explored, explore
from .graphs import Drawn, beginnings, drawn, reachable
from .naming import Names, calling_frame
from .rendering import svg_text


class Picture:
    """The picture of a gradient graph. `svg` is its text.

    A notebook shows the explorer of the graph, or the SVG picture where it cannot show a page. `save(path)` writes
    either of them. `frame` is the program's, whose variables name leaves without a name.
    """

    def __init__(self, outputs: Any, params: Any, frame: FrameType | None) -> None:
        graph, names = _read(outputs, params, frame)
        self.svg = svg_text(graph)
        self._outputs, self._nodes = outputs, len(graph.nodes)
        self._params = names.params if names.params is not None else _leaves(graph)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file: as SVG, or as the explorer's page if the name ends in `.html`.

        Raises ValueError for other ends of names, and OSError if the file cannot be written. The page needs a backward
        pass, so for a page `save` also raises what `explore` raises.
        """
        end = Path(path).suffix.lower()
        if end not in (".svg", ".html"):
            raise ValueError(f"a picture of a graph is saved as .svg or .html, not as {end or 'a file without suffix'}")
        if end == ".html":
            self._explored().save(path)
        else:
            Path(path).write_text(self.svg, encoding="utf-8")

    def _explored(self) -> Explored:
        return explore(self._outputs, params=self._params)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str | None:
        """The explorer; None for what has no backward pass to explore, such as a graph that was freed."""
        try:
            return self._explored()._repr_html_() if isinstance(self._outputs, TensorBase) else None
        except RuntimeError:
            return None

    def __repr__(self) -> str:
        return f"<the picture of a graph of {self._nodes} nodes>"


def _read(outputs: Any, params: Any, frame: FrameType | None) -> tuple[Drawn, Names]:
    """The graph, with all names that are known."""
    names = Names(reachable([node for node, _ in beginnings(outputs)]), params, frame)
    return drawn(outputs, names.params, names.calls, names.leaves), names


def _leaves(graph: Drawn) -> list[tuple[str, Any]]:
    """The leaves that have names, with their names."""
    return [(node.label, live.variable) for node, live in zip(graph.nodes, graph.live)
            if isinstance(live, AccumulateGrad) and node.label != "leaf"]


def named_tree(outputs: Any, frame: FrameType | None) -> str:
    """The whole graph as a text tree, with leaves named by the variables of a frame."""
    return tree_text(outputs, None, frame, sys.maxsize)


def graph(outputs: Any, params: Any = None) -> Picture:
    """The picture of the graph behind a tensor (or a `grad_fn`, or a sequence of them).

    Arrows point from an operation to its inputs: the way that gradients go. Shapes tell operators, leaves, views,
    writes through views and Functions of the user apart. Frames show the modules. In a large graph, modules and runs of
    equal parts are folded to one box, as in the explorer; in the explorer they unfold.

    `params` names the leaves: a Module, a dictionary from names to tensors, or the result of
    `Module.named_parameters()`. Other leaves get the names of the caller's variables. The modules are known if the
    operations ran under `recording()`. Otherwise they are inferred from the names of the parameters.

    Raises ValueError for a tensor that requires no grad, and TypeError for `params` that name no leaves.

    >>> import retrograd as torch
    >>> w = torch.ones(3, requires_grad=True)
    >>> torch.viz.graph((w * w).sum())
    <the picture of a graph of 3 nodes>
    """
    return Picture(outputs, params, calling_frame())


def svg(outputs: Any, params: Any = None) -> str:
    """The picture of `graph` as SVG text. The arguments and the errors are the same.

    >>> import retrograd as torch
    >>> w = torch.ones(3, requires_grad=True)
    >>> torch.viz.svg((w * w).sum())[:4]
    '<svg'
    """
    return Picture(outputs, params, calling_frame()).svg
