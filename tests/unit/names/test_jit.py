"""Programs that script or trace run as they are."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import pytest

import retrograd as torch
from retrograd.foundations.errors import Said


def doubled(x: Any) -> Any:
    return x * 2


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins as a new process."""
    monkeypatch.setattr(Said, "messages", set())
    monkeypatch.setattr(Said, "always", False)


def test_it_says_once_that_nothing_is_compiled() -> None:
    with pytest.warns(UserWarning, match=r"^torch\.jit does not compile here: it runs the program as it is"):
        assert torch.jit.script(doubled) is doubled
    model = torch.nn.ReLU().eval()
    with warnings.catch_warnings(action="error"):
        assert torch.jit.script(model) is model
        assert torch.jit.trace(model, torch.ones(1), check_trace=False) is model
        assert torch.jit.trace_module(model, {"forward": torch.ones(1)}) is model
        assert torch.jit.optimize_for_inference(torch.jit.freeze(model)) is model


def test_marks_leave_functions_and_classes_as_they_are() -> None:
    for mark in (torch.jit.export, torch.jit.unused, torch.jit.ignore, torch.jit.ignore(drop=True),
                 torch.jit.script_method, torch.jit.script_if_tracing):
        assert mark(doubled) is doubled
    assert torch.jit.interface(torch.jit.ScriptModule) is torch.jit.ScriptModule
    assert torch.jit.annotate(int, "text") == "text"
    assert torch.jit.wait(torch.jit.fork(doubled, x=3)) == 6
    assert torch.jit.fork(doubled, 3).done()
    assert not (torch.jit.is_scripting() | torch.jit.is_tracing())


def test_each_element_of_a_container_has_its_type() -> None:
    assert torch.jit.isinstance([1, 2], list[int])
    assert not torch.jit.isinstance([1, "a"], list[int])
    assert not torch.jit.isinstance({1: "a", 2: 3}, dict[int, str])
    assert torch.jit.isinstance((1, ["a"]), tuple[int, list[str]])
    with pytest.raises(RuntimeError, match=r"^Attempted to use dict without contained types\. Please add contained "):
        torch.jit.isinstance({}, dict)
    with pytest.raises(RuntimeError, match="must be a type or a tuple of types$"):
        torch.jit.isinstance(1, [int])


def test_wrong_arguments_and_files() -> None:
    with pytest.raises(RuntimeError, match=r"^Argument to @torch\.jit\.ignore must be a bool or a function but got 3$"):
        torch.jit.ignore(3)
    with pytest.raises(RuntimeError, match="^interface must be applied to a class$"):
        torch.jit.interface(doubled)
    with pytest.raises(Exception, match=r"^unrecognized fuser option \(name: other\)$"), torch.jit.fuser("other"):
        pass
    with pytest.raises(AttributeError, match="^expected a dictionary of"):
        torch.jit.trace_module(torch.nn.ReLU(), [])
    with pytest.raises(RuntimeError, match="^Freezing is currently only implemented for modules in eval mode"):
        torch.jit.freeze(torch.nn.ReLU())
    with pytest.raises(NotImplementedError, match=r"with torch\.save\(module\.state_dict\(\), file\)\.$"):
        torch.jit.save(torch.nn.ReLU(), "file.pt")
    with pytest.raises(NotImplementedError, match=r"with module\.load_state_dict\(torch\.load\(file\)\)\.$"):
        torch.jit.load("file.pt")


def test_the_module_is_imported_when_a_program_names_it() -> None:
    program = ("import sys, retrograd; retrograd.as_torch(); print('retrograd.jit' in sys.modules)\n"
               "import torch.jit\nfrom torch import jit\nprint(jit is retrograd.jit)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "False\nTrue\n"
