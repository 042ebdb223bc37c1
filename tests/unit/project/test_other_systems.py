"""Systems without fork and other parts of Unix, as Windows: the package is imported, and processes are spawned.

Each Python of these tests lacks what Windows lacks. A `sitecustomize` takes it away before anything is imported.
"""

from __future__ import annotations

import mmap
import multiprocessing.heap
import os
import subprocess
import sys
import tempfile
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from weakref import WeakValueDictionary

import pytest

import retrograd as torch
import retrograd.multiprocessing
from retrograd.command.launch import mpiexec
from retrograd.tensors.face import sharing

WINDOWS = """
import mmap, multiprocessing.context, os, signal, sys
# What NumPy or multiprocessing for Unix need themselves stays: os.uname, os.WNOHANG, os.getuid ...
for module, names in ((os, "fork forkpty register_at_fork sched_getaffinity confstr killpg setsid getloadavg mkfifo"),
                      (mmap, "MAP_PRIVATE MAP_SHARED MAP_ANON MAP_ANONYMOUS PROT_READ PROT_WRITE PROT_EXEC"),
                      (signal, "SIGKILL SIGHUP SIGALRM SIGUSR1 alarm setitimer pthread_sigmask sigwait")):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in "fcntl resource pwd grp termios pty syslog".split():
    sys.modules[name] = None
contexts, default = multiprocessing.context._concrete_contexts, multiprocessing.context._default_context
for name in ("fork", "forkserver"):
    del contexts[name]
default._default_context = contexts["spawn"]
multiprocessing.get_all_start_methods = default.get_all_start_methods = lambda: ["spawn"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WINDOWS, encoding="utf-8")
    return tmp_path


def printed(folder: Path, program: str, *words: str) -> str:
    """What a program prints on such a system, where files and pipes have an old encoding."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(folder / "site"), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run([sys.executable, *words, "program.py"], cwd=folder, capture_output=True, text=True,
                          encoding="cp1252", timeout=300,
                          env=os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "cp1252"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_can_be_imported(folder: Path) -> None:
    program = """
import importlib, multiprocessing, os, pkgutil, retrograd
print(hasattr(os, "fork"), multiprocessing.get_all_start_methods(), multiprocessing.get_start_method())
# A package that needs an absent one has no modules here. The loop imports the package itself, and shows other errors.
names = [found.name for found in pkgutil.walk_packages(retrograd.__path__, "retrograd.", onerror=lambda name: None)]
for name in names:
    if name not in ("retrograd.__main__", "retrograd.distributed.mpi"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] in ("retrograd", "fcntl", "resource", "pwd", "grp", "termios"):
                raise
print(len(names) > 500)
print(retrograd.serialization.get_default_mmap_options())
try:
    retrograd.serialization.set_default_mmap_options(1)
except RuntimeError as error:
    print(error)
"""
    assert printed(folder, program).splitlines() == [
        "False ['spawn'] spawn", "True", "None",
        "Changing the default mmap options is currently not supported for Windows"]


def test_processes_are_spawned(folder: Path) -> None:
    program = """
import multiprocessing, os
import torch
import torch.multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.tensor(float(i)) ** 2

def double(number, x, queue):
    x *= 2
    queue.put(x)

def where(_): return torch.__name__, hasattr(os, "fork")

if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        print(pool.submit(where, 0).result())
    x, queue = torch.ones(2), mp.get_context().Queue()
    started = mp.spawn(double, (x, queue), join=False)
    print(queue.get(), x.is_shared())
    started.join()
    print([batch.tolist() for batch in DataLoader(Squares(), 2, num_workers=2, persistent_workers=True)])
    torch.nn.functional.conv2d(torch.ones(4, 3, 40, 40), torch.ones(3, 3, 3, 3)).softmax(1)
    torch.save(x, "x.pt")
    print(torch.load("x.pt"))
"""
    assert printed(folder, program, "-m", "retrograd", "run").splitlines() == [
        "('torch', False)", "tensor([2., 2.]) True", "[[0.0, 1.0], [4.0, 9.0]]", "tensor([2., 2.])"]


def test_a_tree_is_shown_where_the_encoding_has_no_lines(folder: Path) -> None:
    program = "import torch\nw = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\n"
    assert "?? MulBackward0 [2]" in printed(folder, program, "-m", "retrograd", "graph", "--text")


@pytest.mark.skipif(mpiexec() is None, reason="needs mpiexec")
def test_processes_are_launched(folder: Path) -> None:
    program = """
import torch, torch.distributed as dist
dist.init_process_group()
x = torch.ones(1) + dist.get_rank()
dist.all_reduce(x)
if dist.get_rank() == 0:
    print(x)
dist.destroy_process_group()
"""
    assert printed(folder, program, "-m", "retrograd", "launch", "--nproc", "2") == "tensor([3.])\n"


class Arena:
    """Memory with a name, as multiprocessing has it in Windows. Here the memory is a file."""

    def __init__(self, size: int) -> None:
        handle, name = tempfile.mkstemp()
        os.truncate(handle, size)
        os.close(handle)
        self.__setstate__((size, name))

    def __setstate__(self, state: tuple[int, str]) -> None:
        self._state = state
        with open(state[1], "r+b") as file:
            self.buffer = mmap.mmap(file.fileno(), state[0])


def test_memory_with_a_name_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing.heap, "Arena", Arena)
    tensor = torch.arange(4.).share_memory_()
    sent = bytes(ForkingPickler.dumps(tensor[1:]))
    monkeypatch.setattr(sharing, "_known", WeakValueDictionary())        # as in another process
    received = ForkingPickler.loads(sent)
    received.mul_(10)
    assert tensor.tolist() == [0, 10, 20, 30]
    os.unlink(sharing.shared_bytes(tensor._array).arena._state[1])
