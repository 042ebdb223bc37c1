"""Shapes, joining and splitting against PyTorch: values, graphs, both derivatives, errors, strides and views."""

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare

DRAWS = np.random.default_rng(3)
MATRIX = DRAWS.standard_normal((3, 4)).astype(np.float32)
BATCH = DRAWS.standard_normal((2, 1, 3)).astype(np.float32)
SCALAR = np.array(1.5, np.float32)
EMPTY = np.zeros((0, 3), np.float32)
INPUTS = {"matrix": MATRIX, "turned": np.asfortranarray(MATRIX), "batch": BATCH, "scalar": SCALAR, "empty": EMPTY,
          "vector": MATRIX[0].copy()}
OTHER_TYPES = {"bool": MATRIX > 0, "int64": (MATRIX * 9).astype(np.int64),
               "uint8": np.arange(12, dtype=np.uint8).reshape(3, 4),
               "float16": MATRIX.astype(np.float16), "complex64": (MATRIX + 1j * MATRIX[::-1]).astype(np.complex64)}

# Each with one tensor x; what a shape does not allow is compared as an error.
ONE = """
x.view(12)  x.view(-1)  x.view(4, -1)  x.view((2, 6))  x.view([3, -1])  x.view(-1, -1)  x.view(5)  x.view(2, -1, 3)
x.view(-2, 6)  x.view_as(x)  x.view(0, -1)  x.view(x.shape)
x.reshape(-1)  x.reshape(6, 2)  x.reshape(5)  x.reshape((-1, 1))  x.reshape(x.shape)  torch.reshape(x, (-1,))
x.reshape_as(x)
x.flatten()  x.flatten(1)  x.flatten(0, 1)  x.flatten(-1)  x.flatten(1, 0)  x.flatten(0, 5)  x.ravel()  torch.ravel(x)
x.unflatten(0, (1, -1))  x.unflatten(-1, (2, 2))  x.unflatten(1, (-1, 1))  x.unflatten(0, ())  x.unflatten(0, (2, 2))
x.transpose(0, 1)  x.transpose(-1, -2)  x.transpose(0, 0)  x.transpose(0, 7)  x.swapaxes(0, -1)  x.swapdims(0, 1)
torch.transpose(x, dim0=0, dim1=1)  x.t()  torch.t(x)  x.T  x.mT  x.H  x.mH  x.adjoint()
x.permute(1, 0)  x.permute((1, 0))  x.permute(2, 0, 1)  x.permute(-1, 0, 1)  x.permute(0, 0)  x.permute(0, 5)
x.permute()
torch.permute(x, (1, 0))  x.movedim(0, -1)  x.movedim((0, 1), (1, 0))  x.movedim((0, 0), (0, 1))  x.moveaxis(-1, 0)
x.movedim((0, 2), (2, 1))  x.movedim(0, 5)
x.squeeze()  x.squeeze(0)  x.squeeze(1)  x.squeeze(-2)  x.squeeze((0, 1))  x.squeeze(())  x.squeeze(5)
x.squeeze((0, 0))
x.unsqueeze(0)  x.unsqueeze(1)  x.unsqueeze(-1)  x.unsqueeze(4)  torch.unsqueeze(x, dim=0)
x.expand(3, 4)  x.expand(2, 3, 4)  x.expand(2, 5, 3)  x.expand(2)  x.expand(5, 4)
x.expand(0, 3)  x.expand((2, 3, 4))  x.expand_as(x)  x.broadcast_to((5, 3, 4))  torch.broadcast_to(x, (2, 4))
x.narrow(0, 1, 2)  x.narrow(-1, -2, 1)  x.narrow(0, 0, 0)  x.narrow(0, 2, 3)  x.narrow(0, 9, 1)  x.narrow(0, 0, -1)
x.select(0, 1)  x.select(-1, -1)  x.select(0, 5)  x.select(5, 0)  x.contiguous()  x.clone()  torch.clone(x)
x.diagonal()  x.diagonal(1)  x.diagonal(-2)  x.diagonal(9)  x.diagonal(0, 1, 0)  x.diagonal(0, 0, 0)
x.diagonal(0, -1, -2)
x.diagonal(0, 1, 2)  torch.diagonal(x, offset=1)  x.diag()  x.diag(1)  x.diag(-1)  torch.diag(x, 2)
x.diag_embed()  x.diag_embed(1)  x.diag_embed(-1)  torch.diag_embed(x, 1, 0, 1)  torch.diag_embed(x, 1, 1, 0)
x.tril()  x.tril(1)  x.tril(-1)  x.triu()  x.triu(-1)  torch.triu(x, 5)  torch.tril(x, diagonal=-5)
x.unfold(0, 2, 1)  x.unfold(1, 2, 2)  x.unfold(-1, 3, 1)  x.unfold(0, 9, 1)  x.unfold(0, 1, 0)  x.unfold(0, 1, 1)
x.repeat(2)  x.repeat(2, 3)  x.repeat(1, 2, 1)  x.repeat(2, 1, 1, 2)  x.repeat(0, 2, 1)  x.repeat((2, 2))
x.repeat(1, -1)
x.tile(2)  x.tile((2, 1))  x.tile(2, 1, 2)  torch.tile(x, (2,))
x.repeat_interleave(2)  x.repeat_interleave(3, dim=0)  x.repeat_interleave(2, -1)  x.repeat_interleave(-1)
x.repeat_interleave(torch.tensor([1, 0, 2]), 0)  x.repeat_interleave(torch.tensor([2, 1]), 0)  x.repeat_interleave(0, 0)
torch.repeat_interleave(torch.tensor([2, 0, 1]))  x.repeat_interleave(1)
x.flip(0)  x.flip(0, 1)  x.flip((-1,))  x.flip([])  x.flip(0, 0)  x.flip(4)  x.fliplr()  x.flipud()  torch.flip(x, [0])
x.roll(1)  x.roll(-1, 0)  x.roll((1, 2), (0, 1))  x.roll(1, (0, 1))  x.roll((1, 2))  x.roll(1, 9)
torch.roll(x, 2, dims=-1)
x.rot90()  x.rot90(2)  x.rot90(-1)  x.rot90(1, (1, 0))  x.rot90(1, (0, 0))  x.rot90(1, (0,))  torch.rot90(x, 3, (-1, 0))
x.split(2)  x.split(1, -1)  x.split([1, 2])  x.split((1, 1, 1), 0)  x.split([1, 3], 1)  x.split([5, -2])  x.split(0)
x.split(-1)  x.split(9)  torch.split(x, 2, dim=0)  x.split(split_size=2)  torch.split_with_sizes(x, [1, 2])
x.chunk(2)  x.chunk(2, 1)  x.chunk(7)  x.chunk(0)  torch.chunk(x, 3, -1)
x.tensor_split(2)  x.tensor_split(5, -1)  x.tensor_split([1])  x.tensor_split((0, 2, 9), 0)  x.tensor_split(0)
x.hsplit(2)  x.vsplit(3)  x.vsplit([1])  x.unbind()  x.unbind(1)  x.unbind(-1)  torch.unbind(x, dim=0)  [*x]
x.unbind(7)
torch.cat([x, x])  torch.cat((x, x), -1)  torch.cat([x, x], dim=1)  torch.cat([x])  torch.cat([x, x], axis=0)
torch.cat([x, x], 3)
torch.cat([x, x * 2, x[:1]])  torch.cat([x, x[:, :1]], 1)  torch.cat([x, x[:, :1]])  torch.cat([x, x.double()])
torch.cat([x, torch.zeros(0)])  torch.cat([torch.zeros(0), x], 0)  torch.cat([x, torch.ones(2)])
torch.cat([x.long(), x])
torch.concat([x, x])  torch.concatenate([x, x])  torch.cat([x, 1])  torch.cat([])  torch.cat(x)
torch.stack([x, x])  torch.stack([x, x], 1)  torch.stack([x, x], dim=-1)  torch.stack([x, x.double()])
torch.stack([x], 9)
torch.stack([x, x[:1]])  torch.stack([])  torch.stack((x, x.long()))
torch.hstack([x, x])  torch.vstack([x, x])  torch.dstack([x, x])  torch.column_stack([x, x])  torch.row_stack([x, x])
torch.atleast_1d(x)  torch.atleast_2d(x)  torch.atleast_3d(x)  torch.atleast_2d(x, x)
torch.broadcast_tensors(x, torch.ones(2, 1, 1))  torch.broadcast_tensors(x, torch.ones(7))  torch.broadcast_tensors(x)
x.view(torch.int32)  x.view(torch.float64)  x.detach().view(torch.int64)
""".strip().replace("\n", "  ").split("  ")

VECTORS = """
torch.meshgrid(x, y, indexing="ij")  torch.meshgrid(x, y, indexing="xy")  torch.meshgrid([x, y, x], indexing="xy")
torch.meshgrid(x, indexing="ij")  torch.meshgrid(x, y, indexing="yx")  torch.hstack([x, y])  torch.vstack([x, x])
torch.dstack([y, y])  torch.column_stack([x, x])  torch.atleast_3d(x, y)  torch.cat([x, y, x])  torch.stack([x, y])
torch.broadcast_tensors(x.view(-1, 1), y)  torch.cat([x, torch.zeros(0, 2)])
""".strip().replace("\n", "  ").split("  ")

QUESTIONS = """
x.numel()  x.nelement()  torch.numel(x)  x.size()  x.size(0)  x.size(-1)  x.size(dim=1)  x.size(9)  x.dim()
x.ndimension()
x.stride()  x.stride(0)  x.stride(-1)  x.storage_offset()  x.is_contiguous()  x.element_size()  len(x)  x.nbytes
x.is_same_size(x)  x[1:].storage_offset()  x[1:, 2:].storage_offset()  x.clone().stride()  x.t().contiguous().stride()
x.expand(2, 3, 4).stride()  x[:, ::2].stride()  x[:, ::2].clone().stride()  x.t().clone().stride()
x[:, ::2].is_contiguous()
x.transpose(0, 1).is_contiguous()  x.contiguous() is x  x.flatten(0, 0) is x
x.clone(memory_format=torch.contiguous_format).stride()  x.reshape(x.shape) is x  (x * 1)._version
x.view(-1)._base is x
x.reshape(-1)._is_view()  x.t().reshape(-1)._is_view()  x[0]._base is x  x[[0]]._base is None
x.t()[0].view(-1)._base is x
torch.broadcast_shapes((2, 3), (3,))  torch.broadcast_shapes(2, (3, 1))  torch.broadcast_shapes((2,), (3,))
torch.broadcast_shapes()  iter(x).__next__().shape  x.data_ptr() == x.view(-1).data_ptr()
torch.atleast_1d(x) is x  x.split(1)[1]._base is x  x.diag()._is_view()  x.diagonal()._is_view()
x.chunk(2)[0].data_ptr() == x.data_ptr()
""".strip().replace("\n", "  ").split("  ")


def case(text, names="torch, x"):
    return eval(f"lambda {names}: {text}")


@pytest.mark.parametrize("text", ONE)
@pytest.mark.parametrize("name", INPUTS)
def test_one_tensor(text, name):
    compare(case(text), INPUTS[name])


@pytest.mark.parametrize("name", OTHER_TYPES)
def test_other_types(name):
    for text in ONE:
        compare(case(text), OTHER_TYPES[name], order=1)


@pytest.mark.parametrize("text", VECTORS)
def test_vectors(text):
    compare(case(text, "torch, x, y"), MATRIX[0].copy(), MATRIX[1, :3].copy())


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("name", ["matrix", "turned", "scalar"])
def test_questions(text, name):
    compare(case(text), INPUTS[name], grad=False)


# In-place writes and views: statements run on both, then everything about the tensors that they leave is compared.

PROGRAMS = """
v = y[0]; v.mul_(3)
v = y[0]; v.mul_(3); y.mul_(2)
v = y[0]; y.mul_(3); w = v * 2; w.sum().backward()
v = y.view(-1)[2:]; v += 1
v = y.view(-1)[2:]; v += 1; w = y.t(); w *= 2; v.sum().backward()
v = y.t(); y[0] = 5.; v.sum().backward()
v = y[0:2][:, 1]; v.copy_(x[:2, 0]); (y * y).sum().backward()
v = y.expand(2, 3, 4); y.mul_(3); (v * v).sum().backward()
v = y[0].expand(3, 4); y.mul_(y); (v * v).sum().backward()
v = y.unfold(1, 2, 1); y.mul_(y); (v * v).sum().backward()
v = y.unsqueeze(0).squeeze(0).transpose(0, 1); v.mul_(x.t()); (y * y).sum().backward()
v = y.diagonal(); v.zero_(); (y * y).sum().backward()
v = y.diagonal(); v.mul_(2); (v * v).sum().backward()
v = y.unbind()[0]; v.mul_(2)
v = y.split(1)[1]; v.mul_(2)
v = y.chunk(2)[1]; v.mul_(2)
v = y.split([1, 2])[1]; v.mul_(2)
v = y.unbind()[0][1:]; v.mul_(2)
v = y.unbind()[0]; y.mul_(2); w = v * 2
v = y.unbind()[0]; y.mul_(2); v.grad_fn
v = y.unbind()[0]; y.mul_(2); v.is_leaf
v = y.tensor_split(3)[0]; v.mul_(2); y.sum().backward()
for v in y: v.mul_(2)
v = x[0]; v.mul_(2)
v = x.view(-1); v.mul_(2)
v = x.t(); v[0] = 1.
x.mul_(2)
with torch.no_grad(): x.mul_(2)
with torch.no_grad(): v = x[0]; v.mul_(2)
with torch.no_grad(): x[0] = 1.; x.t()[1] += 2
v = x[0]; torch.set_grad_enabled(False); v.mul_(2); torch.set_grad_enabled(True); v.sum().backward()
z = torch.zeros(3, 4); v = z[0]; v.copy_(x[0]); (z * z).sum().backward()
z = torch.zeros(3, 4); v = z[0]; z[1] = x[0]; (v * v).sum().backward()
z = torch.zeros(3, 4); z[...] = x; (z * z).sum().backward()
v = y.detach(); v[0] = 7.
v = y.expand(2, 3, 4); v.mul_(2)
v = y[:1].expand(3, 4); v.add_(1)
v = y.expand(2, 3, 4)[0]; v.mul_(2); y.sum().backward()
v = y.expand(3, 4); v.mul_(2); y.sum().backward()
v = y[1:]; w = v[:, 1:]; w.mul_(x[1:, 1:]); v.mul_(2); (y * y).sum().backward()
v = y[1:]; w = v * v; v.mul_(2); w.sum().backward()
v = y[1:]; w = y * y; v.mul_(2); w.sum().backward()
w = y.exp(); v = w[0]; v.mul_(2); w.sum().backward()
v = y.reshape(4, 3); v[0] = 1.; y.sum().backward()
v = y.t().reshape(-1); v[0] = 1.; y.sum().backward()
v = y.flatten(); v.mul_(v); (y * 2).sum().backward()
v = y[0]; w = y[0]; v.mul_(2); (v + w).sum().backward()
v = y[:, 0]; v.mul_(2); w = v * v; w.sum().backward()
y[0] += 1; y[1] *= x[0]; (y * y).sum().backward()
y[0] = y[1]; y[1] = y[2]; (y * y).sum().backward()
""".strip().splitlines()


def outcome(library, program):
    """What a program leaves: for each tensor its values, version, flags and graph; and the gradient; or the error."""
    x = library.from_numpy(MATRIX.copy()).requires_grad_()
    names = {"torch": library, "x": x, "y": x * 1}
    try:
        exec(program, names)
        left = {}
        for name in "xyzvw":
            tensor = names.get(name)
            if tensor is not None:
                node = tensor.grad_fn
                after = [] if node is None else [f[0] and f[0].name().rpartition("::")[2] for f in node.next_functions]
                left[name] = (np.round(tensor.detach().numpy(), 4).tolist(), tensor._version, tensor.requires_grad,
                              tensor.is_leaf, node and node.name().rpartition("::")[2], after, tensor._base is None)
        left["grad"] = x.grad is not None and np.round(x.grad.numpy(), 4).tolist()
        return left
    except RuntimeError as error:
        return str(error).split(".")[0].split(": [")[0]
    finally:
        library.set_grad_enabled(True)


@pytest.mark.parametrize("program", PROGRAMS)
def test_writes_through_views(program):
    assert outcome(retrograd, program) == outcome(torch, program)
