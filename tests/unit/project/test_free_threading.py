"""On a build of Python without the GIL, nothing that a program does with the package turns the GIL on."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig

import pytest

pytestmark = pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"),
                                reason="this Python has a GIL; the test is for free-threaded builds, such as 3.13t")

# Each part of the program tells whether the GIL is on afterwards.
PROGRAM = """
import io, sys

def tell(after):
    print(after, sys._is_gil_enabled())

if __name__ == "__main__":
    import retrograd as torch
    tell("import")

    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters())

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    data = torch.utils.data.TensorDataset(torch.randn(12, 3))
    for workers in (0, 1):
        for (x,) in torch.utils.data.DataLoader(data, batch_size=4, num_workers=workers):
            step(x)
    tell("training")

    compiled = torch.compile(step, backend="numpy")
    for _ in range(3):
        compiled(torch.ones(4, 3))
    tell("compile")

    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    model.load_state_dict(torch.load(file))
    tell("files")

    torch.linalg.svd(torch.randn(3, 3))
    torch.fft.fft(torch.randn(8))
    torch.func.vmap(torch.func.grad(lambda x: (x ** 2).sum()))(torch.randn(2, 3))
    torch.softmax(torch.randn(4096, 256), 1)
    torch.distributions.Normal(0.0, 1.0).sample()
    tell("the rest")
"""


def test_the_gil_stays_off(tmp_path: object) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    path = os.path.join(str(tmp_path), "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", path], env=environment, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "import False", "training False", "compile False", "files False", "the rest False"]
