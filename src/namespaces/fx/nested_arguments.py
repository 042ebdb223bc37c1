"""Arguments of a trace that are containers: the graph has one placeholder for each leaf.

The Python of such a graph takes the containers as the traced function did, and takes them apart itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..utils._pytree import TreeSpec, arg_tree_leaves, tree_unflatten
from .code_generation import CodeGen


class PHBase:
    """Stands in `concrete_args` for an argument, or a part of one, that is no fixed value."""

    def __repr__(self) -> str:
        return "PH"


class PHWithMeta(PHBase):
    """A `PH` whose attributes the node of the argument gets."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


PH = PHBase()


def transfer_attributes(mark: PHBase, node: Any) -> None:
    """Give a node the attributes of the object that stands for its argument."""
    for name in dir(mark):
        value = getattr(mark, name)
        if not callable(value) and not name.startswith("__") and not hasattr(node, name):
            setattr(node, name, value)


class _PyTreeInfo(NamedTuple):
    """The names of the arguments, and how they and the results are taken apart."""

    orig_args: list[str]
    in_spec: TreeSpec
    out_spec: TreeSpec | None


class _PyTreeCodeGen(CodeGen):
    """Writes a function that takes containers apart, and puts its results together."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """The leaves of the arguments, which the graph takes."""
        return arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        """What the graph returns, put together."""
        if self.pytree_info.out_spec is None:
            return out
        return tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The first line of the function, and the lines that take its arguments apart."""
        given = self.pytree_info.orig_args
        leaves = ["self", *free_vars] if given[:1] == ["self"] else free_vars
        first = super().gen_fn_def([*given], maybe_return_annotation)
        if not leaves:
            return first
        bare = [leaf.partition(" = ")[0] for leaf in leaves]           # a default would replace what is given
        typed = [leaf for leaf in bare if ":" in leaf]
        kinds = f"\n    {''.join([f'{leaf}; ' for leaf in typed])}\n" if typed else ""
        names = [leaf.partition(":")[0] for leaf in bare]
        return f"{first}{kinds}\n    {', '.join(names)}, = fx_pytree.tree_flatten_spec({self._given()}, self._in_spec)"

    def _given(self) -> str:
        """What is taken apart: the arguments, with those by name in a dictionary if the trace had such a pair."""
        given, spec = self.pytree_info.orig_args, self.pytree_info.in_spec
        parts = spec.children()
        if spec.type is not tuple or [part.type for part in parts] != [tuple, dict]:
            return f"[{', '.join(given)}]"
        count = parts[0].num_children
        named = ", ".join([f"'{key}':{name}" for key, name in zip(parts[1].context, given[count:], strict=False)])
        return f"([{', '.join(given[:count])}], {{{named}}})"

    def generate_output(self, output_args: Any, *, descs: Sequence[str] | None = None,
                        repr_fn: Callable[[Any], str] = repr) -> str:
        """The last line of the function."""
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"
