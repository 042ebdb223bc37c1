"""Processes that a program starts: `import torch` means retrograd in them, however they are started."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from needing import on_unix

PROGRAM = """
import multiprocessing, sys
{first}
import torch
from concurrent.futures import ProcessPoolExecutor
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.tensor(float(i)) ** 2

def where(x): return torch.__name__, torch.__spec__.name, sys.argv[1:], float(torch.tensor(x) + 1)

def tell(number, queue): queue.put(where(number))

def nested(x):
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(where, x).result()

if __name__ == "__main__":
    multiprocessing.set_start_method("{method}")
    import torch.multiprocessing as mp
    with multiprocessing.Pool(1) as pool:
        print(pool.map(where, [0]))
    with ProcessPoolExecutor(1) as pool:
        print(pool.submit(nested, 1).result())
    queue = mp.SimpleQueue()
    mp.start_processes(tell, (queue,), start_method="{method}")
    print(queue.get())
    print([batch.tolist() for batch in DataLoader(Squares(), batch_size=2, num_workers=1)])
"""
OUTPUT = """[('torch', 'retrograd', ['a', '-c'], 1.0)]
('torch', 'retrograd', ['a', '-c'], 2.0)
('torch', 'retrograd', ['a', '-c'], 1.0)
[[0.0, 1.0], [4.0, 9.0]]
"""
WAYS = {"script": ["-m", "retrograd", "run", "program.py"], "module": ["-m", "retrograd", "run", "-m", "program"],
        "as_torch": ["program.py"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with another torch, which must not be found."""
    (tmp_path / "torch.py").write_text("raise SystemExit('another torch')")
    return tmp_path


def printed(folder: Path, program: str, *words: str) -> str:
    """What a program prints. The program must end well, and without a warning."""
    (folder / "program.py").write_text(program)
    done = subprocess.run([sys.executable, "-W", "error", *words], cwd=folder, capture_output=True, text=True,
                          timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.sampled(3)                                    # each starts seven interpreters
@pytest.mark.parametrize(("method", "way"), [
    (method, way) for method in multiprocessing.get_all_start_methods() for way in WAYS
    if method != "fork" or way == "script"])                  # a forked child has the modules of its parent
def test_torch_is_retrograd_in_each_process_that_a_program_starts(method: str, way: str, folder: Path) -> None:
    first = "import retrograd\nretrograd.as_torch()" if way == "as_torch" else ""
    text = PROGRAM.format(method=method, first=first)
    if method == "fork" and sys.version_info >= (3, 12):      # a fork beside a thread gives a warning there
        text = "import warnings\nwarnings.simplefilter('ignore', DeprecationWarning)\n" + text
    assert printed(folder, text, *WAYS[way], "a", "-c") == OUTPUT


ORPHANS = """
import os, signal, time, torch
from torch.utils.data import DataLoader, IterableDataset
from torch.utils.data._utils import worker

worker._PATIENCE = 0.5

class Endless(IterableDataset):
    def __iter__(self):
        while True:
            time.sleep(.1)
            yield os.getpid()

if __name__ == "__main__":
    batches = iter(DataLoader(Endless(), None, num_workers=2, prefetch_factor=1, multiprocessing_context="{method}"))
    print(next(batches), next(batches), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@on_unix
def test_workers_end_after_their_parent_was_killed(folder: Path) -> None:
    """The programs run side by side, since workers need a moment to see that their parent is gone."""
    running = {}
    for method in multiprocessing.get_all_start_methods():
        (folder / f"{method}.py").write_text(ORPHANS.format(method=method))
        running[method] = subprocess.Popen([sys.executable, "-m", "retrograd", "run", f"{method}.py"], cwd=folder,
                                           stdout=subprocess.PIPE, text=True)
    ends = {}
    for method, program in running.items():
        # Each worker has the program's standard output, so this waits for all of them.
        printed, _ = program.communicate(timeout=120)
        ends[method] = program.returncode, len({*printed.split()})
    assert ends == dict.fromkeys(running, (-signal.SIGKILL, 2))


def test_a_child_asks_for_torch_by_any_name(folder: Path) -> None:
    program = """
import importlib.metadata, importlib.util, multiprocessing, sys
def version(_): return importlib.metadata.version("torch"), "retrograd" in sys.modules
def found(_): return importlib.util.find_spec("torch").name, importlib.util.find_spec("none")
def functional(_):
    import functorch
    return functorch.__name__
def nothing(_): return "retrograd" in sys.modules
if __name__ == "__main__":
    for function in (version, found, functional, nothing):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(function, [0]))
    import torch
    print(torch.__version__)
"""
    lines = printed(folder, program, *WAYS["script"]).splitlines()
    assert lines == [f"[({lines[-1]!r}, True)]", "[('torch', None)]", "['retrograd._functorch.functorch']", "[False]",
                     lines[-1]]


def test_a_program_with_the_name_of_the_package(folder: Path) -> None:
    program = """
import multiprocessing, torch
def tell(queue):
    import retrograd
    queue.put((torch.__name__, torch is retrograd))
if __name__ == "__main__":
    children = multiprocessing.get_context("spawn")
    queue = children.SimpleQueue()
    child = children.Process(target=tell, args=(queue,))
    child.start()
    child.join()
    print(child.exitcode or queue.get())
"""
    (folder / "retrograd.py").write_text(program)
    command = [sys.executable, "-m", "retrograd", "run", str(folder / "retrograd.py")]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("('torch', True)\n", "")


def test_after_undo_children_are_pythons_own(folder: Path) -> None:
    (folder / "torch.py").write_text("__name__ = 'other'")
    program = """
import multiprocessing, retrograd
def where(_):
    import torch
    return torch.__name__
if __name__ == "__main__":
    with retrograd.as_torch():
        pass
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(where, [0]))
"""
    assert printed(folder, program, "program.py") == "['other']\n"
