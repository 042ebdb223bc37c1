"""`retrograd check`: which names of torch does a program need, and which of these are missing?"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd
from forked import ran
from retrograd.command.check import check
from retrograd.command.looking import look_up
from retrograd.command.reading import uses_in


def missing(program: str) -> list[str]:
    """The names that the program needs and retrograd lacks, each with its line."""
    uses = uses_in(ast.parse(program))
    optional = {look_up(path).path for path in uses.optional}
    found = [(look_up(path), line) for path, line in uses.needed]
    return [f"{one.path}:{line}" for one, line in found if one.missing and one.path not in optional]


def needed(program: str) -> list[str]:
    return [look_up(path).path for path, _ in uses_in(ast.parse(program)).needed]


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("import torch\ntorch.zzz(1)", ["torch.zzz:2"]),
        ("import torch as t\nx = 1\nt.zzz.deeper.still", ["torch.zzz:3"]),
        ("import torch.nn as nn\nnn.Zzz(nn.functional.zzz)", ["torch.nn.Zzz:2", "torch.nn.functional.zzz:2"]),
        ("import torch.zzz.inner\ntorch.zzz.inner.f()", ["torch.zzz:1", "torch.zzz:2"]),
        ("from torch import nn, zzz", ["torch.zzz:1"]),
        ("from torch import (\n    nn,\n    zzz,\n)", ["torch.zzz:3"]),
        ("from torch.utils.data import DataLoader, Zzz", ["torch.utils.data.Zzz:1"]),
        ("from torch.zzz import anything", ["torch.zzz:1"]),
        ("from torch.nn import *\nLinear(Zzz, ReLU)\nCTCLoss", []),
        ("from torch import nn\nlayers = nn\nlayers.Zzz", ["torch.nn.Zzz:3"]),
        ("import torch\nF = torch.nn.functional\ndef f():\n    return F.zzz", ["torch.nn.functional.zzz:4"]),
        ("import retrograd as torch\ntorch.zzz", ["torch.zzz:2"]),
        ("import torch\ntorch.nn.Linear.zzz", ["torch.nn.Linear.zzz:2"]),
        ("import torch\ngetattr(torch, 'zzz')", ["torch.zzz:2"]),
        ("import torch\n@torch.zzz\ndef f(x: torch.Z = torch.y): pass", ["torch.zzz:2", "torch.y:3", "torch.Z:3"]),
        ("import torch\n(torch\n .zzz)", ["torch.zzz:3"]),
        ("def f():\n    import torch\n    torch.zzz", ["torch.zzz:3"]),
        ("import torch\nclass C(torch.Zzz):\n    def f(self): return torch.yyy", ["torch.Zzz:2", "torch.yyy:3"]),
        ("import torch\ntorch.backends.zzz.flag = True", ["torch.backends.zzz:2"]),
    ],
)
def test_names_are_found_in_each_form(program: str, found: list[str]) -> None:
    assert missing(program) == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("torch.randn(2).zzz()", True),
        ("x = torch.randn(2)\nx.zzz", True),
        ("x = torch.randn(2)\nx.view(2).exp()[0].zzz", True),
        ("x = torch.nn.functional.relu(torch.ones(2))\nx.sum().zzz", True),
        ("def f(x: torch.Tensor): return x.zzz", True),
        ("getattr(torch.ones(2), 'zzz')", True),
        ("x = torch.randn(2)\nx = other(x)\nx.zzz", False),
        ("x = torch.max(a, 0)\nx.zzz", False),
        ("def f(x): return x.zzz", False),
        ("torch.ones(2).item().zzz", False),
        ("for x in torch.ones(2): x = x.zzz", False),
        ("def f(x: torch.Tensor):\n    x = g(x)\n    x.zzz", False),
    ],
)
def test_methods_are_checked_where_the_object_is_certainly_a_tensor(lines: str, found: bool) -> None:
    assert bool(missing(f"import torch\n{lines}")) is found


@pytest.mark.parametrize(
    "program",
    [
        "try:\n    from torch.zzz import f\nexcept ImportError:\n    f = None",
        "try:\n    import torch.zzz as z\nexcept (ImportError, OSError):\n    z = None\nz.f()",
        "import torch\nif hasattr(torch, 'zzz'):\n    torch.zzz()",
        "import torch\ngetattr(torch, 'zzz', None)",
        "import torch\nif torch.cuda.is_available():\n    torch.cuda.zzz()",
        "import torch\nx = 1 if not torch.jit.is_scripting() else torch.zzz",
        "import torch\nif debug and torch.cuda.is_available():\n    torch.zzz",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch.zzz import Z",
        "from __future__ import annotations\nimport torch\ndef f(x: torch.Zzz) -> torch.Zzz:\n    y: torch.Zzz = x",
        "import torch\ndef f(torch): return torch.zzz",
        "import torch\nfit = lambda torch: torch.zzz",
        "import other as torch\ntorch.zzz",
        "from . import torch\ntorch.zzz",
        "import torch\ntorch.zzz = 1",
        "import torch\ntorch.zzz = 1\nprint(torch.zzz)",
        "import torch\ntry:\n    f = torch.zzz\nexcept AttributeError:\n    f = None",
        "import torch\ntry:\n    f = torch.zzz\nexcept (TypeError, AttributeError):\n    f = None",
        "import torch\nwhile torch.cuda.is_available():\n    torch.zzz()",
        "import torch\nf = torch.cuda.is_available() and torch.zzz",
        "import torch\nf = not torch.cuda.is_available() or torch.zzz",
    ],
)
def test_what_a_program_does_not_need_is_not_missing(program: str) -> None:
    assert missing(program) == []


@pytest.mark.parametrize(
    "program",
    [
        "try:\n    from torch.zzz import f\nexcept ImportError:\n    raise SystemExit",
        "try:\n    from torch.zzz import f\nexcept ValueError:\n    f = None",
        "import torch\nif torch.cuda.is_available():\n    pass\nelse:\n    torch.zzz",
        "import torch\nif torch.cuda.is_available() or debug:\n    torch.zzz",
        "import torch\nf = torch.cuda.is_available() or torch.zzz",
        "import torch\nwhile not torch.cuda.is_available():\n    torch.zzz()",
        "import torch\ntry:\n    f = torch.zzz\nexcept Exception:\n    print('failed')",
        "import torch\ntry:\n    f = torch.zzz\nexcept:\n    print('failed')",
        "import torch\ntry:\n    f = torch.zzz\nexcept AttributeError:\n    raise SystemExit",
        "import torch\nclass C:\n    torch = 1\n    def f(self): return torch.zzz",
    ],
)
def test_what_a_program_needs_after_all_is_missing(program: str) -> None:
    assert missing(program)


def test_every_name_is_needed_once_per_place() -> None:
    program = "import torch.nn as nn, torch\nnn.Linear(2, 2).weight.dtype\ntorch.float32.itemsize\ntorch.nn.init.zeros_"
    assert needed(program) == ["torch.nn", "torch", "torch.nn.Linear", "torch.float32", "torch.nn.init.zeros_"]


def run(folder: Path, *targets: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(retrograd.__file__).parents[1])}
    return ran("-m", "retrograd", "check", *targets, cwd=folder, env=environment)


def test_the_command_lists_what_is_missing_with_the_advice(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import torch\n\ntorch.utils.mobile_optimizer\nx = torch.ones(2)\n"
                                         "torch.utils.mobile_optimizer(torch.sofmax)")
    done = run(tmp_path, "program.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "program.py:3: torch.utils.mobile_optimizer (2 places): PyTorch has `torch.utils.mobile_optimizer`; retrograd "
        "has not: leave it out",
        "program.py:5: torch.sofmax: the nearest: softmax, fmax",
        "needs 3 names of torch; 2 are missing",
    ]


def test_a_folder_and_a_package_are_checked_whole(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "package" / ".hidden").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("raise RuntimeError('a package that is checked is not imported')")
    (tmp_path / "package" / ".hidden" / "no.py").write_text("import torch.no")
    (inner / "module.py").write_text("from torch import ones, zzz")
    (inner / "other.py").write_text("import torch; torch.ones(2)")
    for target in ("package", "package/inner", "package.inner", "package.inner.module", "./package"):
        done = run(tmp_path, target)
        assert (done.returncode, done.stderr) == (1, ""), target
        assert done.stdout.splitlines() == [
            f"{Path('package', 'inner', 'module.py')}:1: torch.zzz: retrograd has no such name",
            "needs 2 names of torch; 1 is missing"]
    assert run(tmp_path, "package.inner.other").stdout == "needs 1 name of torch; all there\n"


def test_the_exit_status_says_how_the_check_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("import numpy")
    bad.write_text("import torch\ntorch..ones")
    assert check([str(good)]) == 0
    assert check([str(bad)]) == 1
    assert check([str(tmp_path / "none.py")]) == 2
    assert check(["no_such_package_anywhere"]) == 2
    said = capsys.readouterr()
    assert said.out.splitlines() == ["needs 0 names of torch", f"{bad}:2: invalid syntax",
                                     "needs 0 names of torch; 1 file could not be read"]
    assert said.err.splitlines()[1] == ("retrograd: 'no_such_package_anywhere' is no file, folder or package with "
                                        "Python programs")


def test_what_cannot_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.py").write_text("import torch")
    (tmp_path / ".#good.py").symlink_to("user@host.1234")        # as Emacs marks a file that is edited
    assert check([str(tmp_path)]) == 0
    deep = tmp_path / "deep.py"
    deep.write_text(f"import torch\nx = {' + '.join(['1'] * 5000)}")
    assert check([str(deep)]) == 1
    assert check(["__main__"]) == 2
    said = capsys.readouterr()
    assert said.out.splitlines() == ["needs 0 names of torch", f"{deep}: expressions are nested too deeply",
                                     "needs 0 names of torch; 1 file could not be read"]
    assert said.err.splitlines() == ["retrograd: '__main__' is no file, folder or package with Python programs"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_name_that_a_terminal_cannot_show(encoding: str, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xc3\xa9\xff.py")
    (tmp_path / name).write_text("import torch\ntorch.zzz")
    done = subprocess.run([sys.executable, "-m", "retrograd", "check", name], cwd=tmp_path, capture_output=True,
                          env={**os.environ, "PYTHONIOENCODING": encoding}, timeout=120)
    shown = "\u00e9" if encoding == "utf-8" else r"\xe9"
    assert done.stdout.decode("utf-8").startswith(rf"{shown}\udcff.py:2: torch.zzz: ")
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_notebook_is_read_cell_by_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [("markdown", ["torch.no"]), ("code", ["%matplotlib inline\n", "import torch\n", "torch.ones?\n"]),
             ("code", ["%%bash\n", "torch.no"]), ("code", ["if True:\n", "    !pip list\n", "torch.zzz"]),
             ("code", "torch.exp")]
    notebook = tmp_path / "notebook.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}))
    assert check([str(notebook)]) == 1
    notebook.write_text(json.dumps({"worksheets": []}))
    assert check([str(notebook)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{notebook}:cell 4, line 3: torch.zzz: retrograd has no such name", "needs 2 names of torch; 1 is missing",
        f"{notebook}: a notebook of another format than nbformat 4",
        "needs 0 names of torch; 1 file could not be read"]
