"""The first backward pass of a program that runs with PyTorch, as a document to put beside the explorer's.

The document has what `viz.beside` needs: the nodes in the engine's order, with their links and gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograd.viz.ordering import in_order
from retrograd.viz.statistics import Facts, Pictures, statistics


def watch(torch: Any, done: Callable[[Facts], None]) -> None:
    """Call `done` with the document of the next backward pass. `torch` is PyTorch."""
    usual = torch.autograd._engine_run_backward

    def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        torch.autograd._engine_run_backward = usual
        seen = _Pass(torch, outputs)
        result = usual(outputs, *args, **kwargs)
        if not kwargs.get("accumulate_grad"):
            seen.take(args[3], result)
        done(seen.document())
        return result

    torch.autograd._engine_run_backward = run


class _Pass:
    """Notes the gradients that arrive at the nodes behind these outputs, as the pass runs."""

    def __init__(self, torch: Any, outputs: Any) -> None:
        self.torch = torch
        self.begin = [self._edge(output).node for output in outputs]
        self.nodes = in_order(self.begin, lambda node: node.next_functions, lambda node: int(node._sequence_nr()),
                              _is_leaf)
        self.arrived: dict[Any, Any] = {}
        self.handles = [node.register_prehook(self._noting(node)) for node in self.nodes]

    def _edge(self, one: Any) -> Any:
        """The node behind a tensor, with the number of its output. The tensor may be such an edge already."""
        return one if hasattr(one, "node") else self.torch.autograd.graph.get_gradient_edge(one)

    def _noting(self, node: Any) -> Callable[[Any], None]:
        def note(gradients: Any) -> None:
            given = [_array(self.torch, gradient) for gradient in gradients if gradient is not None]
            if given:
                self.arrived[node] = given[0] if len(given) == 1 else np.concatenate([one.reshape(-1) for one in given])

        return note

    def take(self, inputs: Any, gradients: Any) -> None:
        """Note the gradients that the pass returns for these inputs. At their nodes, no hook of this class runs."""
        returned: dict[Any, dict[int, Any]] = {}
        for one, gradient in zip(inputs, gradients, strict=True):
            edge = self._edge(one)
            returned.setdefault(edge.node, {})[edge.output_nr] = gradient
        for node, by_output in returned.items():
            if node not in self.arrived:
                self._noting(node)([by_output[output] for output in sorted(by_output)])

    def document(self) -> Facts:
        """What was noted. The pass is over, so the nodes are no longer watched."""
        for handle in self.handles:
            handle.remove()
        number = {node: i for i, node in enumerate(self.nodes)}
        pictures = Pictures(3 * len(self.nodes))
        return {"nodes": [self._node(i, node, number, pictures) for i, node in enumerate(self.nodes)]}

    def _node(self, i: int, node: Any, number: dict[Any, int], pictures: Pictures) -> Facts:
        leaf = _is_leaf(node)
        gradient = self.arrived.get(node)
        shapes = [node.variable.shape] if leaf else [one.shape for one in node._input_metadata]
        return {"id": i, "kind": "leaf" if leaf else "operator", "name": node.name().rpartition("::")[2],
                "label": "leaf" if leaf else node.name(), "outputs": [{"shape": [*shape]} for shape in shapes],
                "links": [None if maker is None else [number[maker], output] for maker, output in node.next_functions],
                "gradient": None if gradient is None else statistics(gradient),
                "picture": None if gradient is None else pictures.of(gradient)}


def _array(torch: Any, gradient: Any) -> Any:
    """The numbers of a gradient as a NumPy array of its own."""
    plain = gradient.detach()
    plain = plain.to_dense() if plain.layout != torch.strided else plain
    plain = plain.float() if plain.dtype == torch.bfloat16 else plain
    return np.array(plain.resolve_conj().resolve_neg().cpu().numpy())


def _is_leaf(node: Any) -> bool:
    return hasattr(node, "variable")
