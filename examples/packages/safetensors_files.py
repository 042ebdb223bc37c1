"""safetensors: the weights of a model to a file and back, whole and in slices."""

import os
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.safetensors")
    save_file(model.state_dict(), path, metadata={"format": "pt"})
    print(f"bytes in the file: {os.path.getsize(path)}")
    state = load_file(path)
    print("equal:", all(torch.equal(state[name], value) for name, value in model.state_dict().items()))
    with safe_open(path, framework="pt", device="cpu") as file:
        print("metadata:", file.metadata(), "keys:", sorted(file.keys()))
        rows = file.get_slice("0.weight")
        print("shape:", rows.get_shape(), "dtype:", rows.get_dtype())
        print("sum of two rows:", round(rows[1:3].sum().item(), 4))
        print("bias:", [round(b, 4) for b in file.get_tensor("2.bias").tolist()])
    save_model(model, path)
    other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    print("missing and unexpected:", load_model(other, path))
    print("same results:", torch.equal(model.eval()(torch.ones(1, 3)), other.eval()(torch.ones(1, 3))))
values = {"half": torch.arange(4, dtype=torch.float16), "long": torch.arange(3), "flags": torch.tensor([True, False])}
print({name: (str(value.dtype), value.tolist()) for name, value in sorted(load(save(values)).items())})
try:
    shared = torch.zeros(4)
    save({"a": shared, "b": shared})
except RuntimeError as error:
    print("shared memory is refused:", str(error).strip().partition(",")[0])
