"""The tables of docs/subgradients.md, made from the table of operators. Run it to bring the page up to date.

`page` writes the tables that a library's gradients make into the text of the page, so that a test can hold the page
to retrograd's gradients, and another to PyTorch's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from op_table.entry import NO_SECOND
from op_table.table import BY_NAME, TABLE

PAGE = Path(__file__).parents[2] / "docs" / "subgradients.md"
NAN, INF = math.nan, math.inf

# Entries of the table of operators that take one number.
KINKS = """abs; sgn; relu; relu6; leaky_relu; elu; celu; selu; hardtanh; clamp; clamp min; clamp max; where number;
           hardshrink; softshrink; hardsigmoid; hardswish; threshold; rrelu; sign; round; floor; ceil; trunc; frac;
           nan_to_num"""
EDGES = """sqrt; rsqrt; reciprocal; log; log1p; x ** 0; x ** 0.5; x ** 2; x ** -1; 0 ** x; asin; acos; acosh; atanh;
           erfinv; logit; sinc; lgamma; mvlgamma 1; special.entr; special.ndtri; i0; special.i1;
           special.i1e; special.i0e; special.erfcx; 2 xlogy; 2 special.xlog1py"""
FAR = "exp; sigmoid; tanh; erf; softplus; logsigmoid; silu; gelu; mish; softsign; sin; atan; square"
POINTS = (-INF, -1.0, 0.0, 1.0, INF, NAN)

# Entries that take two numbers, each at pairs of them.
PAIRS: list[tuple[str, list[tuple[float, float]]]] = [
    ("maximum", [(1, 1), (NAN, 1)]),
    ("minimum", [(1, 1), (NAN, 1)]),
    ("fmax", [(1, 1), (NAN, 1), (1, NAN)]),
    ("fmin", [(1, 1), (NAN, 1), (1, NAN)]),
    ("div", [(1, 0), (0, 0)]),
    ("pow", [(0, 0), (0, 0.5), (0, 1), (0, -1), (-1, 2)]),
    ("atan2", [(0, 0)]),
    ("hypot", [(0, 0)]),
    ("xlogy", [(0, 0), (0, 1), (1, 0)]),
    ("special.xlog1py", [(0, -1), (0, 1), (1, -1)]),
    ("igamma", [(1, 0), (2, 0), (0.5, 0)]),
    ("nextafter", [(1, 2), (1, 1)]),
    ("ldexp", [(0, 1), (1, 0)]),
    ("copysign", [(0, 1), (1, 0)]),
    ("remainder", [(2, 1)]),
    ("clamp_min", [(1, 1)]),
    ("clamp_max", [(1, 1)]),
    ("prelu", [(0, 0.25), (-1, 0.25)]),
    ("l1_loss sum", [(1, 1)]),
    ("smooth_l1_loss sum", [(1, 1), (2, 1)]),
    ("binary_cross_entropy_with_logits sum", [(INF, 1), (INF, 0)]),
]

# What takes a vector, as it is called, and vectors.
VECTORS: list[tuple[str, Callable[[Any, Any], Any], list[Sequence[float]]]] = [
    ("max(x)", lambda t, x: t.max(x), [(2, 2, 1), (NAN, 1, NAN)]),
    ("amax(x, 0)", lambda t, x: t.amax(x, 0), [(2, 2, 1)]),
    ("max(x, 0)", lambda t, x: t.max(x, 0)[0], [(2, 2, 1), (NAN, 1, NAN)]),
    ("cummax(x, 0)", lambda t, x: t.cummax(x, 0)[0], [(2, 2, 1)]),
    ("median(x)", lambda t, x: t.median(x), [(2, 2, 1)]),
    ("median(x, 0)", lambda t, x: t.median(x, 0)[0], [(2, 2, 1)]),
    ("mode(x, 0)", lambda t, x: t.mode(x, 0)[0], [(2, 2, 1)]),
    ("kthvalue(x, 2)", lambda t, x: t.kthvalue(x, 2)[0], [(2, 2, 1)]),
    ("norm(x)", lambda t, x: t.norm(x), [(0, 0), (3, 4)]),
    ("norm(x, 1)", lambda t, x: t.norm(x, 1), [(0, 2)]),
    ("norm(x, inf)", lambda t, x: t.norm(x, INF), [(2, -2, 1)]),
    ("std(x)", lambda t, x: t.std(x), [(1, 1)]),
    ("var(x)", lambda t, x: t.var(x), [(1, 1)]),
    ("prod(x)", lambda t, x: t.prod(x), [(0, 2, 3), (0, 0, 3)]),
    ("cumprod(x, 0)", lambda t, x: t.cumprod(x, 0), [(2, 0, 3)]),
    ("logsumexp(x, 0)", lambda t, x: t.logsumexp(x, 0), [(-INF, -INF), (INF, 1)]),
    ("softmax(x, 0)[0]", lambda t, x: t.softmax(x, 0)[0], [(-INF, 0), (INF, 0)]),
    ("nansum(x)", lambda t, x: t.nansum(x), [(NAN, 1)]),
]


def gradients(library: Any, call: Callable[..., Any], *inputs: Any) -> list[Any]:
    """The gradients of the sum of what the call returns."""
    leaves = [library.tensor(value, dtype=library.float64, requires_grad=True) for value in inputs]
    for leaf in leaves:
        leaf.grad = library.zeros_like(leaf)            # PyTorch's own zeros may have no memory
    call(library, *leaves).sum().backward()
    return [leaf.grad.tolist() for leaf in leaves]


def shown(value: Any) -> str:
    """A number, or a list of them, as the page writes it."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(shown, value))}]"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value + 0.0:.4g}".replace("-", "−")


def rows(*lines: Sequence[str]) -> str:
    """A table in Markdown, of which the first line is the head."""
    written = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([written[0], f"|{'---|' * len(lines[0])}", *written[1:]])


def of_one(library: Any, names: str) -> str:
    lines = [(name, *(shown(gradients(library, BY_NAME[name].call, point)[0]) for point in POINTS))
             for name in re.split(r";\s*", names)]
    return rows(("f", *(f"f′({shown(point)})" for point in POINTS)),
                *((f"`{name.removesuffix(' at 0')}`", *found) for name, *found in lines))


def of_two(library: Any) -> str:
    lines = [(f"`{name.removesuffix(' sum')}`", *map(shown, (x, y, *gradients(library, BY_NAME[name].call, x, y))))
             for name, pairs in PAIRS for x, y in pairs]
    return rows(("f", "x", "y", "by x", "by y"), *lines)


def of_vectors(library: Any) -> str:
    lines = [(f"`{name}`", shown(x), shown(gradients(library, call, x)[0])) for name, call, inputs in VECTORS
             for x in inputs]
    return rows(("f", "x", "gradient"), *lines)


def where_second_differ() -> str:
    """What PyTorch has not at all is listed once, however many entries there are."""
    found = dict.fromkeys((entry.name.split()[0] if entry.first_only == NO_SECOND else entry.name, entry.first_only)
                          for entry in TABLE if entry.first_only)
    return rows(("f", "why"), *((f"`{name}`", why) for name, why in found))


def replaced(text: str, tables: dict[str, str]) -> str:
    """The text of a page, with tables in their places."""
    for name, table in tables.items():
        block = re.compile(rf"(<!-- table: {name} -->\n)[^<]*(<!-- end -->)")
        assert len(block.findall(text)) == 1, name
        text = block.sub(lambda found, table=table: f"{found[1]}\n{table}\n\n{found[2]}", text)
    return text


def page(library: Any) -> str:
    """The page, with the tables that the library's gradients make."""
    tables = {"kinks": of_one(library, KINKS), "edges": of_one(library, EDGES), "far": of_one(library, FAR),
              "pairs": of_two(library), "vectors": of_vectors(library), "second": where_second_differ()}
    return replaced(PAGE.read_text(encoding="utf-8"), tables)


if __name__ == "__main__":
    import retrograd

    PAGE.write_text(page(retrograd), encoding="utf-8")
