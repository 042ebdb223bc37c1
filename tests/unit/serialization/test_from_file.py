"""Tensors over files. The facts were taken from PyTorch 2.13."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import retrograd as torch


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "numbers"
    np.arange(4, dtype=np.float32).tofile(path)
    return str(path)


def test_writes_reach_the_file_only_if_it_is_shared(file: str) -> None:
    x = torch.from_file(file, size=3)
    assert (x.tolist(), x.dtype) == ([0.0, 1.0, 2.0], torch.float32)
    x.fill_(9)
    assert np.fromfile(file, np.float32).tolist() == [0.0, 1.0, 2.0, 3.0]
    torch.from_file(file, shared=True, size=2).fill_(7)
    assert np.fromfile(file, np.float32).tolist() == [7.0, 7.0, 2.0, 3.0]
    assert torch.from_file(file, False, 2, dtype=torch.uint8).tolist() == [0, 0]
    assert torch.from_file(file).shape == (0,)
    assert torch.from_file(file, size=1, requires_grad=True).requires_grad


def test_a_shared_file_grows(file: str) -> None:
    x = torch.from_file(file, shared=True, size=6)
    assert x[4:].tolist() == [0.0, 0.0]
    assert Path(file).stat().st_size == 24


def test_files_that_cannot_be_mapped(file: str) -> None:
    with pytest.raises(RuntimeError, match="unable to open file <.*> in read-only mode: No such file or directory"):
        torch.from_file(file + "x", size=3)
    with pytest.raises(RuntimeError, match="size <16> is smaller than the required mapping size <40>"):
        torch.from_file(file, size=10)
    with pytest.raises(RuntimeError, match="unable to mmap -4 bytes from file"):
        torch.from_file(file, size=-1)
    with pytest.raises(TypeError, match=r"from_file\(\): argument 'filename' \(position 1\) must be str, not int"):
        torch.from_file(3)
