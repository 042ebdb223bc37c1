"""A flame graph of a profile, as one SVG file without programs: calls lie below their callers, as wide as their time.

Calls of one name with the same callers are one bar. A bar says its name, its time and how often it was called, where
the pointer rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

_WIDTH, _ROW, _TOP, _EDGE = 1200, 20, 58, 10
_LETTER = 6.7                       # the width of a letter of this font, in pixels
_LEAST = 0.4                        # narrower bars are left out
# The kinds of calls, their names in the legend, and their colors on light and dark ground. The colors are told apart
# by people who see few colors, too.
_KINDS = (("module", "modules and named blocks", "#b9d4f0", "#2f5d8c"), ("call", "functions", "#f6dc9b", "#7d5f17"),
          ("backward", "backward pass", "#e4bfd9", "#7a4168"), ("python", "the program itself", "#dadada", "#4a4a4a"))
_ENGINE = "autograd::engine::evaluate_function: "


class Bar:
    """The calls of one name with the same callers: their time in microseconds, their number, and the calls in them."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.time, self.count = 0.0, 0
        self.inside: dict[str, Bar] = {}

    def add(self, event: Any) -> Bar:
        """Add a call to the bars inside this one. Returns its bar. A node has one bar with its step."""
        backward = self.kind == "backward" or event.name.startswith(_ENGINE)
        outer = self
        if backward and self.kind != "backward":
            outer = self._of("backward pass", "backward")
            outer.time, outer.count = outer.time + event.cpu_time_total, outer.count + 1
        name = event.name.removeprefix(_ENGINE).removeprefix("torch::autograd::").removeprefix("aten::")
        if name == outer.name:
            return outer
        bar = outer._of(name, "backward" if backward else "module" if event.is_user_annotation else "call")
        bar.time, bar.count = bar.time + event.cpu_time_total, bar.count + 1
        return bar

    def _of(self, name: str, kind: str) -> Bar:
        return self.inside.setdefault(name, Bar(name, kind))


class Place(NamedTuple):
    """A bar on the picture: its depth, its left end and its width in pixels."""

    bar: Bar
    depth: int
    left: float
    width: float


def gathered(events: Iterable[Any], name: str, time: float) -> Bar:
    """The bars of a profile below one bar for the whole program, which took this many microseconds."""
    root = Bar(name, "python")
    root.time, root.count = time, 1
    waiting = [(root, event) for event in events if event.cpu_parent is None]
    for outer, event in waiting:
        bar = outer.add(event)
        waiting += [(bar, child) for child in event.cpu_children]
    return root


def places(root: Bar) -> Iterator[Place]:
    """Where the bars lie: below their callers, the longest first."""
    scale = (_WIDTH - 2 * _EDGE) / max(root.time, 1e-9)
    waiting = [Place(root, 0, _EDGE, _WIDTH - 2.0 * _EDGE)]
    for place in waiting:
        yield place
        left = place.left
        for bar in sorted(place.bar.inside.values(), key=lambda bar: -bar.time):
            if bar.time * scale >= _LEAST:
                waiting.append(Place(bar, place.depth + 1, left, bar.time * scale))
            left += bar.time * scale


def svg(root: Bar) -> str:
    """The picture. `root` is the bar of the whole program."""
    found = [*places(root)]
    height = _TOP + _ROW * (max(place.depth for place in found) + 1) + _EDGE
    root.name = root.name.encode("utf-8", "replace").decode()               # a file may have any name
    title = f"{root.name}: {_time(root.time)}"
    light = "".join(f".{kind}{{fill:{color}}}" for kind, _, color, _ in _KINDS)
    dark = "".join(f".{kind}{{fill:{color}}}" for kind, _, _, color in _KINDS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{_quoted(title)}">',
        "<style>text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1b1b1b}.ground{fill:#ffffff}"
        f"{light}@media(prefers-color-scheme:dark){{text{{fill:#f2f2f2}}.ground{{fill:#16181c}}{dark}}}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{height}"/>',
        f'<text x="{_EDGE}" y="22" style="font-size:14px;font-weight:600">{escape(title)}</text>', *_legend(),
        *[_drawn(place, root.time) for place in found], "</svg>", ""]
    return "\n".join(lines)


def _legend() -> Iterator[str]:
    left = float(_EDGE)
    for kind, said, _, _ in _KINDS:
        yield f'<rect class="{kind}" x="{left:.1f}" y="33" width="12" height="12" rx="2"/>'
        yield f'<text x="{left + 17:.1f}" y="43">{said}</text>'
        left += 17 + _LETTER * len(said) + 22


def _drawn(place: Place, whole: float) -> str:
    bar = place.bar
    top = _TOP + _ROW * place.depth
    calls = "1 call" if bar.count == 1 else f"{bar.count} calls"
    said = f"{bar.name}: {_time(bar.time)}, {100 * bar.time / max(whole, 1e-9):.1f}%, {calls}"
    room = int((place.width - 6) / _LETTER)
    shown = bar.name if len(bar.name) <= room else bar.name[:room - 1] + "…" if room >= 3 else ""
    text = f'<text x="{place.left + 3:.1f}" y="{top + 13}">{escape(shown)}</text>' if shown else ""
    return (f'<g><title>{escape(said)}</title><rect class="{bar.kind}" x="{place.left:.2f}" y="{top}" '
            f'width="{max(place.width - 0.6, 0.3):.2f}" height="{_ROW - 2}" rx="2"/>{text}</g>')


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} us"


def _quoted(text: str) -> str:
    return escape(text, {'"': "&quot;"})
