"""Finds torchvision and the packages on top of it, also beside a PyTorch that does not fit its compiled part.

`make field` installs these packages in a folder of their own, so that other packages do not find torchvision. If the
operators of torchvision in C++ cannot be loaded, their names are defined here; the programs do not call them.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import torch

sys.path.append(str(Path(sys.prefix, "vision")))
for compiled in Path(find_spec("torchvision").origin).parent.glob("_C*.so"):
    try:
        torch.ops.load_library(str(compiled))
    except OSError:
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
