"""`retrograd profile`: the table, the flame graph and the trace of a program."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import retrograd as torch
from forked import ran
from retrograd.autograd.profiler import profile, record_function
from retrograd.command import flame

PROGRAM = """
import sys, torch
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())
for _ in range(3):
    net(torch.ones(2, 4)).sum().backward()
print("printed", sys.argv[1:])
sys.exit(int(sys.argv[1]))
"""
SVG = "{http://www.w3.org/2000/svg}"


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(PROGRAM)
    return ran("-m", "retrograd", "profile", *arguments, cwd=folder)


def test_a_program_is_profiled_and_ends_as_it_would(tmp_path: Path) -> None:
    result = command(tmp_path, "--sort", "calls", "--rows", "4", "--flame", "f.svg", "--trace", "t.json", "train.py",
                     "3", "--rows")
    assert result.returncode == 3
    first, *table = result.stdout.splitlines()
    assert first == "printed ['3', '--rows']"
    assert table[1].split()[:3] == ["Name", "Self", "CPU"]
    calls = [int(line.split()[-1]) for line in table[3:7]]
    assert calls == sorted(calls, reverse=True)
    assert table[7].startswith("---")
    assert "nn.Module" not in result.stdout
    assert result.stderr.splitlines()[1:] == ["retrograd: wrote f.svg", "retrograd: wrote t.json"]
    names = {event["name"] for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]}
    assert {"nn.Module: Linear", "aten::tanh", "TanhBackward0"} <= names
    bars = {bar.findtext(f"{SVG}title", "").partition(":")[0]
            for bar in ET.parse(tmp_path / "f.svg").getroot().iter(f"{SVG}g")}
    assert {"train.py", "backward pass", "nn.Module"} <= bars


def test_what_cannot_be_done_is_said_before_the_program_runs(tmp_path: Path) -> None:
    result = command(tmp_path, "--flame", "nowhere/f.svg", "train.py", "0")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "retrograd: cannot write 'nowhere/f.svg': it is no file in an existing folder\n"
    result = command(tmp_path, "none.py")
    assert result.returncode == 2
    assert "can't open file" in result.stderr.splitlines()[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file that cannot be written")
@pytest.mark.parametrize("status", [0, 3])
def test_a_file_that_cannot_be_written_is_said(status: int, tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    result = command(tmp_path, "--flame", "full", "--trace", "t.json", "train.py", str(status))
    assert result.returncode == (status or 2)
    assert result.stderr.splitlines()[-2:] == ["retrograd: cannot write 'full': No space left on device",
                                              "retrograd: wrote t.json"]


@pytest.mark.parametrize("text", ["print(torch.ones(2))", "print('nothing')", "print('x' * 99999)"])
def test_a_reader_that_stops_reading_sees_the_errors_of_the_program_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / "print.py").write_text(f"import torch\n{text}\n")
    said = {}
    for name in ("run", "profile"):
        with subprocess.Popen([sys.executable, "-m", "retrograd", name, "print.py"], cwd=tmp_path, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            assert program.stdout is not None
            program.stdout.close()
            assert program.stderr is not None
            said[name] = program.stderr.read().splitlines()
    assert "command" not in " ".join(said["profile"])
    assert [line for line in said["profile"] if not line.startswith("retrograd: ")] in (said["run"], [])


def test_a_terminal_without_the_signs_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text(
        "import torch\nwith torch.profiler.record_function('\u00e9t\u00e9'):\n    torch.ones(2)\n", encoding="utf-8")
    found = subprocess.run([sys.executable, "-m", "retrograd", "profile", "named.py"], cwd=tmp_path, text=True,
                           capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, timeout=120)
    assert (found.returncode, found.stderr) == (0, "")
    assert " ?t? " in found.stdout


def bars() -> flame.Bar:
    with profile() as watch, record_function("block"):
        x = torch.ones(3, requires_grad=True)
        (x.exp() + x.exp()).sum().backward()
    return flame.gathered(watch.function_events, "a <program>", 2e6)


def test_calls_of_one_name_are_one_bar() -> None:
    root = bars()
    block = root.inside["block"]
    assert (root.kind, block.kind, block.count) == ("python", "module", 1)
    assert block.inside["exp"].count == 2
    backward = block.inside["backward pass"]
    assert backward.kind == "backward"
    assert backward.inside["ExpBackward0"].count == 2
    assert "ExpBackward0" not in backward.inside["ExpBackward0"].inside
    assert sum(bar.time for bar in backward.inside.values()) == pytest.approx(backward.time)


def test_bars_lie_inside_their_callers_and_do_not_overlap() -> None:
    root = flame.Bar("program", "python")
    root.time = 100.0
    for name, time in (("a", 10.0), ("b", 60.0), ("thin", 0.001)):
        root.inside[name] = flame.Bar(name, "call")
        root.inside[name].time = time
    _, b, a = flame.places(root)
    assert (a.bar.name, b.bar.name) == ("a", "b")
    assert b.width == pytest.approx(6 * a.width)
    assert a.left == pytest.approx(b.left + b.width)


def test_the_picture_is_one_file_without_programs_and_says_names_as_text() -> None:
    text = flame.svg(bars())
    picture = ET.fromstring(text)
    assert not [tag for tag in picture.iter() if tag.tag.endswith(("script", "image", "foreignObject"))]
    assert "a <program>: 2 s" in [tag.text for tag in picture.iter(f"{SVG}text")]
    titles = [tag.text or "" for tag in picture.iter(f"{SVG}title")]
    assert titles[0] == "a <program>: 2 s, 100.0%, 1 call"
