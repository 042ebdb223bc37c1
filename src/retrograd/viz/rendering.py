"""A gradient graph as SVG text. No program and no other package is needed.

What a node is shows in its shape, not in its color alone. The colors are safe for the color-blind, and they follow
the reader's choice of light or dark. All rules of style hold below one class, so that a picture changes nothing else on
a page.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .folding import folded
from .graphs import Drawn, DrawnNode, on_one_line
from .groups import Group, groups_of
from .placing import Box, Line, placed

_LETTER, _SMALL = 7.25, 6.65     # the width of a letter of a name, and of smaller text
_HEIGHT, _MARGIN = 42.0, 16.0
_SLANT = 11.0                    # how far the sides of a view and of a write lean
_ARROW = 6.0
# What a reader sees in the legend, in this order.
KINDS = {"operator": "operator", "leaf": "leaf", "view": "view", "write": "write through a view",
         "function": "function of the user", "group": "folded: a module or a run"}
# The colors in the light and in the dark: (paper, text, weak text, line, frame, its fill), and (fill, edge) by kind.
_LIGHT = ("#ffffff", "#1b1f24", "#59636e", "#7d8792", "#c9d0d8", "#6b7f990d")
_DARK = ("#14171b", "#e8ebee", "#9aa4af", "#87919c", "#3b444e", "#9fb4cc12")
_KINDS_LIGHT = {"operator": ("#f3f5f7", "#8b95a1"), "leaf": ("#dcf1ea", "#00815c"), "view": ("#e2eefa", "#2b72b3"),
                "write": ("#fdeeda", "#b86200"), "function": ("#f5e6f0", "#a34a86"), "group": ("#e6e9ed", "#4d5866")}
_KINDS_DARK = {"operator": ("#232931", "#75808c"), "leaf": ("#10342a", "#3fb893"), "view": ("#14304a", "#6cb2ee"),
               "write": ("#3d2a10", "#eca44b"), "function": ("#3b2034", "#db8fc3"), "group": ("#2d343c", "#a3adb8")}


def _colors(scheme: tuple[str, ...], kinds: dict[str, tuple[str, str]]) -> str:
    paper, text, weak, line, frame, fill = scheme
    return " ".join([
        f".retrograd-graph{{background:{paper}}}",
        f".retrograd-graph text{{fill:{text}}} .retrograd-graph .weak{{fill:{weak}}}",
        f".retrograd-graph .over{{stroke:{paper}}} .retrograd-graph .paper{{fill:{paper}}}",
        f".retrograd-graph .lines{{stroke:{line}}} .retrograd-graph .heads{{fill:{line}}}",
        f".retrograd-graph .frame{{stroke:{frame};fill:{fill}}}",
        *(f".retrograd-graph .{kind} path{{fill:{fill};stroke:{edge}}}" for kind, (fill, edge) in kinds.items())])


_STYLE = f"""<style>
.retrograd-graph text{{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;\
text-anchor:middle}}
.retrograd-graph .small{{font-size:11px}} .retrograd-graph .start{{text-anchor:start}}
.retrograd-graph .head{{font-size:11px;text-anchor:start}}
.retrograd-graph .over{{stroke-width:4;paint-order:stroke;stroke-linejoin:round}}
.retrograd-graph .lines{{fill:none;stroke-width:1.25}} .retrograd-graph path{{stroke-width:1.25}}
.retrograd-graph .bold{{font-weight:600}} .retrograd-graph .heads{{stroke:none}}
{_colors(_LIGHT, _KINDS_LIGHT)}
@media (prefers-color-scheme:dark){{{_colors(_DARK, _KINDS_DARK)}}}
</style>"""


def svg_text(whole: Drawn) -> str:
    """The picture of a graph. Modules and runs of a large graph are folded."""
    graph = folded(whole)
    groups = groups_of(graph)
    heads = [_SMALL * (len(group.path) + len(group.kind) + 1) for group in groups]
    picture = placed(graph, groups, [_size(node) for node in graph.nodes], heads)
    legend, low = _legend(graph), picture.frames[0].height
    width = max(picture.frames[0].width, legend[1]) + 2 * _MARGIN
    height = low + 2 * _MARGIN + (34 if legend[1] else 0)
    left = _MARGIN + max(0.0, legend[1] - picture.frames[0].width) / 2
    words = _text(_summary(whole))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="retrograd-graph" role="graphics-document document" '
        f'aria-label="{words}" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        'style="max-width:100%;height:auto">',
        f"<title>{words}</title>", _STYLE, '<rect class="paper" width="100%" height="100%"/>',
        f'<g transform="translate({left:g} {_MARGIN:g})">',
        *(_frame(frame) for frame in picture.frames[1:]), *_drawn_lines(graph, picture.lines),
        *(_head(*of) for of in [*zip(groups, picture.frames, picture.entries, heads)][1:]),
        *(_box(graph.nodes[i], picture.boxes[i]) for i in range(len(graph.nodes))), "</g>",
        *([f'<g transform="translate({_MARGIN:g} {low + _MARGIN + 22:g})">', *legend[0], "</g>"] if legend[1] else []),
        "</svg>", ""])


def _summary(graph: Drawn) -> str:
    leaves = sum(node.kind == "leaf" for node in graph.nodes)
    return f"Gradient graph: {_count(len(graph.nodes) - leaves, 'operation')}, {_count(leaves, 'leaf', 'leaves')}"


def _count(number: int, word: str, words: str = "") -> str:
    return f"{number} {word if number == 1 else words or f'{word}s'}"


# Nodes


def _detail(node: DrawnNode) -> str:
    """The line below the name: the shape of the result, and the dtype if the dtype is not float32."""
    if node.kind == "group":
        return node.name
    if len(node.shapes) != 1:
        return _count(len(node.shapes), "output")
    shape, dtype = node.shapes[0], node.dtypes[0]
    return " ".join(filter(None, ["" if shape is None else str([*shape]), "" if dtype == "float32" else dtype]))


def _size(node: DrawnNode) -> tuple[float, float]:
    room = 28 if node.kind in ("operator", "leaf") else 30 + _SLANT
    return max(_LETTER * len(on_one_line(node.label)), _SMALL * len(_detail(node)), 34.0) + room, _HEIGHT


def outline(kind: str, width: float, height: float) -> str:
    """The path of a shape around the middle of its top-left corner at 0."""
    w, h, s = width, height, _SLANT
    match kind:
        case "view":                                     # a parallelogram: the same data, seen from another side
            return f"M{s:g} 0H{w:g}L{w - s:g} {h:g}H0Z"
        case "write":                                    # a hexagon
            return f"M{s:g} 0H{w - s:g}L{w:g} {h / 2:g}L{w - s:g} {h:g}H{s:g}L0 {h / 2:g}Z"
        case "group":                                    # a stack
            return f"{outline('operator', w, h - 4)}M5 {h - 2:g}H{w - 5:g}M9 {h:g}H{w - 9:g}"
        case "function":                                 # as flow charts draw a subroutine
            return f"M0 0H{w:g}V{h:g}H0ZM6 0V{h:g}M{w - 6:g} 0V{h:g}"
    r = h / 2 if kind == "leaf" else 6
    return (f"M{r:g} 0H{w - r:g}A{r:g} {r:g} 0 0 1 {w:g} {r:g}V{h - r:g}A{r:g} {r:g} 0 0 1 {w - r:g} {h:g}"
            f"H{r:g}A{r:g} {r:g} 0 0 1 0 {h - r:g}V{r:g}A{r:g} {r:g} 0 0 1 {r:g} 0Z")


def _box(node: DrawnNode, box: Box) -> str:
    detail, middle = _detail(node), f"{box.width / 2:g}"
    name, rest = _parts(node)
    weak = f'<tspan class="weak">{rest}</tspan>' if rest else ""
    below = f'<text class="small weak" x="{middle}" y="33">{_text(detail)}</text>' if detail else ""
    return (f'<g class="{node.kind}" role="graphics-symbol img" transform="translate({box.left:g} {box.top:g})">'
            f'<title>{_text(_words(node))}</title><path d="{outline(node.kind, box.width, box.height)}"/>'
            f'<text x="{middle}" y="{18 if detail else 25}">{_text(name)}{weak}</text>{below}</g>')


def _parts(node: DrawnNode) -> tuple[str, str]:
    """The name of an operation, and the end that all such names have."""
    at = node.label.rfind("Backward") if node.kind not in ("leaf", "group") else -1
    return (node.label[:at], node.label[at:]) if at > 0 else (node.label, "")


def _words(node: DrawnNode) -> str:
    """What a reader without eyes, or with a pointer, learns of a node."""
    kind = "parameter" if node.parameter else KINDS[node.kind]
    where = "" if node.module is None else f", in {node.module}{f': {node.cls}' if node.cls else ''}"
    return f"{node.label}: {kind} {_detail(node)}{where}"


# Lines


def _drawn_lines(graph: Drawn, lines: list[Line]) -> Iterator[str]:
    """All lines as one path, their heads as another, and the words beside them."""
    paths, heads, words = [], [], []
    for line in lines:
        paths.append(_path(line))
        x, _, end = line.stretches[-1]
        if line.maker is not None:
            heads.append(f"M{x:.4g} {end:g}l-{_ARROW * 0.6:g} -{_ARROW:g}h{_ARROW * 1.2:g}z")
            maker = graph.nodes[line.maker]
            if len(maker.shapes) > 1 and maker.kind != "group":
                words.append(_word(x + 6, end - 4, str(line.value[1])))
        if line.user is not None:
            times = graph.nodes[line.user].links.count(line.value)
            if times > 1:
                words.append(_word(line.stretches[0][0] + 7, line.stretches[0][2] + 12, f"×{times}"))
    yield f'<path class="lines" d="{"".join(paths)}"/>'
    yield f'<path class="heads" d="{"".join(heads)}"/>'
    yield from words


def _word(x: float, y: float, text: str) -> str:
    return f'<text class="small weak start" x="{x:g}" y="{y:g}">{text}</text>'


def _path(line: Line) -> str:
    """Straight down through each rank, and a curve from each rank to the next."""
    x, start, end = line.stretches[0]
    pieces = [f"M{x:.1f} {start:.1f}V{end:.1f}"]
    for next_x, next_start, next_end in line.stretches[1:]:
        if abs(next_x - x) < 0.5:
            pieces.append(f"V{next_start:.1f}")
        else:
            middle = (end + next_start) / 2
            pieces.append(f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_start:.1f}")
        pieces.append(f"V{next_end:.1f}")
        x, end = next_x, next_end
    return "".join(pieces)


def _text(words: str) -> str:
    """Words as the text of an element."""
    return escape(on_one_line(words))


# Frames and the legend


def _frame(frame: Box) -> str:
    return (f'<rect class="frame" x="{frame.left:.1f}" y="{frame.top:.1f}" width="{frame.width:.1f}" '
            f'height="{frame.height:.1f}" rx="8"/>')


def _head(group: Group, frame: Box, entries: list[float], width: float) -> str:
    """The title of a frame, at the left or at the right: where no line comes in, if there is such a place."""
    places = (frame.left + 9, frame.left + frame.width - 9 - width)
    free = [x for x in places if not any(x - 5 < entry < x + width + 5 for entry in entries)]
    bold = f'<tspan class="bold">{_text(group.path)}</tspan>' if group.path else ""
    words = " ".join(filter(None, [bold, _text(group.kind)]))
    return (f'<text class="head weak{"" if free else " over"}" x="{[*free, *places][0]:.1f}" '
            f'y="{frame.top + 16:.1f}">{words}</text>')


def _legend(graph: Drawn) -> tuple[list[str], float]:
    """What the shapes mean, and how wide the line is; nothing for a graph that has only operators and leaves."""
    kinds = {node.kind for node in graph.nodes}
    if kinds <= {"operator", "leaf"}:
        return [], 0.0
    drawn, x = [], 0.0
    for kind, name in KINDS.items():
        if kind in kinds:
            drawn.append(f'<g class="{kind}" transform="translate({x:g} 0)"><path d="{_icon(kind)}"/>'
                         f'<text class="small weak start" x="36" y="12">{name}</text></g>')
            x += 36 + _SMALL * len(name) + 22
    return drawn, x - 22


def _icon(kind: str) -> str:
    return outline(kind, 28, 16)
