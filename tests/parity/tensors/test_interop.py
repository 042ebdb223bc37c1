"""Conversions to and from what is no tensor, against real PyTorch: NumPy, numbers, copies, text, types."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

SETUP = """
t = torch.tensor
x = torch.ones(2, 3, requires_grad=True)
y = x * 2
i = t([1, 2])
h = torch.ones(2)
c = t([1 + 2j])
"""
EXPRESSIONS = """
torch.as_tensor([1,2])
torch.as_tensor(np.ones(2),dtype=torch.float32)
torch.asarray(np.ones(2))
torch.asarray([1.,2.])
torch.asarray(3)
torch.asarray(t(3.), copy=True)
torch.asarray([1.], requires_grad=True)
torch.asarray([1.], copy=False)
torch.asarray(b'abcd', dtype=torch.uint8)
torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8)
torch.from_numpy(np.ones(2,dtype=object))
torch.from_numpy([1])
torch.from_numpy(np.float64(1))
torch.from_numpy(np.ones(2)[::-1])
torch.from_numpy(np.ones(2,dtype='>f4'))
torch.from_numpy(np.array(['a']))
torch.from_numpy(np.array(3.))
torch.from_numpy(np.zeros((2,0)))
torch.from_numpy(np.ones((1,2))[:, ::2])
torch.from_numpy(np.broadcast_to(np.ones(1),(3,)))
torch.is_tensor(1)
torch.is_floating_point(t(1))
torch.is_floating_point(1)
torch.is_complex(t(1j))
torch.result_type(t([1]),2.5)
torch.result_type(1,2.5)
torch.result_type(t(1),t([1.],dtype=torch.float16))
torch.promote_types(torch.int8,torch.uint8)
torch.promote_types(1,torch.uint8)
torch.can_cast(torch.float32,torch.int32)
torch.can_cast(torch.float64,torch.float16)
torch.can_cast(torch.int32,torch.bool)
torch.can_cast(torch.complex64,torch.float32)
torch.can_cast(torch.int8,torch.uint8)
torch.can_cast(torch.bool,torch.uint8)
torch.can_cast(torch.uint8,torch.bool)
torch.can_cast(torch.uint8,torch.float16)
x.to()
x.to(torch.float32) is x
x.to('cpu') is x
x.to(torch.device('cpu'),torch.float32) is x
x.to(torch.float64)
x.to(dtype=torch.float64)
x.to(device='cpu',dtype=torch.float64)
x.to('cpu',torch.float64)
x.to(i)
x.to(torch.float32,copy=True)
x.to(torch.float64,True,True)
x.to('cpu',torch.float64,False,True)
x.to(i,copy=True)
x.to(copy=True)
x.to(None)
x.to(float)
x.to(int)
x.to('float32')
x.to(np.float32)
x.to('cuda')
x.to(torch.int64)
x.to(torch.complex64)
x.to(3)
x.to([1])
x.to(torch.float64,non_blocking=True,memory_format=torch.preserve_format)
c.to(torch.float32)
i.to(torch.float32)
x.type()
i.type()
c.type()
x.type(torch.float64)
x.type('torch.DoubleTensor')
x.type('torch.foo')
x.type(float)
x.type(torch.float32) is x
x.type(dtype=torch.int8)
x.type_as(i)
x.type_as([1])
x.float() is x
x.double()
x.half()
x.int()
x.long()
x.short()
x.char()
x.byte()
x.bool()
x.cfloat()
x.cdouble()
x.cpu() is x
x.cuda()
x.float(memory_format=torch.preserve_format) is x
x.is_floating_point()
i.is_floating_point()
i.is_signed()
t([1],dtype=torch.uint8).is_signed()
t([True]).is_signed()
x.is_complex()
x.is_cuda
x.layout
x.is_sparse
x.is_quantized
x.is_mps
x.is_meta
x.itemsize
x.nbytes
x.is_cpu
x.get_device()
x.element_size()
copy.deepcopy(x)
copy.deepcopy(y)
copy.deepcopy(y.detach())
copy.copy(x)
copy.copy(x) is x
copy.copy(y)
copy.copy(y).grad_fn is y.grad_fn
copy.copy(x).data_ptr()==x.data_ptr()
pickle.loads(pickle.dumps(x))
pickle.loads(pickle.dumps(y))
pickle.loads(pickle.dumps(h))
copy.deepcopy([x,x])[0] is copy.deepcopy([x,x])[1]
x.__dlpack__()
np.from_dlpack(h)
np.from_dlpack(x)
torch.from_dlpack(np.ones(2))
np.float64(2)*x
np.float32(2)*x
np.float64(2)+i
x*np.float64(2)
i*np.float32(2.5)
i+np.ones(2)
np.ones(3)/h[0]
np.array([t(1.),t(2.)])
np.array([x[0,0],x[0,1]])
np.ones(2)==h
h==np.ones(2)
np.asarray(torch.ones(2).to(torch.bool))
x.dtype.itemsize
x.new_tensor(i)
x.data.requires_grad
x.data.is_leaf
y.data is y.data
x.detach().requires_grad_()
torch.ones(-1)
torch.empty(-1)
torch.randn(-1)
torch.randint(3,(-1,))
torch.as_tensor(h) is h
torch.as_tensor(x) is x
torch.as_tensor(h,dtype=torch.float64)
torch.as_tensor(x,dtype=torch.float64)
torch.as_tensor('a')
torch.as_tensor(3.)
torch.as_tensor([1],device='cpu')
torch.asarray(h) is h
torch.asarray(x)
torch.asarray(x) is x
torch.asarray(x,requires_grad=True) is x
torch.asarray(y,requires_grad=True)
torch.asarray(h,copy=True) is h
torch.asarray(h,dtype=torch.float64,copy=False)
torch.asarray(x,dtype=torch.float64,requires_grad=True)
torch.asarray([1,2],requires_grad=True)
torch.asarray(np.float64(1))
torch.asarray(True)
torch.asarray([[1,2],[3]])
torch.asarray(np.array([1.,2.])[::-1])
torch.frombuffer(bytearray(8),dtype=torch.float32,count=1,offset=4)
torch.frombuffer(bytearray(7),dtype=torch.float32)
torch.complex(torch.ones(2,1),torch.ones(3,dtype=torch.float64))
torch.is_tensor(np.ones(2))
torch.is_complex(3)
torch.is_nonzero(h[0])
torch.is_nonzero(h)
x.is_nonzero()
torch.is_signed(h)
x.detach_()
c.item()
x.numpy(force=True)
x.tolist()
x.__array__()
h.__array__(np.float64)
h.__array__(dtype='int32')
np.asarray(h,dtype=np.int64)
h.numpy().flags.owndata
torch.zeros(2).numpy().base is None
h.data_ptr()==h.detach().data_ptr()
h.__index__()
t(3).__index__()
t(3.5).__int__()
t(2.5).__float__()
__import__('math').floor(t(2.5))
__import__('math').ceil(t(2.5))
__import__('math').sqrt(t(2.5))
torch.tensor(h.tolist())
torch.from_dlpack(h) is h
h.cuda(0)
str(torch.strided), repr(torch.strided)
torch.strided.__class__ is torch.layout
"""
TEXTS = """
repr(x)
repr(y)
str(y.sum())
repr(x.detach())
repr(i)
repr(c)
repr(h.to(torch.float64))
repr(t(1.5, requires_grad=True))
repr(y[:1])
repr(h.requires_grad_() * 3)
f"{t(1.5)}"
f"{t(1.5):.2f}"
f"{t(3)}"
f"{t(True)}"
f"{t(1j):.1f}"
f"{h}"
f"{h:.2f}"
f"{x!r:>5}"
"""
DTYPES = ["float16", "float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8",
          "bool"]


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_same(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)


@pytest.mark.parametrize("expression", TEXTS.strip().splitlines())
def test_texts(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_to(source: str, target: str) -> None:
    setup = (f"v = torch.tensor([0.0, 1.0, 2.6, 5.0]).to(torch.{source})\n"
             f"v.requires_grad_({source[0] in 'fc'})\nw = v.to(torch.{target})")
    check(torch, retrograd, setup, "w")
    check(torch, retrograd, setup, "v.type(torch.float64).requires_grad")
    if {source[:7], target[:7]} != {"float16", "complex"}:      # PyTorch has a complex32 for these
        check(torch, retrograd, setup, f"torch.result_type(v, torch.ones((), dtype=torch.{target}))")
    check(torch, retrograd, setup, f"torch.promote_types(torch.{source}, torch.{target})")
    check(torch, retrograd, setup, f"torch.can_cast(torch.{source}, torch.{target})")
    if source[0] in "fc" and target[0] in "fc":
        check(torch, retrograd, setup + "\nw.backward(torch.full_like(w, 3.5))", "v.grad")
        twice = (setup + "\nu = torch.full_like(w, 2.0).requires_grad_()"
                         "\ng, = torch.autograd.grad(w, v, u, create_graph=True)\ng.backward(torch.full_like(g, 1.5))")
        check(torch, retrograd, twice, "(g.detach() * 1, g.requires_grad, u.grad)")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0, 3), (2, 3)])
def test_there_and_back(dtype: str, shape: tuple[int, ...]) -> None:
    setup = f"v = torch.ones({shape}).to(torch.{dtype})"
    for expression in ("v.numpy()", "v.tolist()", "torch.from_numpy(v.numpy())", "copy.deepcopy(v)", "repr(v)",
                       "pickle.loads(pickle.dumps(v))", "v.data", "v.detach()", "torch.tensor(v.tolist())", "v.type()"):
        check(torch, retrograd, setup, expression)


TENSORS = {"retrograd": retrograd.ones(2, 3), "torch": torch.ones(2, 3)}


MIXED = {
    "a function": lambda package, own, other: package.sin(other),
    "the second argument": lambda package, own, other: package.add(own, other),
    "the first argument": lambda package, own, other: package.matmul(other, own.T),
    "a list": lambda package, own, other: package.cat([own, other]),
    "three arguments": lambda package, own, other: package.where(own > 0, own, other),
    "a functional": lambda package, own, other: package.nn.functional.relu(other),
    "a loss": lambda package, own, other: package.nn.functional.cross_entropy(other, other),
    "a module": lambda package, own, other: package.nn.Linear(3, 2)(other),
    "a method": lambda package, own, other: own.add_(other),
    "an assignment": lambda package, own, other: own.__setitem__(0, other[0]),
    "a derivative": lambda package, own, other: package.autograd.grad(other.sum(), other)}


@pytest.mark.parametrize("name", MIXED)
def test_the_two_packages_do_not_mix(name: str) -> None:
    for package, other in ((torch, retrograd), (retrograd, torch)):
        with pytest.raises(TypeError, match="another package"):
            MIXED[name](package, TENSORS[package.__name__], TENSORS[other.__name__])


def test_numbers_go_from_one_package_to_the_other() -> None:
    assert torch.equal(torch.tensor(TENSORS["retrograd"]), TENSORS["torch"])
    assert retrograd.equal(retrograd.tensor(TENSORS["torch"]), TENSORS["retrograd"])
    assert retrograd.as_tensor(torch.ones(2, dtype=torch.int32)).dtype is retrograd.int32
    with pytest.raises(RuntimeError, match="requires grad"):
        retrograd.tensor(torch.ones(2, requires_grad=True))
