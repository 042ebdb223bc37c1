"""The data of docs/coverage.md: PyTorch's public names, whether retrograd has each of them, and how it is checked.

This module needs PyTorch for the names, and to find the functions that each entry of the table of operators calls. Run
it to bring the data, docs/coverage.csv, and the count on the page up to date. A name counts as checked if an entry
calls it, or calls a function with the same definition in retrograd.
"""

from __future__ import annotations

import csv
import io
import re
import types
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

import retrograd
from comparing import namespace_coverage, signatures
from comparing.everyday import names as everyday_names
from comparing.out_cases import CASES
from op_table.table import TABLE, Entry
from retrograd.tensors.recording.public_facts import definition

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
DATA = PAGE.with_suffix(".csv")
SPACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
_MADE = "<!-- made by tests/comparing/name_coverage.py -->"
_ORDER = ("none", "by programs", "values", "gradient", "tangent", "second", "points", "in place", "out")

# The reasons why names are missing. The first pattern that matches a name gives its reason.
_REASONS: dict[str, str] = {
    "quantized tensors": r"quant|qint|quint|^q_|fbgemm|int_repr|qparams|^per_(tensor|channel)|qscheme|moving_avg_obs",
    "sparse, nested and packed tensors": r"sparse|(^|_)(col|row|crow|ccol)_indices|^(h|d|s|hs)s?p?(mm|addmm)$|"
        r"^sspaddmm|^saddmm|coalesce|^(indices|values)(_copy)?$|dense_dim|jagged|padded_tensor|to_dense|^is_nested|^is_coalesced",
    "other devices and their libraries": r"cudnn|miopen|mkldnn|cuda|xpu|ipu|xla|mtia|maia|vulkan|autocast|has_m(kl|ps)|"
        r"pin_memory|is_pinned|record_stream|get_device_module|float32_matmul_precision|has_(lapack|openmp|spectral)|"
        r"tf32|_num_(interop_)?threads|init_num_threads|flush_denormal|deterministic|is_distributed|share(d|_memory_)$|"
        r"(grouped|scaled)_mm$",
    "compiling, tracing and symbols": r"^sym_|^parse_|^import_ir|^(fork|wait|compile|cond|while_loop|vmap)$|"
        r"^merge_type|^unify_type|^get_file_path|^compiled_with|^index$|^slice_inverse|BroadcastingList|boolean_dispatch|assert_int_or_pair",
    "missing dtypes": r"^(b?float(4|8|16)_?.*|bfloat16|hash_tensor|bits\w+|u?int\d+|complex32|chalf|bit)$",
    "recurrent layers": r"(gru|lstm|rnn)(_|$)",
    "parts of other functions": r"^(native|batch_norm_|legacy|unsafe)|_backward_|^(AVG|SUM|PRIVATE_OPS|USE_)|_notes$|"
        r"_args$|common|^prepare_multi|^thread_safe_gen|^Optional$|^profiler_|_MODES$|^classproperty|torch_function",
    "obsolete in PyTorch": r"^(symeig|solve|lstsq|eig|matrix_rank|reinforce|volatile|new|range|resize|resize_as|"
        r"storage_type|chain_matmul|cholesky|nuclear_norm|frobenius_norm|set_default_tensor_type)$",
}


def public(space: str) -> list[str]:
    """The names that PyTorch lists: functions, methods and constants, but no modules and no classes."""
    home = _at(torch, space)
    return [name for name in sorted(dir(home)) if not name.startswith("_") and name != "TYPE_CHECKING"
            and not isinstance(getattr(home, name, None), types.ModuleType | type)]


def _at(library: Any, path: str) -> Any:
    found = library
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found


class _Called(TorchFunctionMode):
    """Records the functions that a program calls, but not the functions that those call."""

    def __init__(self) -> None:
        self.functions: list[Any] = []

    def __torch_function__(self, func: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.functions.append(func)
        return func(*args, **(kwargs or {}))


@cache
def _by_function() -> dict[int, list[str]]:
    """The names of each function of PyTorch, by its identity."""
    found = defaultdict(list)
    for space in SPACES:
        for name in dir(_at(torch, space)):
            found[id(getattr(_at(torch, space), name, None))].append(f"{space}.{name}")
    return found


def _names_called(entry: Entry) -> set[str]:
    arrays = next(entry.samples("float64" if "f" in entry.kinds else "complex128" if "c" in entry.kinds else "int64"))
    tensors = [torch.from_numpy(np.array(a)) for a in arrays]
    for t in tensors:
        t.requires_grad_(t.is_floating_point() or t.is_complex())
    with warnings.catch_warnings(), _Called() as called:
        warnings.simplefilter("ignore")
        entry.call(torch, *tensors)
    return {name for function in called.functions for name in _by_function().get(id(function), ())}


def _checks(entry: Entry) -> set[str]:
    """The checks that the tests of the table run on an entry."""
    found = {"values"}
    if {"f", "c"} & {*entry.kinds} and not entry.refused:
        found |= {"gradient"} | (set() if entry.no_tangent else {"tangent"}) | (
            set() if entry.first_only else {"second"})
    return found | ({"points"} if entry.points else set())


@cache
def checks() -> dict[int, set[str]]:
    """For each function of retrograd, by the identity of its definition, the checks that cover it."""
    found: dict[int, set[str]] = defaultdict(set)
    for entry in TABLE:
        for name in _names_called(entry):
            ours = _at(retrograd, name)
            if ours is not None:
                found[id(definition(ours))] |= _checks(entry)
    for name, _ in CASES:
        found[id(definition(_at(retrograd, f"torch.{name}")))].add("out")
    for name in public("torch.Tensor"):
        written = getattr(retrograd.Tensor, f"{name}_", None)
        if written is not None and id(definition(written)) in found:
            found[id(definition(getattr(retrograd.Tensor, name, None)))].add("in place")
    return found


# Functions without tensor operands. Tests of their own compare their numbers.
_WITHOUT_OPERANDS = {*everyday_names()["Random"], "torch.tril_indices", "torch.triu_indices",
                     "torch.fft.fftfreq", "torch.fft.rfftfreq"}


@cache
def _calls_in_tests() -> set[str]:
    """The words that follow a dot in the tests against PyTorch."""
    here = Path(__file__)
    tests = here.parents[1]
    sources = [p.read_text(encoding="utf-8") for p in tests.rglob("*.py")
               if p != here and tests / "unit" not in p.parents]
    return {word for source in sources for word in re.findall(r"\.(\w+)\b", source)}


def state(name: str) -> str:
    """How a name is checked: by the table, 'by programs' or 'none'. '' if the name is missing."""
    ours, (space, _, plain) = _at(retrograd, name), name.rpartition(".")
    if ours is None and not hasattr(_at(retrograd, space), plain):      # `newaxis` is there, and is None
        return ""
    found = checks().get(id(definition(ours)), set())
    if "values" not in found:
        found = found | {"by programs" if plain in _calls_in_tests() else "none"}
    return ", ".join(word for word in _ORDER if word in found)


def lacks(name: str) -> list[str]:
    """What keeps an everyday name from being whole: it is missing, or it lacks a table entry, a form or a parameter."""
    said = state(name)
    if not said:
        return ["missing"]
    space, _, plain = name.rpartition(".")
    checked = "values" in said or ("by programs" in said and name in _WITHOUT_OPERANDS)
    found = [] if checked else ["table"]
    written = hasattr(torch.Tensor, f"{plain}_") and space == "torch"
    if written and not hasattr(retrograd.Tensor, f"{plain}_"):
        found.append("in place")
    if _takes_out(name) and "out" not in said.split(", "):
        found.append("out")
    untaken = {*signatures.refused(_at(retrograd, name), _overloads(name))} - signatures.ABSENT.get(name, set())
    return found + [f"{word}=" for word in sorted(untaken)]


def _overloads(name: str) -> list[signatures.Overload]:
    return signatures.overloads(name, _at(torch, name))


def _takes_out(name: str) -> bool:
    return any("out" in (*o.positional, *o.keywords) for o in _overloads(name))


def _everyday() -> str:
    """The sentence of the page that counts the everyday operators."""
    names = [name for family in everyday_names().values() for name in family]
    missing = {name: found for name in names if (found := lacks(name))}
    said = "; ".join(f"`{name}` lacks {', '.join(found)}" for name, found in missing.items())
    count = f"{len(names) - len(missing)} of the {len(names)} everyday operators are whole"
    return f"{count}: {said}." if missing else f"{count}."


def _rows() -> Iterator[tuple[str, str]]:
    """The rows of the table: the namespaces, then the names of those whose names are listed."""
    yield from namespace_coverage.rows()
    for space in SPACES:
        for name in public(space):
            yield f"{space}.{name}", state(f"{space}.{name}") or f"missing: {_reason(name) or 'other names'}"


def _reason(name: str) -> str:
    return next((reason for reason, pattern in _REASONS.items() if re.search(pattern, name)), "")


def page() -> str:
    """The page, with the count of the everyday operators made again."""
    head = PAGE.read_text(encoding="utf-8").partition(_MADE)[0]
    return f"{head}{_MADE}\n\n{_everyday()}\n\n```{{coverage}}\n```\n"


def data() -> str:
    """The data of the table, as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("name", "state"), *_rows()])
    return text.getvalue()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    DATA.write_text(data(), encoding="utf-8")
