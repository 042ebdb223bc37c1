"""Names that are imported when a program first names them: the same objects in any order, and as if always there."""

from __future__ import annotations

import ast
import importlib
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from needing import on_unix
from retrograd.foundations import names
from retrograd.foundations.names import inside, late
from retrograd.nn import functional, modules

# The modules of the package that have late names.
LATE = ["retrograd", "retrograd.autograd", "retrograd.cuda", "retrograd.nn", "retrograd.nn.attention",
        "retrograd.nn.functional", "retrograd.nn.modules", "retrograd.nn.parallel", "retrograd.nn.utils",
        "retrograd.optim", "retrograd.return_types", "retrograd.testing", "retrograd.utils", "retrograd.viz"]


def run(program: str) -> Any:
    """What a program prints in an interpreter of its own, as Python reads it."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


def test_each_module_says_its_late_names_before_they_are_imported() -> None:
    """`dir` gives the same before and after all names were touched, whatever was imported for this."""
    before, after, public = run(f"""
import importlib, sys, types
homes = [importlib.import_module(name) for name in {LATE}]
before = [dir(home) for home in homes]
public = [[*getattr(home, "__all__", ())] for home in homes]
for home, names in zip(homes, before):
    for name in names:
        getattr(home, name)
after = [dir(home) for home in homes]
def plain(names):
    return [name for name in names if not name.startswith("_")]
print(([*map(plain, before)], [*map(plain, after)], [*map(plain, public)]))""")
    assert before == after
    assert all(set(listed) <= set(found) for listed, found in zip(public, before, strict=True))


def test_completion_offers_no_internals() -> None:
    """`dir` lists the module's own public names and PyTorch's, and nothing that a module imports for itself."""
    early = {"nn.init", "autograd.functional", "signal.windows", "fft", "jit"}
    for path in {*LATE} - {"retrograd.return_types"} | {f"retrograd.{name}" for name in early}:
        home = importlib.import_module(path)
        known = {*getattr(home, "__all__", ()), *names.in_pytorch(names.public(path)), "explain", "op", "viz"}
        assert [name for name in dir(home) if not name.startswith("_") and name not in known] == [], path
    assert not {"after_view", "Allowed", "TYPE_CHECKING", "borrowed", "late"} & {*dir(torch.nn), *dir(functional)}
    assert "adam" not in dir(torch.optim)
    assert "Adam" in dir(torch.optim)


# A program that touches all names of all modules with late names in a random order, and says what each name is.
TOUCH = """
import importlib, random
homes = [(name, importlib.import_module(name)) for name in {homes}]
pairs = [(path, home, name) for path, home in homes for name in dir(home)]
random.Random({seed}).shuffle(pairs)
found = {{}}
for path, home, name in pairs:
    value = getattr(home, name)
    assert getattr(home, name) is value and vars(home)[name] is value, (path, name)
    kind = type(value).__name__
    where = getattr(value, "__name__", "") if kind in ("type", "module", "function") else ""
    found[f"{{path}}.{{name}}"] = (kind, getattr(value, "__module__", None) if where else "", where)
print(sorted(found.items()))
"""


@pytest.mark.parametrize("seed", range(3))
def test_names_mean_the_same_in_any_order_of_first_touches(seed: int) -> None:
    homes = LATE[:]
    random.Random(seed).shuffle(homes)
    found = dict(run(TOUCH.format(homes=homes, seed=seed)))
    expected = {}
    for path in LATE:
        home = sys.modules[path]
        for name in dir(home):
            value = getattr(home, name)
            kind = type(value).__name__
            where = getattr(value, "__name__", "") if kind in ("type", "module", "function") else ""
            expected[f"{path}.{name}"] = (kind, getattr(value, "__module__", None) if where else "", where)
    assert {f"{path}.{name}" for path in LATE for name in getattr(sys.modules[path], "__all__", ())} <= {*found}
    # Which further files of the package are attributes of it depends on the order, and on the tests before this one.
    assert {name: expected[name] for name in found if name in expected} == {
        name: what for name, what in found.items() if name in expected}


@on_unix
@pytest.mark.sampled(6)                                    # each imports 180 files, for eight seconds
@pytest.mark.parametrize("part", range(6))
def test_each_file_is_imported_alone(part: int) -> None:
    """Each file of the package can be the first that a program imports after the package itself.

    It is there under its name, it hints at missing names if PyTorch has the module, and it does not take the place of
    a function of its name. Each import is in a process of its own, a copy of one that has imported the package alone.
    """
    files = sorted(path.relative_to(folder).with_suffix("").parts for folder in torch.__path__
                   for path in Path(folder).rglob("*.py"))[part::6]
    paths = [".".join(("retrograd", *parts)).removesuffix(".__init__") for parts in files]
    failed = run(f"""
import gc, importlib, os, sys, traceback
import retrograd
from retrograd.foundations import names
names.in_pytorch("torch")
def check(path):
    parent, _, last = path.rpartition(".")
    home = importlib.import_module(parent)
    listed = last in getattr(home, "__all__", ()) or last in dir(home)
    module = importlib.import_module(path)
    if listed and type(module) is not type(getattr(home, last)):
        assert callable(getattr(home, last)), (path, "hidden by", getattr(home, last))
    if names.public(path) in names._table() and "__all__" in vars(module):
        assert "__getattr__" in vars(module), (path, "has no hints")
        assert not hasattr(module, "no_such_name_anywhere")
failed = []
gc.freeze()
for path in {[path for path in paths if path not in ("retrograd", "retrograd.__main__")]}:
    if path in sys.modules:
        continue
    child = os.fork()
    if not child:
        try:
            check(path)
        except BaseException as error:
            absent = getattr(error, "name", None) or ""          # an optional package of others, such as tensorboard
            if isinstance(error, ModuleNotFoundError) and absent.partition(".")[0] not in ("retrograd", "torch"):
                os._exit(0)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(path)
print(failed)""")
    assert failed == []


@pytest.mark.parametrize(("path", "name"), [
    ("autograd", "gradcheck"), ("autograd", "backward"), ("nn.utils", "weight_norm"), ("nn.utils", "spectral_norm"),
    ("nn.functional", "embedding")])
def test_an_import_of_a_file_does_not_hide_the_function_of_its_name(path: str, name: str) -> None:
    program = f"import retrograd.{path}.{name}\n" if name != "embedding" else "import retrograd.nn.modules.sparse\n"
    assert run(program + f"import retrograd\nprint(type(retrograd.{path}.{name}).__name__.__repr__())") == "function"


def test_threads_that_touch_a_name_at_once_get_the_same_object() -> None:
    assert run("""
import threading, retrograd
touched = [("nn", "LSTM"), ("nn", "Conv2d"), ("optim", "Adam"), ("fft", "fft"), ("linalg", "svd"), ("special", "zeta"),
           ("distributions", "Normal"), ("return_types", "topk"), ("autograd", "Function"), ("utils", "data")]
def look(place, barrier, found):
    home, name = place
    barrier.wait()
    found.append(getattr(getattr(retrograd, home), name))
same = []
for place in touched:
    found, barrier = [], threading.Barrier(8)
    threads = [threading.Thread(target=look, args=(place, barrier, found)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same.append(len(found) == 8 and len({*map(id, found)}) == 1)
print(all(same))""")


def test_operators_first_recorded_by_several_threads_have_one_class_of_nodes() -> None:
    assert run("""
import threading, retrograd as torch
def record(barrier, found):
    x = torch.ones(3, requires_grad=True)
    barrier.wait()
    found.append([type(y.grad_fn) for y in (x.sin(), x * x, x.sum(), x.cumsum(0), x.asinh(), x.atan2(x))])
found, barrier = [], threading.Barrier(8)
threads = [threading.Thread(target=record, args=(barrier, found)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len({*map(tuple, found)}) == 1 and len(found) == 8)""")


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module with late names, whose files fail in two ways, or lack the name."""
    (tmp_path / "broken_by_value.py").write_text("raise ValueError('as it is')\n")
    (tmp_path / "broken_by_attribute.py").write_text("import math\nmath.no_such_function\n")
    (tmp_path / "empty_file.py").write_text("")
    monkeypatch.setattr(torch, "__path__", [*torch.__path__, str(tmp_path)])
    home = type(torch)("retrograd.imagined")
    table = {"broken_by_value": "a", "broken_by_attribute": "b", "empty_file": "c"}
    home.__getattr__, home.__dir__ = late(home.__name__, "abc", inside(table))  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, home.__name__, home)
    yield home
    for name in table:
        sys.modules.pop(f"retrograd.{name}", None)


def test_an_error_in_a_late_file_shows_as_itself(broken: Any) -> None:
    with pytest.raises(ValueError, match="^as it is$"):
        _ = broken.a
    with pytest.raises(ImportError, match="^module 'math' has no attribute 'no_such_function', which sto") as caught:
        hasattr(broken, "b")                                     # it is not said that the name is missing
    assert isinstance(caught.value.__cause__, AttributeError)
    with pytest.raises(ImportError, match="has no attribute 'c', which stopped the import of torch.empty_file$"):
        _ = broken.c
    with pytest.raises(AttributeError, match="^module 'torch.imagined' has no attribute 'd'"):
        _ = broken.d
    assert {"a", "b", "c"} <= {*dir(broken)}


def test_every_file_of_layers_and_functions_offers_what_the_table_says() -> None:
    for file, listed in modules.CLASSES.items():
        module = getattr(modules, file)
        own = [name for name in getattr(module, "__all__", ()) if getattr(modules, name, None) is vars(module)[name]]
        assert {*listed.split()} <= {*vars(module)}
        assert {*own} - {*listed.split()} == set(), file
    for file, listed in functional._OWN.items():
        assert sorted(listed.split()) == sorted(names.importlib.import_module(f"{functional.__name__}.{file}").__all__)
    assert len({*modules.__all__}) == len(modules.__all__)
    assert torch.nn.LSTM is torch.nn.modules.rnn.LSTM is vars(torch.nn)["LSTM"]


def test_a_name_is_looked_up_once() -> None:
    assert run("import retrograd\nretrograd.conv2d, retrograd.nn.functional.relu\n"
               "print(['conv2d' in vars(retrograd), 'relu' in vars(retrograd.nn.functional)])") == [True, True]
