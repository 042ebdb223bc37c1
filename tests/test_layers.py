"""The architecture, read from the syntax trees: who may import whom, and how long a file or a function may be.

Each layer imports only from itself and from the layers above it in LAYERS. Nothing is imported inside a function,
and no two modules import each other in a circle. Some modules may not import others of their own layer or below, and
some may not even name a class.
"""

import ast
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from reading.packages import Import, Package, below, cycles, length, names_in, parsed, statements_below

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "retrograd"
# What only bears names of PyTorch. The package finds it as if it stood in its own folder.
NAMES = ROOT / "src" / "namespaces"
CHECKED_FOR_LENGTH = ("src", "tests", "examples", "benchmarks", "docs")
FILE_LINES = 400
FUNCTION_LINES = 40  # without the docstring

# Those of PyTorch's names that know other ones, from the bottom up.
KNOWING = (
    ("_C", "_dynamo", "_functorch", "_utils_internal", "cuda", "func", "jit", "masked", "types",
     "utils.model_zoo"),
    ("_jit_internal", "_vmap_internals", "mps", "mtia", "xpu"),
)
# All others.
PLAIN = tuple(sorted({path.stem for path in NAMES.iterdir()} - {name for names in KNOWING for name in names}))
# From the bottom up. A name stands for the module and all below it, and the longest name that fits decides; ""
# is the package itself, whose __init__ gathers the public names.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("foundations", "extras", "return_types", "__future__", "version"),
    ("kernels",),
    ("ops",),
    ("graph",),
    ("tensors.state",),
    ("tensors.arguments",),
    ("tensors.recording",),
    ("tensors.transforms",),
    ("tensors.functions",),
    ("tensors.face",),
    ("tensors",),
    ("autograd",),
    ("nn", "optim", "serialization", "utils", "distributed", "amp"),
    ("compilation",),
    ("dispatch", "library", "utils._mode_utils", "utils._python_dispatch", "viz", "command.imports"),
    PLAIN,
    *KNOWING,
    ("", "distributions", "wiring"),
    ("command", "__main__"),
)
# What may be known of PyTorch's names outside of their folder: the class of the package's version, and the messages of
# calls that no handler takes.
KNOWN_NAMES = {("", "torch_version"), ("utils.model_zoo", "hub"), ("wiring", "overrides")}
# Doors to a higher layer: what a module imports by `names.reached` when a program first needs it.
DOORS = {
    ("ops", "library.vision"),                             # the operators of a library that a program loads
    ("command.imports", "command.children"),               # processes that a program starts
    ("tensors.functions.sparse", "tensors.sparse.public"), # what sparse tensors compute
}
# The folders of the compiler, in the same order. The last entry is all that stands beside the folders.
COMPILER = ("compilation.program", "compilation.reach", "compilation.guards", "compilation.numbers",
            "compilation.passes", "compilation.execution", "compilation.native", "compilation.eager",
            "compilation.repeat", "compilation.trace", "compilation.sized", "compilation")
# Modules that may not name these classes, not even in an annotation or a string.
UNNAMED = {
    "kernels": {"Tensor", "TensorBase", "Node", "Op"},
    "ops": {"Tensor", "TensorBase", "Node"},
    "graph": {"Tensor", "TensorBase"},
    "tensors.face.formatting": {"Tensor", "TensorBase"},
    "tensors.face.printing": {"Tensor", "TensorBase"},
}
# Modules that may not import these, although the layers and the test of circles allow it. Modules below the same
# name may import each other.
UNKNOWN = {
    "autograd.differences": ("autograd", "graph"),  # does not know how a gradient is computed
    "autograd.mutation": ("graph.node", "ops"),
    # These do not know how calls are recorded.
    "autograd.profiler_report": ("autograd.profiler", "autograd.profiler_recording", "graph", "ops", "tensors"),
    "autograd.profiler_events": ("autograd.profiler", "autograd.profiler_recording", "graph", "ops", "tensors"),
    "autograd.strict": ("autograd", "graph"),
    "command.check": ("autograd", "graph", "kernels", "ops", "tensors"),
    "command.imports": ("autograd", "graph", "kernels", "ops", "tensors"),
    "command.run": ("autograd", "graph", "kernels", "ops", "tensors"),
    "graph.bad_values": ("graph",),
    "graph.stack": ("graph",),
    "kernels.native": ("kernels.elementwise", "kernels.images", "kernels.indexing", "kernels.linalg",
                       "kernels.networks", "kernels.random", "kernels.special"),
    "kernels.random.twister": ("kernels",),
    "foundations.forks": ("",),
    "foundations.modes": ("extras", "foundations.board", "foundations.devices", "foundations.dtypes",
                          "foundations.errors", "foundations.futures", "foundations.launching", "foundations.limits",
                          "foundations.names", "foundations.tracebacks"),
    "foundations.names": ("foundations.devices", "foundations.dtypes", "foundations.futures", "foundations.launching",
                          "foundations.limits", "foundations.modes", "foundations.shells", "foundations.tracebacks"),
    "serialization": ("nn.modules", "optim"),
    "serialization.saving": ("serialization.loading", "serialization.weights"),
    "return_types": ("",),
    "tensors.arguments.size": ("foundations.dtypes", "graph", "kernels", "ops", "tensors.state"),
    "tensors.arguments.sliding": ("ops",),
    "tensors.face.copying": ("graph", "ops", "tensors.functions", "tensors.recording.calls"),
    "tensors.face.formatting": ("",),
    "tensors.face.interop": ("graph", "ops", "tensors.recording.calls"),
    "tensors.face.printing": ("graph", "kernels", "ops", "tensors.arguments", "tensors.functions", "tensors.recording",
                              "tensors.state"),
    "tensors.face.settings": ("graph", "kernels", "ops"),
    "tensors.face.storage": ("ops", "tensors.recording.calls"),
    "tensors.recording.resizing": ("ops",),
    "tensors.recording.saved_names": ("graph", "tensors.recording.saved_values", "tensors.recording.saving"),
    "tensors.recording.saved_values": ("ops",),
    "tensors.state.refusals": ("kernels", "ops", "tensors.state.base"),
    "tensors.state.writable": ("graph", "ops", "tensors.state.base"),
}

# Too long for a stated reason: "path" or "path::function" to that reason.
LONG_FUNCTIONS = {
    "src/retrograd/tensors/recording/calls.py::_unary": "a factory of one closure, and that closure is the hot path",
    "src/retrograd/tensors/recording/calls.py::_binary": "the same for two operands",
    "src/retrograd/tensors/recording/calls.py::_optioned": "the same for one operand and options",
    "src/retrograd/tensors/recording/calls.py::call": "the same closures: each call in them costs as much as the work",
}


def layer(name: str) -> int | None:
    """The number of the layer that holds this module, counted from the bottom; None where the table has none."""
    known = {entry: number for number, entries in enumerate(LAYERS) for entry in entries}
    while name and name not in known:
        name = name.rpartition(".")[0]
        if not name:
            return None
    return known[name]


def imports_of_later_folders(package: Package, folders: tuple[str, ...]) -> list[str]:
    """Imports of a module in a later one of these folders than the importer's own."""
    number = {name: next((n for n, folder in enumerate(folders) if below(name, folder)), -1) for name in package.trees}
    return [str(found) for found in package.imports
            if number.get(found.imported, -1) > number[found.importer] and number[found.importer] >= 0]


def from_above(imports: list[Import]) -> list[Import]:
    """Imports of a module in a higher layer than the importer's own."""
    return [found for found in imports if (layer(found.imported) or 0) > (layer(found.importer) or 0)]


def imports_of_names(package: Package) -> list[Import]:
    """Imports of PyTorch's names by other modules."""
    return [found for found in [*package.imports, *package.reached]
            if found.imported in package.beside and found.importer not in package.beside]


@pytest.fixture(scope="module", autouse=True)
def trees() -> Iterator[None]:
    """The syntax trees are kept for all tests of this file. They are millions of objects, which the collector is not to
    go over again and again: it took longer than reading them.
    """
    gc.disable()
    yield
    parsed.cache_clear()
    gc.enable()


@pytest.fixture(scope="module")
def retrograd(trees: None) -> Package:
    return Package(SOURCE, NAMES)


def test_every_module_has_a_layer(retrograd: Package) -> None:
    homeless = [name for name in retrograd.trees if layer(name) is None]
    assert not homeless, f"say in LAYERS where these stand: {homeless}"


def test_a_layer_imports_only_from_itself_and_those_below(retrograd: Package) -> None:
    assert [*map(str, from_above(retrograd.imports))] == []


def test_an_import_at_the_first_need_from_above_is_a_declared_door(retrograd: Package) -> None:
    assert {(found.importer, found.imported) for found in from_above(retrograd.reached)} == DOORS


def test_nothing_needs_what_only_bears_names_of_pytorch(retrograd: Package) -> None:
    found = imports_of_names(retrograd)
    assert {(each.importer, each.imported) for each in found} == KNOWN_NAMES, [*map(str, found)]


def test_a_folder_of_the_compiler_imports_only_from_itself_and_those_before(retrograd: Package) -> None:
    assert imports_of_later_folders(retrograd, COMPILER) == []
    assert {name for name in retrograd.packages if below(name, "compilation")} == {*COMPILER}


def test_no_module_imports_the_package_inside_a_function(retrograd: Package) -> None:
    assert [str(found) for found in retrograd.imports if found.in_function] == []


def test_no_modules_import_each_other_in_a_circle(retrograd: Package) -> None:
    assert cycles(retrograd) == []


@pytest.mark.parametrize("layer_name", UNNAMED)
def test_a_layer_does_not_name_what_it_must_not_know(layer_name: str, retrograd: Package) -> None:
    named = [
        f"{module}:{line} names {name}"
        for module, tree in retrograd.trees.items()
        if below(module, layer_name)
        for name, line in names_in(tree)
        if name in UNNAMED[layer_name]
    ]
    assert named == []


def imports_of_unknown(package: Package, unknown: dict[str, tuple[str, ...]]) -> list[str]:
    """Imports of modules that the table forbids the importer."""
    return [str(found) for found in package.imports for own, others in unknown.items()
            if below(found.importer, own) and not below(found.imported, own)
            and any(below(found.imported, other) for other in others)]


def test_a_module_does_not_import_what_it_must_not_know(retrograd: Package) -> None:
    assert imports_of_unknown(retrograd, UNKNOWN) == []


def test_the_tables_name_modules_that_there_are(retrograd: Package) -> None:
    names = {*retrograd.trees, ""}
    assert {*UNNAMED, *UNKNOWN, *(other for others in UNKNOWN.values() for other in others)} <= names


def python_files() -> Iterator[tuple[str, Path]]:
    for folder in CHECKED_FOR_LENGTH:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "_build" not in path.parts:                               # copies that a build of the pages makes
                yield path.relative_to(ROOT).as_posix(), path


def lines_of(name: str, path: Path) -> int:
    """The lines of a file. A tutorial is a page, so only its code counts: its text and its outputs are comments."""
    lines = path.read_bytes().splitlines()
    if name.startswith("docs/learn/"):
        return sum(1 for line in lines if line.strip() and not line.startswith(b"#"))
    return len(lines)


def test_no_file_is_too_long() -> None:
    lines = {name: lines_of(name, path) for name, path in python_files()}
    assert not {name: count for name, count in lines.items() if count > FILE_LINES}


def test_no_function_is_too_long() -> None:
    long = {
        f"{name}::{node.name}": length(node)
        for name, path in python_files()
        for node in statements_below(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > FUNCTION_LINES
    }
    assert long.keys() == LONG_FUNCTIONS.keys(), long


# The readers above, held to a package with planted faults: a check that finds nothing anywhere would pass as well.


@pytest.fixture
def planted(tmp_path: Path) -> Package:
    files = {
        "__init__.py": "from planted.tensors import core\n",
        "foundations.py": "import numpy\nfrom planted.graph.engine import run\n",
        "graph/__init__.py": "",
        "graph/engine.py": "from . import node\ndef run():\n    import planted.foundations\n",
        "graph/node.py": (
            "from typing import TYPE_CHECKING\nfrom planted.foundations import at\n"
            "if TYPE_CHECKING:\n    from .engine import run\ndef f(x: 'Tensor'): pass\n"
        ),
        "tensors/__init__.py": "from .core import x\n",
        "tensors/core.py": "from ..graph import engine\nfrom . import missing_name\n",
    }
    for name, text in files.items():
        path = tmp_path / "planted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Package(tmp_path / "planted")


def test_the_reader_resolves_every_form_of_import(planted: Package) -> None:
    assert {(found.importer, found.imported) for found in planted.imports} == {
        ("", "tensors.core"),
        ("foundations", "graph.engine"),
        ("graph.engine", "graph.node"),
        ("graph.engine", "foundations"),
        ("graph.node", "foundations"),
        ("graph.node", "graph.engine"),
        ("tensors", "tensors.core"),
        ("tensors.core", "graph.engine"),
        ("tensors.core", "tensors"),
    }


def test_the_reader_finds_planted_faults(planted: Package) -> None:
    assert [*map(str, from_above(planted.imports))] == ["foundations:2 imports graph.engine"]
    assert imports_of_later_folders(planted, ("graph", "foundations")) == [
        "graph.engine:3 imports foundations", "graph.node:2 imports foundations"]
    assert [str(found) for found in planted.imports if found.in_function] == ["graph.engine:3 imports foundations"]
    assert cycles(planted) == [  # by way of graph.node, the import for types only does not count
        "graph.engine -> foundations -> graph.engine",
        "tensors.core -> tensors -> tensors.core",
    ]
    assert imports_of_unknown(planted, {"tensors": ("graph",), "graph": ("graph", "tensors")}) == [
        "tensors.core:1 imports graph.engine"]
    assert ("Tensor", 5) in names_in(planted.trees["graph.node"])
    assert layer("command.imports") < layer("") < layer("command.run")
    assert layer("elsewhere") is None
    two_lines = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n').body[0]
    assert isinstance(two_lines, ast.FunctionDef)
    assert length(two_lines) == 2
