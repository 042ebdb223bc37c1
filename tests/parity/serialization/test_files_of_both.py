"""PyTorch reads the files that retrograd writes, and retrograd reads PyTorch's: whole objects of every kind."""

from __future__ import annotations

from pathlib import Path

from comparing.programs import OURS, printed

PROGRAM = '''
import sys, warnings
from collections import OrderedDict
import numpy as np
import torch
from torch import nn
warnings.simplefilter("ignore")
torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.BatchNorm1d(3), nn.Dropout(0.2), nn.Linear(3, 1))
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("steps", torch.zeros(()), persistent=False)
        self.activation = torch.tanh

    def forward(self, x):
        return self.activation(self.layers(x)) * self.scale

net = Net()
optimizer = torch.optim.Adam(net.parameters())
net(torch.ones(4, 2)).sum().backward()
optimizer.step()
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
x = torch.arange(6.).reshape(2, 3)
marked = torch.ones(2)
marked.note = ["a"]
OBJECTS = {
    "net": net, "both": (net, optimizer), "state": net.state_dict(), "schedule": schedule.state_dict(),
    "views": [x, x[1:], x.T], "numpy": np.arange(3.), "parameter": nn.Parameter(torch.ones(2), requires_grad=False),
    "marked": marked, "names": [torch.float32, torch.bool, torch.device("cpu"), torch.Size([1, 2]), torch.strided],
    "classes": [torch.Tensor, nn.Parameter, torch.FloatTensor, torch.BoolTensor],
    "functions": [nn.functional.relu, torch.tanh],
    "plain": [b"ab", {1, 2}, 10**30, 1 + 2j, None, True, OrderedDict(a=1)],
    "layers": [nn.Conv2d(1, 2, 3), nn.LSTM(2, 3), nn.MultiheadAttention(4, 2), nn.Embedding(3, 2), nn.GELU(),
               nn.TransformerEncoderLayer(4, 2, 8), nn.ParameterDict({"a": torch.ones(1)})],
    "lazy": nn.LazyLinear(3), "results": torch.max(x, 0), "empty": torch.ones(0, 2), "complex": torch.ones(2) * 1j,
    "sparse": [torch.eye(2).to_sparse(), torch.eye(2).to_sparse_csr(), torch.eye(2).to_sparse_bsr((1, 2)),
               torch.eye(2).to_sparse_bsc((2, 1)), nn.Parameter(torch.eye(2).to_sparse_csr())],
    "types": [torch.ones(2, dtype=torch.bfloat16), torch.ones(2).to(torch.float8_e5m2), torch.ones(2).to(torch.uint16)],
    "normal": torch.distributions.Normal(0., 1.)}

def shown(obj):
    if isinstance(obj, nn.Module):
        return repr(obj), obj.training, [(name, str(value)) for name, value in obj.state_dict().items()]
    if isinstance(obj, torch.Tensor):
        return type(obj).__name__, str(obj), vars(obj), obj.requires_grad
    if isinstance(obj, (list, tuple)):
        return [shown(part) for part in obj]
    if isinstance(obj, torch.optim.Optimizer):
        return repr(obj), str(obj.state_dict())
    return getattr(obj, "__name__", None) or repr(obj)

folder, what = sys.argv[1:]
for name, obj in OBJECTS.items():
    if what == "save":
        torch.save(obj, f"{folder}/{name}.pt")
        continue
    loaded = torch.load(f"{folder}/{name}.pt", weights_only=False)
    print(name, shown(loaded))
    try:
        print(shown(torch.load(f"{folder}/{name}.pt")))
    except Exception as error:
        print(type(error).__name__, str(error).partition(".")[0])
    if name == "views":
        print(loaded[0].data_ptr() == loaded[2].data_ptr(), loaded[1].storage_offset())
    if name == "both":
        loaded[0](torch.ones(4, 2)).sum().backward()
        loaded[1].step()
        print(loaded[0].scale)
'''


def test_both_packages_read_the_files_of_both(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for ours in (True, False):
        folder = tmp_path / str(ours)
        folder.mkdir()
        printed(program, *(OURS if ours else ()), arguments=[str(folder), "save"])
        read = printed(program, *OURS, arguments=[str(folder), "load"])
        assert len(read) > 40
        assert read == printed(program, arguments=[str(folder), "load"])
