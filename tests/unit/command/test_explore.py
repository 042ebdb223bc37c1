"""`retrograd explore`: a program runs as it would, and a page is written of the backward pass that was asked for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forked import ran

TRAINING = """
import sys
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
def step(x):
    return (model(x) - x.sum(1, keepdim=True)).square().mean()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 4)
for i in range(4):
    loss = step(x)
    opt.zero_grad()
    loss.backward(inputs=[*model.parameters()] if i % 2 else None)
    opt.step()
    print(i, loss.item(), model[0].bias.grad.norm().item())
sys.exit(int(sys.argv[1]) if sys.argv[1:] else 0)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ran("-m", "retrograd", *arguments, cwd=folder)


def document_of(page: Path) -> dict[str, Any]:
    """The document in a page."""
    (text,) = re.findall(r'<script type="application/json" id="document">(.*?)</script>', page.read_text(), re.DOTALL)
    return dict(json.loads(text))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAINING)
    return tmp_path


def test_the_pass_that_was_asked_for(folder: Path) -> None:
    plain = run(folder, "run", "train.py")
    explored = run(folder, "explore", "--pass", "3", "-o", "late.html", "train.py")
    assert explored.stdout == plain.stdout
    assert explored.returncode == 0
    assert explored.stderr == "retrograd: wrote late.html: backward pass 3, 12 nodes\n"
    document = document_of(folder / "late.html")
    assert document["title"] == "Backward pass 3 of train.py"
    assert document["program"] == "train.py"
    bias = next(node for node in document["nodes"] if node["label"] == "0.bias")
    assert bias["gradient"]["norm"] == pytest.approx(float(plain.stdout.splitlines()[2].split()[2]), rel=1e-5)
    linear = [node for node in document["nodes"] if node["name"] == "AddmmBackward0"]
    assert [(node["module"], node["site"]["file"], node["site"]["line"]) for node in linear] == [
        ("2", "train.py", 8), ("0", "train.py", 8)]


def test_a_leaf_that_was_not_asked_for_is_not_wrong(folder: Path) -> None:
    (folder / "some.py").write_text("""
import torch
w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
torch.autograd.grad((w * v).sum(), [w])
(w * v).sum().backward(inputs=[v])
""")
    for number, (asked, other) in (("1", "wv"), ("2", "vw")):
        assert run(folder, "explore", "--pass", number, "some.py").returncode == 0
        document = document_of(folder / "step.html")
        nodes = {node["label"]: node for node in document["nodes"]}
        assert nodes[asked]["gradient"]["norm"] > 1
        assert (nodes[other]["gradient"], nodes[other]["problem"]) == (None, None)
        assert nodes[other]["notes"] == ["The pass was not asked for the gradient of this leaf."]
        assert document["totals"]["without_gradient"] == 0


def test_a_compiled_step_is_shown_uncompiled(folder: Path) -> None:
    """The operations of a compiled function would be one node."""
    program = TRAINING.replace("def step", "@torch.compile\ndef step")
    (folder / "train.py").write_text(program)
    assert run(folder, "explore", "--pass", "2", "train.py").stderr.endswith("backward pass 2, 12 nodes\n")


def test_exit_statuses(folder: Path) -> None:
    late = run(folder, "explore", "--pass", "9", "train.py")
    assert late.returncode == 1
    assert not (folder / "step.html").exists()
    assert late.stderr.endswith("no page: the program ran 4 backward passes in its main thread, and pass 9 was to be "
                                "explored\n")
    own = run(folder, "explore", "train.py", "5")
    assert own.returncode == 5
    assert (folder / "step.html").exists()
    nowhere = run(folder, "explore", "-o", "none/step.html", "train.py")
    assert nowhere.returncode == 1
    assert "cannot write 'none/step.html': No such file" in nowhere.stderr


def test_the_program_ends_after_the_page(folder: Path) -> None:
    (folder / "train.py").write_text(TRAINING + "\nraise AssertionError('the end')\n")
    stopped = run(folder, "explore", "--stop", "--pass", "2", "train.py")
    assert stopped.returncode == 0
    assert stopped.stdout.splitlines() == run(folder, "run", "train.py").stdout.splitlines()[:1]
    assert stopped.stderr == "retrograd: wrote step.html: backward pass 2, 12 nodes\n"
    assert document_of(folder / "step.html")["title"] == "Backward pass 2 of train.py"


def test_a_program_that_is_stopped_without_a_page(folder: Path) -> None:
    nowhere = run(folder, "explore", "--stop", "-o", "none/step.html", "train.py")
    assert nowhere.returncode == 1
    assert nowhere.stdout == ""
    late = run(folder, "explore", "--stop", "--pass", "9", "train.py")
    assert late.returncode == 1
    assert len(late.stdout.splitlines()) == 4


def test_a_browser_shows_the_page(folder: Path) -> None:
    """The browser of the test writes what it is asked to show."""
    asked = folder / "asked.txt"
    (folder / "browser.sh").write_text(f'#!/bin/sh\nprintf %s "$1" > {asked}\n')
    (folder / "browser.sh").chmod(0o755)
    found = ran("-m", "retrograd", "explore", "--open", "train.py", cwd=folder,
                env=os.environ | {"BROWSER": f"{folder / 'browser.sh'} %s"})
    assert found.returncode == 0
    assert asked.read_text() == (folder / "step.html").resolve().as_uri()
    assert "no browser" not in found.stderr


def test_without_a_browser_the_page_is_written(folder: Path) -> None:
    found = ran("-m", "retrograd", "explore", "--open", "train.py", cwd=folder,
                env=os.environ | {"BROWSER": "false %s"})
    assert found.returncode == 0
    assert (folder / "step.html").exists()


def test_a_page_beside_an_earlier_one(folder: Path) -> None:
    run(folder, "explore", "-o", "before.html", "train.py")
    same = run(folder, "explore", "--beside", "before.html", "train.py")
    assert same.stderr.endswith("backward pass 1, 12 nodes; 0 of 12 gradients differ\n")
    assert document_of(folder / "step.html")["beside"]["names"] == ["this run", "before.html"]
    (folder / "train.py").write_text(TRAINING.replace("nn.Tanh()", "nn.Sigmoid()"))
    other = run(folder, "explore", "--beside", "before.html", "train.py")
    found = document_of(folder / "step.html")
    assert [node["name"] for node in found["beside"]["there"]] == ["TanhBackward0"]
    count = found["beside"]["differing"]
    assert other.stderr.endswith(
        f"; {count} of 12 gradients differ, 1 node is only in this run, 1 node is only in before.html\n")
    assert found["beside"]["differing"] > 5
    for name, said in (("none.html", "No such file"), ("train.py", "this is no page of the explorer")):
        wrong = run(folder, "explore", "--beside", name, "train.py")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert f"cannot read {name!r}: {said}" in wrong.stderr


def test_options_behind_the_program_are_pointed_out(folder: Path) -> None:
    found = run(folder, "explore", "train.py", "0", "-o", "late.html", "--pass=3", "--help")
    assert found.stderr.splitlines()[0] == (
        "retrograd explore: -o, --pass=3 stand behind train.py, so the program gets them; options of retrograd stand "
        "before the program")
    assert (folder / "step.html").exists()
    assert "stands behind train.py, so the program gets it;" in run(folder, "explore", "train.py", "0", "--stop").stderr
    assert "behind" not in run(folder, "explore", "-o", "x.html", "train.py", "0", "--epochs", "3").stderr
    assert "behind" not in run(folder, "run", "train.py", "0", "-m", "--help", "-o").stderr


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
@pytest.mark.parametrize("command", [("explore", "-o", "step.html"), ("profile", "--flame", "step.svg"), ("graph",)])
def test_a_program_whose_name_is_no_text(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.py")).write_text(TRAINING)
    found = run(tmp_path, *command, os.fsdecode(b"bad\xff.py"))
    assert found.returncode == 0, found.stderr
    assert "retrograd: wrote " in found.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
@pytest.mark.parametrize("words", ["help", "help modified-in-place", "info", "profile train.py",
                                   "graph --text train.py", "explore train.py", "check train.py"])
def test_commands_without_streams(words: str, folder: Path) -> None:
    command = f"{sys.executable} -m retrograd {words} >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=folder, timeout=100).returncode == 0


def test_a_pass_that_raises(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("""
import torch
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
""")
    found = run(tmp_path, "explore", "wrong.py")
    assert found.returncode == 1
    assert "no page: backward pass 1 raised RuntimeError" in found.stderr
    assert "modified by an inplace operation" in found.stderr.splitlines()[-1] + found.stderr
