"""``python -m benchmarks.page``: writes the figures of the JSON files into the tables of the README, of
docs/performance.md and of docs/explorer.md.

A table stands between two comments, `<!-- figures: NAME -->` and `<!-- end -->`. Tables whose file is not given stay.
`--eager` takes the files of several runs. Then the table shows the median of each figure, and the least and greatest
ratio.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.compiled import FIRST_TARGETS, size
from benchmarks.contestants import COMPILED, CONTESTANTS, EAGER, OURS, RIVALS
from benchmarks.first_picture import COMMANDS
from benchmarks.report import ALONE, duration

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "performance.md", ROOT / "docs" / "explorer.md")
TABLE = re.compile(r"(<!-- figures: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
TITLES = {"torch": "PyTorch", "numpy": "NumPy", "llvm": "machine code"}
Figures = dict[str, Any]
# The rows of the README about programs that are not compiled: what the row says, and its workloads.
ROWS = (
    ("`import` in a fresh interpreter", ("import",)),
    ("2,000 small operations, forward and backward", ("chain",)),
    ("a training step written by hand, on 2,000 points; the same step with a custom `Function`", ("cubic", "legendre")),
    ("a training step of a two-layer network, batches of 16", ("model",)),
    ("training steps of example programs: an image classifier, a GAN, a language model, a transformer",
     ("classifier", "gan", "words", "letters")),
    ("an LSTM over 20 steps; a GRU; forward and backward", ("lstm", "gru")),
    ("a chain of a million operations, forward, backward and release", ("million",)),
    ("`functional.jacobian` of a small function", ("jacobian",)),
    ("`func.jvp` of a network; gradients by sample, with `vmap(grad(...))`; a Hessian of 16 numbers",
     ("jvp", "per-sample", "hessian")),
    ("softmax of 64x128x128; layer_norm of the same tensor, with weight and bias", ("softmax", "layer-norm")),
    ("a convolution of 32x16x28x28 with 32 filters 3x3, forward and backward", ("conv2d",)),
    ("100,000 rows of an embedding, forward and backward", ("embedding",)),
    ("sorting a million numbers, with their indices", ("sort",)),
)


def rows(titles: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    """A table of Markdown. Numbers stand at the right."""
    return "\n".join(f"| {' | '.join(row)} |" for row in
                     [titles, ["---", *["---:"] * (len(titles) - 1)], *cells]) + "\n"


def ratio(value: float | None, target: float, between: Sequence[float] = ()) -> str:
    """A ratio; in bold with its target if it is above the target. `between` has the ratios of all runs."""
    if value is None:
        return "–"
    noise = f", {min(between):.2f} to {max(between):.2f}" if len(between) > 1 else ""
    return f"{value:.2f}{noise}" if value <= target else f"**{value:.2f}**{noise} (target {target:g})"


def together(runs: Sequence[Figures]) -> Figures:
    """The figures of several runs of `python -m benchmarks` as those of one: the medians, and all ratios."""
    found = []
    for each in zip(*[run["results"] for run in runs], strict=True):
        seconds = {name: median([row["seconds"][name] for row in each]) for name in each[0]["seconds"]}
        ratios = {key: [row[key] for row in each if row[key] is not None] for key in ("ratio", "ratio_alone")}
        found.append({**each[0], "seconds": seconds, "between": ratios,
                      **{key: median(values) if values else None for key, values in ratios.items()}})
    return {**runs[0], "results": found}


def machine(figures: Figures) -> str:
    """The machine and the versions, as a sentence."""
    of = figures["machine"]
    versions = [f"{name} {of[name]}" for name in ("numpy", "torch", "jax", "llvmlite") if of.get(name)]
    return f"{of['processor']}, {of['cpus']} processors; Python {of['python']}, {', '.join(versions)}.\n"


def eager(figures: Figures) -> str:
    """All workloads of `python -m benchmarks`."""
    return machine(figures) + "\n" + rows(
        ["workload", "PyTorch", "retrograd", "retrograd / PyTorch", "NumPy alone", "NumPy alone / PyTorch"],
        [[each["summary"], _of(each["seconds"], EAGER, duration), _of(each["seconds"], OURS, duration),
          ratio(each["ratio"], each["target"], each["between"]["ratio"]), *_alone(each)]
         for each in figures["results"]])


def _alone(row: Figures) -> tuple[str, str]:
    """The time and the ratio without machine code, for workloads that machine code changes."""
    if row["ratio_alone"] is None:
        return "", ""
    return duration(row["seconds"][ALONE]), ratio(
        row["ratio_alone"], row["target_alone"], row["between"]["ratio_alone"])


def short(figures: Figures) -> str:
    """Some workloads of `python -m benchmarks`, with their ratios only."""
    found = {each["name"]: each["ratio"] for each in figures["results"]}
    return machine(figures) + "\n" + rows(["workload", "retrograd / PyTorch"], [
        [words, "; ".join([f"{found[name]:.2f}" for name in names])] for words, names in ROWS])


def steps(figures: Figures) -> str:
    """The ratios of compiled steps to the faster rival."""
    return machine(figures) + "\n" + rows(
        ["step", *[f"{TITLES[name]} / best" for name in COMPILED]],
        [[each["summary"], *[_of(each["ratios"], name, "{:.2f}".format) for name in COMPILED]]
         for each in figures["results"]])


def compiled(figures: Figures) -> str:
    """The time of each step, and the ratios to the faster rival."""
    return machine(figures) + "\n" + rows(
        ["step", *[TITLES.get(name, name) for name in CONTESTANTS], *[f"{TITLES[name]} / best" for name in COMPILED]],
        [[each["summary"], *[_of(each["seconds"], name, duration) + _way(each, name) for name in CONTESTANTS],
          *[ratio(each["ratios"].get(name), each["targets"][name]) for name in COMPILED]]
         for each in figures["results"]])


def _way(each: Figures, name: str) -> str:
    """A mark if torch.compile was faster with the loss than with the whole step."""
    return " (loss)" if name == "torch.compile" and each["way"] == "loss" else ""


def first(figures: Figures) -> str:
    """The time to the first result, in a new process."""
    names = (*RIVALS, *COMPILED)
    return rows(
        ["step", *[TITLES.get(name, name) for name in names], *[f"{TITLES[name]} / best" for name in COMPILED],
         *[f"with import: {TITLES.get(name, name)}" for name in names[1:]]],
        [[each["name"], *[_of(each["first"], name, duration) for name in names],
          *[ratio(each["first_ratios"].get(name), FIRST_TARGETS[name]) for name in COMPILED],
          *[_of(each["with_import"], name, duration) for name in names[1:]]] for each in figures["results"]])


def memory(figures: Figures) -> str:
    """The peak of later runs, and of the first runs where a compiler works."""
    names = (EAGER, OURS, *COMPILED)
    return rows(
        ["step", *[TITLES.get(name, name) for name in names], *[f"first runs, {TITLES[name]}" for name in COMPILED]],
        [[each["name"], *[_of(each["memory"], name, size) for name in names],
          *[_of(each["first_memory"], name, size) for name in COMPILED]] for each in figures["results"]])


def missed(figures: Figures) -> str:
    """The ratios above their targets, as a list."""
    found = []
    for each in figures["results"]:
        parts = [("step", each["ratios"], each["targets"]), ("first result", each["first_ratios"], FIRST_TARGETS),
                 ("peak memory", each["memory_ratios"], dict.fromkeys((OURS, *COMPILED), 1.0))]
        found += [f"- {each['name']}, {what}, {TITLES.get(name, name)}: {value:.2f}; the target is {targets[name]:g}"
                  for what, ratios, targets in parts for name, value in ratios.items() if value > targets[name]]
        found += [f"- {each['name']}: {problem}" for problem in each["problems"]]
    return "\n".join([*found, ""]) if found else "All targets are reached.\n"


def limits(figures: Figures) -> str:
    """What was measured of the machine itself."""
    of = figures["limits"]
    return rows(["limit", "measured"], [
        ["memory, a copy by all processors", f"{of['gigabytes_a_second']:.1f} GB/s"],
        ["time of the copy for each `float32`", f"{of['copy_seconds_each'] * 1e9:.2f} ns"],
        ["a call of NumPy on two numbers", f"{of['call_seconds'] * 1e9:.0f} ns"]])


def nodes(figures: Figures) -> str:
    """Nanoseconds and bytes for each node of the longest chain."""
    found = []
    for name, points in figures["nodes"].items():
        count = max(points, key=int)
        parts = [f"{seconds / int(count) * 1e9:,.0f} ns" for seconds in points[count].values()]
        held = figures["nodes_memory"].get(name, {}).get(count)
        found.append([f"{TITLES.get(name, name)}, {int(count):,} nodes", *parts,
                      f"{held['peak'] / int(count):,.0f} bytes" if held else "–"])
    return rows(["each node", "forward", "backward", "release", "memory"], found)


def picture(figures: Figures) -> str:
    """The way to a first picture: each command, the time it takes, and what there is then."""
    return rows(["command, and what there is then", "time"], [
        [f"`{command.text}`: {command.result}", duration(seconds)]
        for command, seconds in zip(COMMANDS, figures["seconds"])])


def _of(values: dict[str, Any], name: str, show: Callable[[float], str]) -> str:
    return show(values[name]) if name in values else "–"


# The tables, by the file of figures that each of them shows.
TABLES: dict[str, tuple[Callable[[Figures], str], ...]] = {
    "eager": (short, eager), "compiled": (steps, compiled, first, memory, missed), "growth": (limits, nodes),
    "way": (picture,),
}


def fill(text: str, files: dict[str, Figures]) -> str:
    """The page with the tables of these files. Raises KeyError if the page has a table that nothing fills."""
    makers = {make.__name__: (make, kind) for kind, made in TABLES.items() for make in made}

    def table(match: re.Match[str]) -> str:
        make, kind = makers[match[2]]
        return f"{match[1]}{make(files[kind])}{match[3]}" if kind in files else match[0]

    return TABLE.sub(table, text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page",
                                     description="Write measured figures into the pages.")
    for kind in TABLES:
        parser.add_argument(f"--{kind}", metavar="FILE", nargs="+" if kind == "eager" else 1,
                            help=f"the figures of {kind}, as JSON")
    options = parser.parse_args()
    runs = {kind: [json.loads(Path(file).read_text(encoding="utf-8")) for file in files]
            for kind, files in vars(options).items() if files is not None}
    files = {kind: together(each) if kind == "eager" else each[0] for kind, each in runs.items()}
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8"), files), encoding="utf-8")


if __name__ == "__main__":
    main()
