"""Names that are missing: the table of PyTorch's names is exact, and the errors begin with PyTorch's words."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import retrograd
from comparing import pytorch_names
from comparing.same_expression import check


def test_the_table_is_up_to_date() -> None:
    assert pytorch_names.TABLE.read_text(encoding="utf-8") == pytorch_names.table()
    assert pytorch_names.BOUND_CLASSES.read_text(encoding="utf-8") == pytorch_names.bound_classes()


@pytest.mark.parametrize("space", [*pytorch_names.MODULES, *pytorch_names.CLASSES, "torch.ones(2)"])
def test_a_name_that_neither_has(space: str) -> None:
    check(torch, retrograd, "", f"{space}.no_such_name")


@pytest.mark.parametrize("line", ["from torch import no_such_name", "import torch.no_such_module",
                                  "from torch.nn import no_such_name", "from torch.no_such_module import name"])
def test_an_import_of_what_neither_has(line: str) -> None:
    with pytest.raises(ImportError) as theirs:
        exec(line)
    program = f"import retrograd; retrograd.as_torch(); {line}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    said = str(theirs.value).partition(" (")[0]                 # the file of the module follows
    assert done.stderr.splitlines()[-1].startswith(f"{type(theirs.value).__name__}: {said}")
