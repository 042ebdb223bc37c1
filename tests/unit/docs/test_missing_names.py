"""The page of names that packages miss says what is so, and its program finds what a source uses."""

from __future__ import annotations

import re

from showing.missing_names import PAGE, state, used

ROW = re.compile(r"^\| `(torch[\w.]+)` \| \d+ \| (missing|can be imported, and refuses calls) \|", re.MULTILINE)


def test_what_a_source_uses() -> None:
    source = """
import torch, numpy as np
import torch.nn.functional as F
from torch import Tensor as T, optim
from torch.utils.data import (
    DataLoader as Loader)
from . import torch as other
try:
    from torch._inductor import config
except ImportError:
    pass
def f(x: T):
    np.fft.fft(x)
    return F.relu(torch.linalg.norm(x).real), optim.lr_scheduler.StepLR, x.torch.sum(), Loader
"""
    assert used(source) == {
        "torch", "torch.nn.functional", "torch.Tensor", "torch.optim", "torch.utils.data.DataLoader",
        "torch._inductor.config", "torch.nn.functional.relu", "torch.linalg.norm", "torch.optim.lr_scheduler.StepLR"}


def test_the_page_is_up_to_date() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) > 100
    assert [(path, state(path)) for path, _ in rows] == rows
