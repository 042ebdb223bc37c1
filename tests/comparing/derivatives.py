"""The page docs/derivatives.md: each family of the table of operators, and how many of its entries each kind of
derivative holds for. Run it to bring the page up to date.

The counts are those of the tests: test_op_table.py, test_tangents.py and test_batches.py run each entry that is
counted, and leave out the entries that the page lists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import retrograd
from comparing.subgradients import replaced, rows
from op_table import table
from op_table.entry import Entry
from op_table.exceptions import UNBATCHED, WITHOUT_GRADIENT, WITHOUT_TANGENT, differentiable, without_second
from op_table.table import TABLE
from retrograd.foundations.modes import local
from retrograd.tensors.transforms.randomness import RANDOM as DRAWING

PAGE = Path(__file__).parents[2] / "docs" / "derivatives.md"
FAMILIES = {"POINTWISE": "elementwise", "SPECIAL": "special functions", "ACTIVATIONS": "activations",
            "PIECEWISE": "piecewise", "INPLACE": "writes in place", "RANDOM": "random numbers", "SAMPLING": "samples",
            "DROPOUT": "dropout", "LOSSES": "losses", "MARGINS": "losses with margins", "REDUCTIONS": "reductions",
            "MATRIX": "matrices", "MATRIX_FACTORS": "factorizations", "SHAPES": "shapes and views",
            "INDEXING": "indexing", "DIFFERENCES": "differences and distances", "CONVOLUTION": "convolution",
            "POOLING": "pooling", "FAKE_QUANTIZATION": "fake quantization", "FOURIER": "Fourier transforms",
            "PRODUCTS": "products", "PLACES": "gathering and scattering", "NORMALIZATION": "normalization",
            "IMAGES": "images", "ATTENTION": "attention", "RECURRENT": "recurrent layers", "COMPOSED": "composed",
            "ALIASES": "other names", "OVER_THEMSELVES": "composed, in place"}
BY_FAMILY: dict[str, list[Entry]] = {said: getattr(table, name) for name, said in FAMILIES.items()}


class Seen(NamedTuple):
    """Of a call: whether it writes over a tensor, whether it draws numbers, and why its results are constants."""

    writes: bool
    draws: bool
    constant: str


def watched(entry: Entry) -> Seen:
    """What is seen of a call of the entry."""
    found = [False, False]

    def watch(op: Any, call: Any, args: tuple[Any, ...], write: bool) -> Any:
        found[0] |= write
        found[1] |= op.kernel in DRAWING
        return call(*args)

    inputs = [retrograd.tensor(array, requires_grad=True)
              for array in next(entry.samples("float64" if "f" in entry.kinds else "complex128"))]
    before, local.thread.transform = local.thread.transform, watch
    try:
        results = entry.call(retrograd, *inputs)
    finally:
        local.thread.transform = before
    return Seen(*found, _constant(entry.name, [results] if isinstance(results, retrograd.Tensor) else [*results]))


def _constant(name: str, results: list[Any]) -> str:
    """Why results have no derivative, without an error; nothing if they have one."""
    if any(result.requires_grad for result in results):
        return ""
    if not any(result.is_floating_point() or result.is_complex() for result in results):
        return "ints and bools have no derivatives"
    if name.startswith("hist"):
        return "counts are constant between jumps"
    if name in ("embedding max_norm", "igammac_"):
        return "its input is written over, and detached here"
    return "PyTorch states no derivative, and the result is a constant there, too"


def left_out(seen: dict[str, Seen]) -> dict[str, dict[str, str]]:
    """For each column of the page, the entries that it leaves out, each with the reason."""
    drawing = {entry.name: "random numbers are drawn: `randomness` says how they differ"
               for entry in TABLE if differentiable(entry) and seen[entry.name].draws}
    constant = {name: each.constant for name, each in seen.items() if each.constant and name not in WITHOUT_GRADIENT}
    reverse, second = {**WITHOUT_GRADIENT, **constant}, without_second()
    forward = {**reverse, **WITHOUT_TANGENT}
    twice = {**second, **reverse}
    unbatched = {way: {**drawing, **reasons} for way, reasons in UNBATCHED.items()}
    return {"R": reverse, "F": forward, "F∘R": twice, "R∘F": twice, "R∘R": twice, "F∘F": twice,
            "vmap": unbatched["values"], "vmap R": {**reverse, **unbatched["inside"]},
            "vmap F": {**forward, **unbatched["tangents"]}}


def counts(columns: dict[str, dict[str, str]], seen: dict[str, Seen]) -> str:
    """The table of families."""
    lines = []
    for said, entries in [*BY_FAMILY.items(), ("all", TABLE)]:
        own = [entry for entry in entries if not {"f", "c"}.isdisjoint(entry.kinds)]
        held = [str(sum(entry.name not in out for entry in own)) for out in columns.values()]
        writing = sum(seen[entry.name].writes and entry.name not in WITHOUT_GRADIENT for entry in own)
        lines.append((said, str(len(own)), *held, str(writing)))
    return rows(("family", "entries", *columns, "in place"), *lines)


def reasons(columns: dict[str, dict[str, str]]) -> str:
    """The entries that are left out, by reason, and the columns that leave them out."""
    found: dict[tuple[str, str], list[str]] = {}
    where: dict[tuple[str, str], list[str]] = {}
    for column, out in columns.items():
        for name, why in out.items():
            where.setdefault((name, why), []).append(column)
    for (name, why), of in where.items():
        found.setdefault((why, ", ".join(of)), []).append(_shown(name))
    return rows(("entries", "left out of", "reason"),
                *((", ".join(f"`{name}`" for name in sorted({*names})), of, why) for (why, of), names in found.items()))


def _shown(name: str) -> str:
    """The name of an entry. Entries of one polynomial differ by its degree alone."""
    return name.partition(" ")[0] if "_polynomial_" in name else name


def page() -> str:
    """The page as it has to be."""
    seen = {entry.name: watched(entry) for entry in TABLE if not {"f", "c"}.isdisjoint(entry.kinds)}
    columns = left_out(seen)
    tables = {"counts": counts(columns, seen), "reasons": reasons(columns)}
    return replaced(PAGE.read_text(encoding="utf-8"), tables)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
