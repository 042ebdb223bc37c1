"""The programs that the reference lists show the same with PyTorch, but for those with a reason."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

import retrograd
from needing import DOCS, needs
from showing import site

pytestmark = needs(*DOCS)
sys.path.append(str(site.DOCS / "_extensions"))

from reference import sessions  # noqa: E402

# Where the programs show something else, and why.
OTHER = {
    "PyTorch computes in single precision": ["torch.blackman_window"],
    "the flag of a conjugate is not kept": ["torch.is_conj", "torch.is_neg"],
    "the name is not at this place in PyTorch": [
        "torch.get_printoptions", "torch.nn.parameter.clear_grad", "torch.autograd.profiler.supported_activities"],
    "it is retrograd's own": ["torch.distributed.allow_pickled_objects"],
    "the processor rounds small numbers as IEEE 754 says": ["torch.set_flush_denormal"],
    "TorchScript reads the file of the program": [
        "torch.jit.script", "torch.jit.interface", "torch.jit.script_method"],
    "the argument has a class of C++, which a program gets only from a device": ["torch.Tensor.record_stream"],
    "a kernel gets the keys of the dispatch in PyTorch": ["torch.library.get_kernel"],
    "retrograd refuses what PyTorch has": [
        "torch.Tensor.chalf", "torch.autograd.profiler.load_nvprof", "torch.library.wrap_triton",
        "torch.serialization.skip_data", "torch.hub.help", "torch.hub.list", "torch.jit.load", "torch.jit.save",
        "torch.profiler.ExecutionTraceObserver", "torch.utils.data.functional_datapipe",
        "torch.utils.data.IterDataPipe", "torch.utils.data.MapDataPipe", "torch.export.Dim", "torch.export.load",
        "torch.export.unflatten", "torch.export.ExportedProgram", "torch.export.ExportGraphSignature",
        "torch.export.ShapesCollection", "torch.export.UnflattenedModule", "torch.export.export",
        "torch.export.draft_export", "torch.export.save"],
}


def _programs() -> Iterator[tuple[str, list[str]]]:
    """The first name that each program shows, and the program. Those that run retrograd in other processes are left."""
    known = set()
    for path, lines in sessions.listed().items():
        text = "\n".join(lines)
        if path.startswith("torch.") and text not in known and '"retrograd"' not in text:
            known.add(text)
            yield path, lines


def _shown(package: Any, path: str, lines: list[str]) -> list[str] | str:
    """What each line shows. The group of one process needs a store in PyTorch."""
    lines = [line.replace("store=object()", "store=torch.distributed.HashStore()") if package is torch else line
             for line in lines]
    with suppress(ImportError):                                     # the place may be a class
        importlib.import_module(path.rpartition(".")[0].replace("torch", package.__name__, 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [text.replace("retrograd", "torch") for _, text in sessions.shown(lines, 0, package)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if package.distributed.is_initialized():
            package.distributed.destroy_process_group()


PROGRAMS = [*_programs()]


@pytest.mark.filterwarnings("ignore")            # of files that PyTorch leaves open
@pytest.mark.parametrize(("path", "lines"), PROGRAMS, ids=[path for path, _ in PROGRAMS])
def test_a_program_shows_the_same(path: str, lines: list[str], tmp_path: Path,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)                     # some write files
    ours, theirs = (_shown(package, path, lines) for package in (retrograd, torch))
    if path in {name for names in OTHER.values() for name in names}:
        assert ours != theirs
    else:
        assert ours == theirs
