"""The pictures of docs/inplace.md, drawn from the running program. Run it to bring them up to date.

A picture has a panel for each step: the code of the step, the memory of the tensors after it with what each of them
sees of it, and the graph behind them, read through `grad_fn` and `next_functions`. What is new is drawn in red. Only
what PyTorch shows too is read, so that a test can draw the same pictures with PyTorch.
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from showing import pages

FOLDER = pages.ROOT / "docs" / "pictures"
PAGE = pages.ROOT / "docs" / "inplace.md"


class Step(NamedTuple):
    """Code that is run, and the names of the tensors that are looked at after it, the base first."""

    code: str
    names: str


START = Step("x = torch.ones(3, requires_grad=True)\ny = x * 2\nv = y[:2]", "y v")
FIGURES = {
    "memory": [Step("y = torch.zeros(3)\nv = y[:2]", "y v"), Step("v += 10", "y v")],
    "base": [START, Step("y *= 10", "y v")],
    "view": [START, Step("v *= 10", "y v")],
    "earlier": [Step(f"{START.code}\nw = y[1:]", "y v w"), Step("v *= 10", "y"), Step("w.sum()", "y w")],
    "nested": [Step(f"{START.code}\nz = v[1:]", "y v z"), Step("z *= 10", "y v z")],
}

# Measures in pixels: of a letter, a line, a cell of memory, a box and the space it stands in.
LETTER, LINE, CELL, BOX, PITCH, ROW = 6.7, 16, 34, 132, 144, 52
STYLE = """\
<style>
text { font: 11px ui-monospace, Menlo, Consolas, monospace; fill: #222; }
.box { fill: #f3f3f3; stroke: #555; } .leaf { fill: #cfe8cf; stroke: #555; } .name { fill: #2458a6; }
.name + text { fill: #fff; } .cell { fill: #fff; stroke: #555; } .new { stroke: #c22; stroke-width: 2; }
.line { fill: none; stroke: #555; } .span { fill: none; stroke: #2458a6; stroke-width: 1.5; }
</style>"""


class Panel(NamedTuple):
    """What one step left behind: of each tensor its name, its places in memory and its node; and the leaves."""

    code: list[str]
    values: list[float]
    version: int
    spans: dict[str, tuple[int, int]]
    nodes: dict[str, Any]
    leaves: dict[str, Any]

    def names_of(self, node: Any) -> str:
        """The names of the tensors that a node made, or of the leaf that it is for."""
        leaf = getattr(node, "variable", None)
        return ", ".join([*(name for name, made_by in self.nodes.items() if made_by is node),
                          *(name for name, tensor in self.leaves.items() if tensor is leaf)])


def panels(library: Any, steps: list[Step]) -> list[Panel]:
    """Run the steps and look at the tensors after each."""
    names: dict[str, Any] = {"torch": library}
    found = []
    for step in steps:
        exec(step.code, names)
        tensors = {name: names[name] for name in step.names.split()}
        base = next(iter(tensors.values()))
        spans = {name: (t.storage_offset(), t.storage_offset() + len(t)) for name, t in tensors.items()}
        nodes = {name: t.grad_fn for name, t in tensors.items()}
        leaves = {name: t for name, t in names.items() if isinstance(t, library.Tensor) and t.grad_fn is None}
        found.append(Panel(step.code.split("\n"), base.tolist(), base._version, spans, nodes, leaves))
    return found


def below(node: Any) -> list[Any]:
    """The nodes that a node's gradients go to."""
    return [child for child, _ in node.next_functions if child is not None]


def places(nodes: dict[str, Any]) -> dict[Any, tuple[int, int]]:
    """The column and the row of each node: leaves in row 0, each node above all it leads to, a column a tensor."""
    rows: dict[Any, int] = {}

    def row(node: Any) -> int:
        if node not in rows:
            rows[node] = 1 + max((row(child) for child in below(node)), default=-1)
        return rows[node]

    found: dict[Any, tuple[int, int]] = {}
    for column, node in enumerate(dict.fromkeys(node for node in nodes.values() if node is not None)):
        todo = [node]
        while todo:
            node = todo.pop(0)
            if node not in found:
                at = (column, row(node))
                while at in found.values():
                    at = (at[0] + 1, at[1])
                found[node] = at
                todo += below(node)
    return found


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" xml:space="preserve">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" class="{kind}"/>'


def draw_memory(panel: Panel, before: Panel | None, top: float) -> list[str]:
    """The cells with their numbers, and a line under those that a tensor sees."""
    drawn = []
    for i, value in enumerate(panel.values):
        new = " new" if before is not None and before.values[i] != value else ""
        drawn += [box(i * CELL, top, CELL, 24, f"cell{new}"), text((i + 0.5) * CELL, top + 16, f"{value:g}", "middle")]
    drawn.append(text(len(panel.values) * CELL + 12, top + 16, f"version {panel.version}"))
    for i, (name, (start, end)) in enumerate(panel.spans.items()):
        y = top + 33 + i * 14
        drawn += [f'<path d="M{start * CELL + 3} {y - 5}v5H{end * CELL - 3}v-5" class="span"/>',
                  text(len(panel.values) * CELL + 12, y + 2, name)]
    return drawn


def draw_graph(panel: Panel, old: set[Any], top: float, height: int) -> list[str]:
    """The nodes, arrows to what they were computed from, and the tensors' names at their nodes."""
    at = {node: (column * PITCH, top + (height - 1 - row) * ROW) for node, (column, row) in places(panel.nodes).items()}
    drawn = [f'<path d="M{x + BOX / 2:g} {y + 26:g}L{at[child][0] + BOX / 2:g} {at[child][1] - 3:g}" class="line" '
             'marker-end="url(#arrow)"/>' for node, (x, y) in at.items() for child in below(node)]
    for node, (x, y) in at.items():
        kind = ("box" if below(node) else "leaf") + (" new" if old and node not in old else "")
        drawn += [box(x, y, BOX, 26, kind), text(x + BOX / 2, y + 17, type(node).__name__, "middle")]
        names = panel.names_of(node)
        if names:
            width = len(names) * LETTER + 10
            drawn += [box(x - 4, y - 9, width, 15, "name"), text(x - 4 + width / 2, y + 2, names, "middle")]
    return drawn


def svg(library: Any, steps: list[Step]) -> str:
    """A picture of the steps, side by side."""
    found = panels(library, steps)
    heights = [max([row + 1 for _, row in places(panel.nodes).values()], default=0) for panel in found]
    memory = LINE * max(len(panel.code) for panel in found) + 12
    graph = memory + 24 + 14 * max(len(panel.spans) for panel in found) + 34
    total = graph + max(heights) * ROW - 10
    drawn, left, old, before = [], 20.0, set[Any](), None
    for panel in found:
        inner = [text(0, 12 + i * LINE, line) for i, line in enumerate(panel.code)]
        inner += draw_memory(panel, before, memory) + draw_graph(panel, old, graph, max(heights))
        drawn += [f'<g transform="translate({left:g} 14)">', *inner, "</g>"]
        columns = max([column + 1 for column, _ in places(panel.nodes).values()], default=1)
        width = max(columns * PITCH, max(map(len, panel.code)) * LETTER + 12, (len(panel.values) + 2.6) * CELL)
        left, old, before = left + width + 24, old | {*places(panel.nodes)}, panel
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left:g}" height="{total + 14:g}" '
            f'viewBox="0 0 {left:g} {total + 14:g}">')
    arrow = ('<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
             '<path d="M0 0L8 4L0 8z" fill="#555"/></marker>')
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, STYLE, f"<defs>{arrow}</defs>", paper, *drawn, "</svg>", ""])


if __name__ == "__main__":
    import retrograd

    for name, steps in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(svg(retrograd, steps), encoding="utf-8")
