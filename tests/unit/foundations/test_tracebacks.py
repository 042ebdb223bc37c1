"""Tracebacks show the program's frames and the function that was called, wherever an error is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd
from forked import ran
from retrograd.foundations import tracebacks

HEAD = """
import pdb, sys, threading, traceback
import retrograd as torch

def add(a, b):
    return a + b

class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return helper(g)

def helper(g):
    raise ValueError("mine")

def hook(module, args):
    helper(args)

x, wrong = torch.ones(2, requires_grad=True), torch.ones(3)
"""


def run(tmp_path: Path, program: str, *command: str, full: bool = False) -> str:
    """What a program writes to standard error."""
    script = tmp_path / "script.py"
    script.write_text(HEAD + program)
    environment = {key: value for key, value in os.environ.items() if key != "RETROGRAD_TRACEBACK"}
    if full:
        environment["RETROGRAD_TRACEBACK"] = "full"
    return ran(*command, str(script), cwd=tmp_path, env=environment).stderr


def frames(text: str) -> list[str]:
    """The functions of the frames; those of the package with a star."""
    return [("*" if "retrograd" in file else "") + name
            for file, name in re.findall(r'File "([^"]+)", line \d+, in (\S+)', text)]


def test_a_call_shows_the_function_that_was_called(tmp_path: Path) -> None:
    text = run(tmp_path, "add(torch.ones(2, 3), torch.ones(4, 5))")
    assert frames(text) == ["<module>", "add", "*call"]
    assert "\nRuntimeError: The size of tensor a (3) must match" in text
    assert "  read more  retrograd help sizes-must-match\n" in text


def test_all_frames_are_shown_on_demand(tmp_path: Path) -> None:
    program = "torch.nn.Linear(2, 3)(wrong)"
    assert frames(run(tmp_path, program)) == ["<module>", "*__call__"]
    assert len(frames(run(tmp_path, program, full=True))) > 4


def test_an_error_in_the_program_s_own_code_shows_all_of_it(tmp_path: Path) -> None:
    assert frames(run(tmp_path, "Own.apply(x).sum().backward()")) == ["<module>", "*backward", "backward", "helper"]
    program = "layer = torch.nn.ReLU()\nlayer.register_forward_pre_hook(hook)\nlayer(x)"
    assert frames(run(tmp_path, program)) == ["<module>", "*__call__", "hook", "helper"]
    program = "class M(torch.nn.Module):\n    def forward(self, x):\n        return helper(x)\nM()(x)"
    assert frames(run(tmp_path, program)) == ["<module>", "*__call__", "forward", "helper"]


def test_causes_contexts_and_groups(tmp_path: Path) -> None:
    cause = "try:\n    add(x, wrong)\nexcept RuntimeError as error:\n    raise KeyError('k') from error"
    text = run(tmp_path, cause)
    assert "The above exception was the direct cause" in text
    assert frames(text) == ["<module>", "add", "*call", "<module>"]
    text = run(tmp_path, cause.replace(" from error", ""))
    assert "During handling of the above exception" in text
    assert frames(text) == ["<module>", "add", "*call", "<module>"]
    group = cause.replace("raise KeyError('k') from error", "found = error\nraise ExceptionGroup('g', [found])")
    text = run(tmp_path, group)
    assert "ExceptionGroup: g (1 sub-exception)" in text
    assert [name for name in frames(text) if name.startswith("*")] == ["*call"]


@pytest.mark.parametrize(("lines", "reason"), [
    ("x.grad.zero_()", "x.grad is None: no pass has reached x since it was made, or since zero_grad()"),
    ("x = x.detach()\nx.data -= 0.1 * x.grad", "x.grad is None: x does not require grad. It was made so, or detached"),
    ("y = x * 2\ny.sum().backward()\ny.grad.item()", "y.grad is None: y is no leaf, but was computed by MulBackward0"),
    ("layer = torch.nn.Sequential(torch.nn.Linear(1, 1))\ntorch.norm(layer[0].weight.grad)",
     "layer[0].weight.grad is None: no pass has reached layer[0].weight"),
    ("pairs = {'a': [x]}\nprint(2 *\n      pairs['a'][0].grad)", "pairs['a'][0].grad is None: no pass has reached"),
    ("loss = x.sum().item()\nloss.backward()", "a number has no graph: call backward() on the tensor"),
])
def test_an_error_of_python_s_own_says_why_a_gradient_is_none(lines: str, reason: str, tmp_path: Path) -> None:
    assert f"\n  because    {reason}" in run(tmp_path, lines)
    program = "\n".join(["def go(x):", *[f"    {line}" for line in lines.splitlines()], ""])
    assert f"\n  because    {reason}" in run(tmp_path, f"{program}threading.Thread(target=go, args=(x,)).start()")


def test_a_step_that_made_another_tensor_is_to_be_written_in_place(tmp_path: Path) -> None:
    text = run(tmp_path, "x.sum().backward()\nx = x - 0.1 * x.grad\nx.grad.zero_()")
    assert "  instead    if x is a parameter, write the step to it under torch.no_grad(): x -= ...; otherwise " in text


@pytest.mark.parametrize("line", ["None.grad", "x.grads", "[].grad.zero_()", "(lambda: None)().data",
                                  "x.grad.zero_ if x is None else None.zero_", "x.sum().grad_fn.name.zero_"])
def test_other_errors_have_no_such_note(line: str, tmp_path: Path) -> None:
    assert "because" not in run(tmp_path, line)


def test_threads_and_the_command_line(tmp_path: Path) -> None:
    text = run(tmp_path, "t = threading.Thread(target=add, args=(x, wrong))\nt.start()\nt.join()")
    assert frames(text)[-2:] == ["add", "*call"]
    assert frames(run(tmp_path, "add(x, wrong)", "-m", "retrograd", "run")) == ["<module>", "add", "*call"]


def test_a_hook_of_the_program_gets_all_frames(tmp_path: Path) -> None:
    count = "lambda kind, error, trace: print('mine', len(traceback.extract_tb(trace)), file=sys.stderr)"
    after = run(tmp_path, f"sys.excepthook = {count}\ntorch.nn.Linear(2, 3)(wrong)")
    assert int(after.removeprefix("mine ")) > 4
    script = tmp_path / "before.py"
    script.write_text(f"import sys, traceback\nmine = sys.excepthook = {count}\nimport retrograd\n"
                      "assert sys.excepthook is mine\nretrograd.nn.Linear(2, 3)(retrograd.ones(5))")
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100)
    assert int(result.stderr.removeprefix("mine ")) > 4


def test_the_error_keeps_its_frames(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETROGRAD_TRACEBACK", raising=False)
    with pytest.raises(RuntimeError) as caught:
        retrograd.nn.Linear(2, 3)(retrograd.ones(5))
    error = caught.value
    before = error.__traceback__
    tracebacks.show(type(error), error, before)
    assert error.__traceback__ is before
    assert len(frames(capsys.readouterr().err)) == 2


def test_a_warning_shows_its_notes(tmp_path: Path) -> None:
    line = "torch.nn.functional.mse_loss(torch.ones(3, 1), torch.ones(3))"
    said = run(tmp_path, f"import warnings\ntext = warnings.formatwarning\n{line}\n"
                         "assert warnings.formatwarning is text\nwarnings.warn('mine')")
    first, second = said.splitlines()[:5], said.splitlines()[5:]
    assert first[0].endswith("Please ensure they have the same size.")
    assert first[1] == f"  {line}"
    assert first[2:4] == ["  instead    input.squeeze(1)", "  read more  retrograd help different-sizes-in-a-loss"]
    assert first[4].endswith("UserWarning: mine")
    assert second == ["  warnings.warn('mine')"]


def test_a_notebook_s_cell(tmp_path: Path) -> None:
    pytest.importorskip("IPython", reason="install ipython")
    script = tmp_path / "cells.py"
    script.write_text('''
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
shell.run_cell("import retrograd as torch, sys, traceback")
shell.run_cell("def f(a, b):\\n    return torch.nn.functional.linear(a, b)\\nf(torch.ones(2, 3), torch.ones(4, 5))")
shell.run_cell("print(len(traceback.extract_tb(sys.last_traceback)) > 4)")
shell.run_cell("torch.ones(3).sumn()")
shell.run_cell("w = torch.ones(3, requires_grad=True)\\nw.grad.zero_()")
''')
    environment = {key: value for key, value in os.environ.items() if key != "RETROGRAD_TRACEBACK"}
    environment["IPYTHONDIR"] = str(tmp_path)
    result = subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True,
                            text=True, timeout=100)
    assert result.stdout.count("File ") == 1, result.stdout
    shown, _, later = result.stdout.partition("True\n")
    assert later.index("  nearest    sum\n") < later.index("  because    w.grad is None: no pass has reached w")
    assert "in f(a, b)" in shown
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied" in shown


def test_pytest_leaves_out_the_package_s_frames(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("import retrograd as torch\n\ndef test_it():\n    torch.nn.Linear(2, 3)(torch.ones(5))\n")
    environment = {key: value for key, value in os.environ.items() if key != "RETROGRAD_TRACEBACK"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(test)]
    short = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100).stdout
    assert "torch.nn.Linear(2, 3)(torch.ones(5))" in short
    assert len(re.findall(r"^\S*retrograd\S*\.py:\d+", short, re.MULTILINE)) <= 1, short
    environment["RETROGRAD_TRACEBACK"] = "full"
    full = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100).stdout
    assert len(re.findall(r"^\S*retrograd\S*\.py:\d+", full, re.MULTILINE)) > 3, full


def test_pytest_shows_the_caller_of_assert_close(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import retrograd as torch\n\n\ndef test_it():\n"
                                         "    torch.testing.assert_close(torch.ones(2), torch.zeros(2))\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100).stdout
    assert "AssertionError: Tensor-likes are not close!" in text
    assert "closeness.py" not in text.partition("short test summary")[0]
