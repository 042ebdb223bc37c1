"""Each example runs with retrograd as its torch, and prints what is known to be true.

The numbers are from mathematics wherever they can be; those that depend on random draws were recorded once from
PyTorch 2.13.0, and are marked so.
"""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forked import ran
from needing import needs, on_unix
from showing import demo, pages

EXAMPLES = Path(__file__).parents[3] / "examples"
STRICT, RUN = ("-W", "error"), ("-m", "retrograd", "run")
NUMBER = re.compile(r"(?<![\w.^])[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def printed(folder: Path, example: str, *arguments: str, draws: bool = False) -> str:
    """What an example prints, where it must succeed and complain of nothing."""
    result = ran(*RUN, str(EXAMPLES / f"{example}.py"), *arguments, cwd=folder, options=STRICT,
                 imported=("matplotlib.pyplot",) * draws)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def part(text: str, label: str, end: str = "\n") -> str:
    """The text from behind a label to the next `end`."""
    assert label in text
    return text.partition(label)[2].partition(end)[0]


def numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def close(*expected: float, rel: float = 1e-3, abs: float = 1e-4) -> object:
    return pytest.approx(list(expected), rel=rel, abs=abs)


def test_every_example_is_tested_here() -> None:
    examples = {path.stem for path in EXAMPLES.glob("*.py")}
    assert examples
    assert {name for name in examples if f"test_{name}" not in globals()} == set()


def test_examples_are_programs_for_pytorch() -> None:
    for path in EXAMPLES.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert re.search("^import torch$", source, re.MULTILINE)
        assert not re.search(r"^\s*(import|from) retrograd", source, re.MULTILINE)


def test_fit_by_hand(tmp_path: Path) -> None:
    text = printed(tmp_path, "fit_by_hand")
    errors = [numbers(line)[1] for line in text.splitlines() if line.startswith("step")]
    assert errors == sorted(errors, reverse=True)
    # What no cubic can follow: the next term of the Legendre series of exp is nearly all of it.
    assert errors[-1] == pytest.approx(1.12e-5, rel=0.03)
    e = math.e
    a, b, c, d = math.sinh(1), 3 / e, 2.5 * (e - 7 / e), 3.5 * (37 / e - 5 * e)
    found = [numbers(part(text, f"x^{power} "))[0] for power in range(4)]
    assert found == close(a - c / 2, b - 1.5 * d, 1.5 * c, 2.5 * d, abs=1e-3)
    assert "the loss was made by MeanBackward0, out of AddBackward0" in text


def test_fit_with_modules(tmp_path: Path) -> None:
    text = printed(tmp_path, "fit_with_modules")
    assert "  (1): Linear(in_features=3, out_features=1, bias=True)\n  (2): Flatten(start_dim=0, end_dim=1)\n)" in text
    assert numbers(part(text, "step    0   loss")) == close(0.78458)  # recorded
    assert numbers(part(text, "step  900   loss"))[0] < 5e-5
    assert numbers(part(text, "the cubic at 1 is"))[0] == pytest.approx(math.log(2), abs=3e-3)
    assert "1.bias: shape (1,), requires_grad True" in text
    assert "loss came from MseLossBackward0, the model's output from ViewBackward0" in text


def test_own_functions(tmp_path: Path) -> None:
    text = printed(tmp_path, "own_functions")
    angles = (0.3, 1.1, 2.0)
    assert numbers(part(text, "T3(cos t):", "cos 3t")) == close(*(math.cos(3 * t) for t in angles))
    assert numbers(part(text, "derivative:", " -3 sin")) == close(*(-3 * math.sin(3 * t) for t in angles))
    assert numbers(part(text, "at -2, 1, 5, 9:")) == [0, 1, 1, 0]
    assert "the node is called Chebyshev3Backward\n" in text
    # Rounds away the last step's noise; recorded.
    assert numbers(part(text, "y =")) == close(0.013, 0.979, -0.093, 0.569, abs=2e-3)
    assert text.count("first derivative True, second True") == 5
    assert "WrongSquare       first derivative False" in text


def test_jacobians(tmp_path: Path) -> None:
    text = printed(tmp_path, "jacobians")
    assert "without weights: grad can be implicitly created only for scalar outputs\n" in text
    assert numbers(part(text, "d/dp:", "10p")) == [5, 20]
    assert numbers(part(text, "d/dq:", "-3q")) == [-27, -3]
    rows = [numbers(part(text, f"row {index}")) for index in range(3)]
    assert rows == [[6, 0, 0], [0, -12, 0], [0, 0, 18]]
    assert "equal to the rows by hand: True True" in text
    assert numbers(part(text, "hessian:\n", "hvp")) == [6, -1, 2, -1, 12, 1, 2, 1, -6]
    assert numbers(part(text, "product with v:")) == [3, 14, -11, 3, 14, -11]
    assert numbers(part(text, "jvp of exp:", "exp(x)")) == close(0, math.exp(2), 2 / math.e)
    assert numbers(part(text, "gradient:")) == close(512, 51.2, 5.12)
    assert numbers(part(text, "larger start:")) == close(1024, 128, 512, 128, 12.8, 1.28)


def test_graph_walk(tmp_path: Path) -> None:
    text = printed(tmp_path, "graph_walk")
    nodes = [line.strip() for line in part(text, "2 / cos x)\n", "  a leaf").splitlines()]
    assert nodes == [
        "MeanBackward0",
        "SubBackward0",
        "MulBackward0",
        "CosBackward0",
        "AccumulateGrad of shape (3,)",
        "(constant)",
        "MulBackward0",
        "ReciprocalBackward0",
        "CosBackward0 (again)",
        "(constant)",
    ]
    assert "no grad_fn: None - its node leads back to it: True" in text
    slopes = [(-3 * math.sin(x) - 2 * math.sin(x) / math.cos(x) ** 2) / 3 for x in (0.5, 1.0, 1.5)]
    assert numbers(part(text, "gradient:")) == close(*slopes)
    assert "only leaves keep theirs: None\n  and a warning says so: UserWarning" in text
    assert numbers(part(text, "d/d sqrt(x):", "d/dx")) == [10, 20]
    assert numbers(part(text, "d/dx:")) == [5, 5]
    trunk, slope = 1.5 * math.exp(1.5), 2.5 * math.exp(1.5)
    sums = 2 * (trunk - 1) * slope, 2 * (2 * trunk - 101) * slope
    assert numbers(part(text, "first loss")) == close(*sums)
    assert "once more: Trying to backward through the graph a second time\n" in text


def test_tiny_model(tmp_path: Path) -> None:
    text = printed(tmp_path, "tiny_model")
    weights = [-0.0746, 0.0838, 0.0367, 0.0366, 0.0700, -0.0419]  # recorded, as the gradients and losses below are
    gradients = [-9.7932, -6.5650, 0.8986, -4.4364, -2.0508, -1.8451]
    assert numbers(part(text, "a few weights:", "grad_fn")) == close(*weights)
    assert numbers(part(text, "loss:", "grad_fn")) == close(172.918)
    before, after = text.split("after backward():")
    assert "their gradients:  None" in before
    assert numbers(part(after, "their gradients:")) == close(*gradients)
    stepped = [weight - 0.001 * gradient for weight, gradient in zip(weights, gradients, strict=True)]
    assert numbers(part(text, "after step():", "grad_fn")) == close(*stepped)
    assert numbers(part(text, "loss went from")) == close(172.92, 86.60)
    assert numbers(part(text, "zeroed:")) == [0] * 6
    assert "without zeroing: 4.000 times" in text
    assert "set to none:      None" in text
    assert numbers(part(text, "10 more steps: loss")) == close(0.840, abs=2e-3)


def test_grad_modes(tmp_path: Path) -> None:
    text = printed(tmp_path, "grad_modes")
    assert "tensor([[1.5000, 1.5000],\n        [1.5000, 1.5000]], requires_grad=True)" in text
    assert text.count("[-2.5000, -2.5000]], grad_fn=<SubBackward0>)") == 1
    assert text.count("[-2.5000, -2.5000]])") == 1
    assert "not on a result: you can only change requires_grad flags of leaf variables" in text
    assert "in a block:  tensor([15., 15., 15.]) - recording is on: False" in text
    for label in ("recorded:   ", "on inside:  ", "nested:     "):
        assert f"{label} tensor([15., 15., 15.], grad_fn=<MulBackward0>)" in text
    assert "decorated:   tensor([15., 15., 15.])\n" in text
    assert "the first of x is now 0.0" in text
    assert "for NumPy: Can't call numpy() on Tensor that requires grad" in text
    assert numbers(part(text, "for NumPy, detached:")) == [0, 0.126, 0.907, 0.82]  # recorded
    assert "one path of t * t: tensor(3.)" in text


def test_in_place(tmp_path: Path) -> None:
    text = printed(tmp_path, "in_place")
    assert "after add_: tensor([15., 25., 35.], grad_fn=<AddBackward0>) version 1" in text
    assert "after y[0] = 0: tensor([ 0., 25., 35.], grad_fn=<CopySlices>)" in text
    assert "gradient: tensor([ 0., 10., 10.])" in text
    assert "updated: tensor([1., 1., 2.], requires_grad=True) leaf: True" in text
    moved = "one of the variables needed for gradient computation has been modified by an inplace operation:"
    refusals = dict(line.strip().split(": ", 1) for line in part(text, "refused\n", "\0").splitlines())
    assert {name: refusal.rstrip(".") for name, refusal in refusals.items()} == {
        "leaf": "a leaf Variable that requires grad is being used in an in-place operation",
        "view_of_a_leaf": "a view of a leaf Variable that requires grad is being used in an in-place operation",
        "needed_later": f"{moved} [torch.FloatTensor [2]], which is output 0 of Exp, is at version 1; "
        "expected version 0 instead",
        "changed_through_a_detached_twin": f"{moved} [torch.FloatTensor [3]] is at version 1; "
        "expected version 0 instead",
        "second_backward": "Trying to backward through the graph a second time",
        "no_such_shape": "output with shape [2] doesn't match the broadcast shape [2, 2]",
    }


def test_hooks(tmp_path: Path) -> None:
    text = printed(tmp_path, "hooks")
    assert numbers(part(text, "at y:")) == [1, 1, 0.5]
    assert text.count("at y:") == 1
    first, second = text.split("the watcher is gone:")
    assert numbers(part(first, "in x.grad:")) == [2, -4, 3]
    assert numbers(part(second, "in x.grad:")) == [2, -4, 4]
    assert numbers(part(text, "into SqrtBackward0")) == [1, 1]
    assert numbers(part(text, "out of it")) == [1, 0.25]
    kept = part(text, "connections kept:")
    assert numbers(kept) == [46, 96]  # recorded, as the losses below are
    steps = [numbers(line) for line in text.splitlines() if line.startswith("  step")]
    assert [alive for _, _, alive in steps] == [46] * 5
    assert [loss for _, loss, _ in steps[:2]] == close(1.3122, 0.1919, rel=5e-3)
    assert "the cut ones are still zero: True" in text


def test_profile_chain(tmp_path: Path) -> None:
    text = printed(tmp_path, "profile_chain")
    columns = ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
    assert re.search(r"\s+".join(columns), text)
    rows = dict(re.findall(r"^ *(aten::\w+) .* (\d+) *$", text, re.MULTILINE))
    assert rows == {"aten::div": "500", "aten::mul": "500"}
    assert "Self CPU time total: " in text
    for node, count in (("Div", 500), ("Mul", 500), ("Sum", 1)):
        assert f"{node}Backward0 ran {count} times" in text
    assert text.count("True\n") == 2


@needs("matplotlib")
def test_plot_wave(tmp_path: Path) -> None:
    text = printed(tmp_path, "plot_wave")
    assert list(tmp_path.iterdir()) == []
    steps = [3 * math.pi * index / 30 for index in range(31)]
    slopes = [(math.cos(x) - math.sin(x) / 4) * math.exp(-x / 4) for x in steps]
    assert numbers(part(text, "slope:", "equal")) == close(*slopes)
    assert numbers(part(text, "sum:", "grad_fn")) == close(sum(2 * math.sin(x) * math.exp(-x / 4) + 1 for x in steps))
    assert "equal to the formula: True" in text
    assert "highest near x = 1.257; the slope is zero at 1.326" in text

    assert printed(tmp_path, "plot_wave", "--plot", draws=True) == text + "drawn: wave.png\n"
    assert (tmp_path / "wave.png").read_bytes().startswith(b"\x89PNG")


@needs("matplotlib")
def test_digits(tmp_path: Path) -> None:
    text = printed(tmp_path, "digits", draws=True)
    assert text.startswith("1348 scans to learn from, 449 held out\n")
    lines = [numbers(line) for line in text.splitlines() if line.startswith("epoch")]
    assert [epoch for epoch, *_ in lines] == [1, 5, 10, 15, 20, 25, 30, 35, 40]
    assert lines[0][2:] == close(1.1580, 90.20, rel=5e-3)  # recorded
    assert lines[-1][3] >= 97
    graph = part(text, "What the loss was made by:", "Where the time")
    for node in (
        "layers.0.weight",
        "NllLossBackward0",
        "LogSoftmaxBackward0",
        "AddmmBackward0",
        "ReluBackward0",
    ):
        assert node in graph
    assert re.search("^ *aten::addmm .* 2 *$", part(text, "one step goes:", "Self CPU time"), re.MULTILINE)
    assert text.endswith(f"drawn in {tmp_path / 'loss.png'}\n")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    for page in demo.LANDING:                              # other machines round the last digits otherwise
        assert NUMBER.sub("0", demo.shown(pages.text_of(page))) == NUMBER.sub("0", demo.kept(text))


@on_unix
def test_digits_on_a_terminal_keeps_to_one_line_and_fails_below_its_goal(tmp_path: Path) -> None:
    import pty  # Windows has none

    reader, writer = pty.openpty()
    command = [sys.executable, *STRICT, *RUN, str(EXAMPLES / "digits.py"), "--epochs", "2"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=writer, stderr=subprocess.STDOUT) as process:
        os.close(writer)
        chunks = []
        while chunk := _read(reader):
            chunks.append(chunk)
    os.close(reader)
    text = b"".join(chunks).decode().replace("\r\n", "\n")
    assert re.search(r"held out\n\repoch  1 of 2 [^\n]*\repoch  2 of 2 [^\r\n]*\n", text)
    assert process.returncode == 1


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that nobody writes any more
        return b""


def test_digits_conv(tmp_path: Path) -> None:
    text = printed(tmp_path, "digits_conv", "--epochs=2")
    first, last = (numbers(part(text, f"epoch {epoch}: ")) for epoch in (1, 2))
    assert last[0] < first[0]
    assert last[1] > 85


def test_gaussian_process(tmp_path: Path) -> None:
    """Newton's method squares the error at each step; the noise was drawn with a standard deviation of 0.1."""
    text = printed(tmp_path, "gaussian_process")
    slopes = [numbers(line)[-1] for line in text.splitlines() if line.startswith("step")]
    assert slopes[-1] < 1e-3 * slopes[-2] < 1e-5 * slopes[-3]
    assert numbers(part(text, "deviation of the noise")) == [pytest.approx(0.1, abs=0.03)]
    for line in text.splitlines()[-3:]:
        mean, spread, true = numbers(line)[-3:]
        assert abs(mean - true) < 3 * spread


def test_image_classifier(tmp_path: Path) -> None:
    text = printed(tmp_path, "image_classifier", "--epochs=2")
    assert "  (fc1): Linear(in_features=288, out_features=64, bias=True)\n" in text
    first, last = (numbers(part(text, f"epoch {epoch}: ")) for epoch in (1, 2))
    assert first == close(1.0, 2.028, 1.087, 78.8, rel=1e-2)  # recorded
    assert (last[0], last[3] > 85) == (0.7, True)
    assert text.endswith("<All keys matched successfully>\nthe copy reads the same\n")


def test_vae(tmp_path: Path) -> None:
    text = printed(tmp_path, "vae", "--epochs=3")
    rows = [numbers(line)[1:] for line in text.splitlines() if line.startswith("epoch")]
    assert rows == [close(36.53, 30.18, rel=5e-3), close(28.02, 26.92, rel=5e-3)]  # recorded
    assert part(text, "distributions:\n\n").split() == ["++++", "######", "::##", "##", "######.."]  # five scans


def test_gan(tmp_path: Path) -> None:
    text = printed(tmp_path, "gan")
    assert [numbers(line)[-2] for line in text.splitlines()] == close(0.18, 1.79, 1.87, 1.97, abs=0.03)  # recorded


def test_word_language_model(tmp_path: Path) -> None:
    text = printed(tmp_path, "word_language_model", "--epochs=2")
    assert text.startswith("11940 words to read, 22 different ones\n")
    perplexities = numbers(part(text, "epoch 1: "))[1], numbers(part(text, "epoch 2: "))[1]
    assert perplexities == (pytest.approx(5.296, rel=5e-3), pytest.approx(5.197, rel=5e-3))  # recorded
    assert f"saved and loaded: LanguageModel, perplexity {part(text, 'epoch 2: ').split()[-1]}\n" in text
    assert {"the", "."} <= set(text.splitlines()[-1].split())


def test_char_transformer(tmp_path: Path) -> None:
    text = printed(tmp_path, "char_transformer", "--steps=50")
    assert text.startswith("26517 letters, 22 different ones, 18518 weights\nstep   0: loss 3.248, rate 0.0002\n")
    assert numbers(part(text, "step  50: loss"))[0] < 2
    assert text.splitlines()[-1].startswith("six hundred and twenty-three, ")


def test_reinforce(tmp_path: Path) -> None:
    text = printed(tmp_path, "reinforce")
    assert [numbers(line)[2] for line in text.splitlines()] == close(29.4, 42.1, 87.3, rel=0.05)  # recorded


def test_actor_critic(tmp_path: Path) -> None:
    text = printed(tmp_path, "actor_critic", "--episodes=20")
    rewards = [numbers(line)[-1] for line in text.splitlines()]
    assert rewards == close(0.068, 0.570, 0.736, rel=1e-2)  # recorded


def test_gcn(tmp_path: Path) -> None:
    text = printed(tmp_path, "gcn")
    assert text.startswith("GCN(\n  (first): GraphConvolution(16 -> 32)\n  (second): GraphConvolution(32 -> 4)\n)\n")
    losses = [numbers(line)[1] for line in text.splitlines() if line.startswith("epoch")]
    assert losses[0] == pytest.approx(1.478, rel=2e-3)  # recorded
    assert numbers(text.splitlines()[-1])[2] > 95


def test_time_series(tmp_path: Path) -> None:
    text = printed(tmp_path, "time_series")
    errors = [numbers(line)[-1] for line in text.splitlines() if line.startswith("step")]
    assert errors == close(0.700, 0.350, 0.312, 0.241, 0.247, rel=0.02)  # recorded
    forecast, true = (numbers(line) for line in text.splitlines()[-2:])
    assert forecast[:5] == pytest.approx(true[:5], abs=0.15)


def test_siamese(tmp_path: Path) -> None:
    text = printed(tmp_path, "siamese", "--steps=20")
    first, last = (numbers(line) for line in text.splitlines()[:2])
    assert last[1] < first[1] / 2
    assert last[2] > 95
    assert numbers(part(text, "cosines tensor(["))[0] == pytest.approx(1)


def test_neural_ode(tmp_path: Path) -> None:
    text = printed(tmp_path, "neural_ode", "--steps=50")
    assert text.startswith("gradcheck of the adjoint: True\n")
    assert numbers(part(text, "error on the whole path")) == [pytest.approx(0.727, rel=5e-3)]  # recorded
    assert numbers(text.splitlines()[-1])[-1] < 0.25
