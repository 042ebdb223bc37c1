"""Each example prints the same on retrograd and on PyTorch.

Words are compared exactly, numbers as printed: to a thousandth, or to one unit of the last place that is shown.
Masked is what no two runs share: times, addresses, the folder. Of a profiler's table its rows count, not their
order or width.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = {path.stem: [str(path)] for path in sorted(EXAMPLES.glob("*.py"))}
# Rounding errors grow with every epoch, until the two runs go ways of their own.
PROGRAMS["digits"].append("--epochs=4")
PROGRAMS["digits_conv"].append("--epochs=1")
PROGRAMS["char_transformer"].append("--steps=100")

NUMBER = r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])"
MASKS = [
    (re.compile(r"\b0x[0-9a-f]+"), "ADDRESS"),
    (re.compile(r"\d+\.\d+ ?(?:us|ms|s|seconds)\b"), "TIME"),
]
TABLE = re.compile(r"^-[- ]+\n.*\n-[- ]+\n((?:.*\n)+?)-[- ]+\n", re.MULTILINE)
TABLE_ROW = re.compile(r"^ *(\S.*?)  .* (\d+) *$", re.MULTILINE)
# How retrograd draws a graph, and of what kernels a step consists, is its own affair.
OWN_AFFAIR = re.compile(r"What the loss was made by:.*Self CPU time total", re.DOTALL)


def test_there_are_examples() -> None:
    assert len(PROGRAMS) >= 10


@pytest.mark.parametrize("example", PROGRAMS)
def test_prints_the_same_as_on_pytorch(example: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        ours, theirs = threads.map(lambda way: run(tmp_path / way[0], *way[1:], *PROGRAMS[example]),
                                   (("ours", "-m", "retrograd", "run"), ("theirs",)))
    assert ours.returncode == theirs.returncode, ours.stderr
    assert_alike(comparable(ours.stdout, tmp_path / "ours"), comparable(theirs.stdout, tmp_path / "theirs"))


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}  # so that sums are added up in the same order every time
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=one_thread, capture_output=True, text=True, timeout=120)


def comparable(text: str, folder: Path) -> str:
    """The text with everything masked that differs from run to run."""
    text = OWN_AFFAIR.sub("", text.replace(str(folder), "FOLDER"))
    text = TABLE.sub(lambda table: "\n".join(sorted(map(" ".join, TABLE_ROW.findall(table[1])))) + "\n", text)
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


def assert_alike(ours: str, theirs: str) -> None:
    """Compare piece by piece: a number and what stands before it."""
    our_words, their_words = re.split(NUMBER, ours), re.split(NUMBER, theirs)
    assert [word.split() for word in our_words] == [word.split() for word in their_words]
    pairs = zip(re.findall(NUMBER, ours), re.findall(NUMBER, theirs), strict=True)
    for word, (our_number, their_number) in zip(our_words, pairs, strict=False):
        assert agree(our_number, their_number), f"{word.splitlines()[-1:]}: {our_number}, and PyTorch {their_number}"


def agree(ours: str, theirs: str) -> bool:
    if ours == theirs or not {".", "e"} & set(ours + theirs):
        return ours == theirs
    return abs(float(ours) - float(theirs)) <= max(1e-3 * abs(float(theirs)), last_place(theirs) * 1.001, 1e-6)


def last_place(number: str) -> float:
    """The worth of the last digit of a number as it is printed."""
    digits, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def test_the_comparison_sees_what_matters() -> None:
    assert_alike("loss 0.1234, MulBackward0 at 12", "loss 0.1235, MulBackward0 at  12")
    assert_alike("tensor([1.0000, -0.0000])", "tensor([1., 0.])")
    assert_alike("1.133e-05 and -3.9e-08", "1.134e-05 and 2.1e-08")
    for theirs in ("loss 0.1290, step 12", "loss 0.1234, step 13", "cost 0.1234, step 12", "loss 0.1234, step"):
        with pytest.raises(AssertionError):
            assert_alike("loss 0.1234, step 12", theirs)


def test_the_masks_hide_only_what_differs() -> None:
    line = "--  --\n"
    table = f"{line}Name  Calls\n{line}  b  1.5%  3.1us  20\n  a c  2.5ms  7\n{line}Self CPU time total: 2.5ms\n"
    assert comparable(table, Path("/nowhere")) == "a c 7\nb 20\nSelf CPU time total: TIME\n"
    assert (
        comparable("<X object at 0x7f3c> in /tmp/x/loss.png", Path("/tmp/x"))
        == "<X object at ADDRESS> in FOLDER/loss.png"
    )
