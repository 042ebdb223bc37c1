"""How many names of each of PyTorch's namespaces retrograd has, from the list of PyTorch's names in the package.

Needs no PyTorch. Modules below a namespace are counted apart, and so are the classes of the compiler of scripts and of
the dispatcher in `torch`: those that pybind11 binds in `torch._C`, which `bound_classes.txt` records from PyTorch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import retrograd
from retrograd.foundations.names import _table, only_refuses, remedies

# Why names are missing. The first pattern that matches the whole name gives the reason.
REASONS: dict[str, str] = {
    "other devices and their libraries": r"torch\.(cuda|xpu|mps|mtia|accelerator|backends|numa|nativert)\b",
    "the compiler of scripts, and its graphs":
        r"torch\.(\w+Type|Block|Graph|Node|Value|Use|Code|Call\w+|Script\w*|Argument\w*|AliasDb|\w*Module|ConcreteM\w+|"
        r"ErrorReport|Execution\w+|GraphExecutor\w+|FunctionSchema|IODescriptor|JITException|OperatorInfo|Tag|Capsule|"
        r"CompilationUnit|Complete\w+|Future|Locking\w+|Logger\w+|Noop\w+|Static\w+|Tracing\w+|Benchmark\w+|"
        r"Gradient|ThroughputBenchmark|AVG|SUM|FatalError|DeepCopyMemoTable|\w*erializationStorageContext|"
        r"slice_inverse|"
        r"Dispatch\w+|\w*DispatchKeyGuard|DisableTorchFunction\w*|PyTorchFile\w+|Sym\w+|sym_\w+|parse_\w+|import_ir\w*|"
        r"merge_type\w+|unify_type_list|get_file_path|PRIVATE_OPS|FileCheck|classproperty|Type)$|torch\.\w+\.(slice_inver"
        r"se|FileCheck|enable_reentrant_dispatch|redispatch_function|NestedIOFunction|common_notes)$",
    "ways between processes other than MPI": r"torch\.distributed\b",
    "compiling and tracing": r"torch\.(_dynamo|compiler|fx|jit|library|onnx|package|export|func|vmap)\b",
    "quantized tensors": r".*(quant|qint|quint|\.q_|\.q[A-Z]|QU?Int|Q[A-Z]|fbgemm|int_repr|qparams|per_(tensor|channel)"
        r"|qscheme|moving_avg_obs|torch\.ao\b|\.intrinsic|\.qat$)",
    "sparse, nested and packed tensors": r".*(sparse|(col|row)_indices|coalesce|(indices|values)(_copy)?$|dense_dim|"
        r"jagged|padded_tensor|nested|masked|\.\w*s?s?p?addmm$|\.[hs]s?[mp]+m$|\.saddmm$|\.dsmm$)",
    "other dtypes": r".*(bfloat16|BFloat16|float[48]_|bits?\d*(x\d)?$|\.u?int\d+$|complex32|chalf|hash_tensor|amp\b|"
        r"autocast|GradScaler)",
    "other devices and libraries": r".*(cudnn|miopen|mkldnn|xpu|ipu|mtia|record_stream|Stream|Event|stream)|"
        r"torch\.nn\.functional\.scaled\w+|torch\.(batch_norm_\w+|init_num_threads|prepare_multiprocessing_environment)$",
    "data pipes": r"torch\.utils\.data\b",
    "tools around programs": r"torch\.(utils|monitor|profiler|contrib|classes|futures|autograd\.profiler\w*)\b|"
        r".*profiler\w*",
    "not built yet": r"torch\.Tensor\.index$",
}


class Coverage(NamedTuple):
    """A namespace: PyTorch's names without modules, those that retrograd lacks, and PyTorch's modules that it lacks.

    The names that `refusing` lists can be imported, and their calls raise NotImplementedError.
    """

    space: str
    listed: list[str]
    absent: list[str]
    modules: list[str]
    absent_modules: list[str]
    refusing: list[str]
    part: str = ""                                           # what is counted of the namespace, if it is not all

    @property
    def share(self) -> float:
        """The share of the names that retrograd has, in per cent."""
        return 100 * self.have / len(self.listed) if self.listed else 100.0

    @property
    def have(self) -> int:
        """How many names retrograd has, of those that do more than refuse."""
        return len(self.listed) - len(self.absent) - len(self.refusing)


def _home(space: str) -> Any:
    return reduce(getattr, space.split(".")[1:], retrograd)


def _is_file(package: Any, name: str) -> bool:
    """Whether a package has a file of this name, which need not be an attribute of it."""
    return hasattr(package, "__path__") and find_spec(f"{package.__name__}.{name}") is not None


@cache
def bound_classes() -> frozenset[str]:
    """The classes of `torch` that PyTorch binds from C++, for its compiler of scripts and its dispatcher."""
    lines = Path(__file__).with_name("bound_classes.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(" ".join(line for line in lines if not line.startswith("#")).split())


def coverage(space: str, bound: bool = False) -> Coverage:
    """What retrograd has of a namespace: of `torch` without the bound classes, or with `bound` of those alone."""
    home = _home(space)
    apart = bound_classes() if space == "torch" else frozenset()
    names, modules = [], []
    for name in sorted({*_table()[space]}):
        if not bound or name in apart:
            (modules if name.endswith("/") else names).append(name.rstrip("/"))
    names = [name for name in names if name not in modules and (name in apart) == bound]
    absent = [n for n in modules if not hasattr(home, n) and not _is_file(home, n)]
    return Coverage(space, names, [n for n in names if not hasattr(home, n)], modules, absent,
                    [n for n in names if only_refuses(getattr(home, n, None))],
                    "classes that torch._C binds" if bound else "")


def everything() -> Iterator[Coverage]:
    """Every namespace of the list that retrograd has, and the bound classes of `torch`."""
    for space in _table():
        yield coverage(space)
        if space == "torch":
            yield coverage(space, bound=True)


def reason(name: str) -> str:
    """Why a whole name is missing, or what to use instead, or ''."""
    found = next((why for why, pattern in REASONS.items() if re.match(pattern, name)), "")
    return found or next((f"instead: {said}" for pattern, said in remedies()
                          if re.fullmatch(pattern.replace(".", r"\.").replace("*", r".*"), name)), "")


def _shown(names: list[str]) -> str:
    return f"{len(names)}" + (f" ({', '.join(names)})" if len(names) <= 12 else "")


def rows() -> Iterator[tuple[str, str]]:
    """For each namespace its name, and how many names and modules it has and which are missing."""
    for one in everything():
        grouped: dict[str, list[str]] = {}
        for name in one.absent:
            grouped.setdefault(reason(f"{one.space}.{name}"), []).append(name)
        said = "; ".join(f"{why or 'others'}: {_shown(names)}" for why, names in grouped.items())
        below = len(one.modules) - len(one.absent_modules)
        counts = f"{one.have} of {len(one.listed)} names ({one.share:.1f} %)"
        counts += f", {below} of {len(one.modules)} modules" if one.modules else ""
        counts += f"; only refuse: {_shown(one.refusing)}" if one.refusing else ""
        yield one.space + (f": {one.part}" if one.part else ""), counts + (f"; missing: {said}" if said else "")
