"""The small types that C code makes in PyTorch: what their objects do, and what they refuse, in PyTorch's words."""

from __future__ import annotations

import copy
import itertools
import operator
import pickle
import sys
import weakref
from typing import Any

import pytest
import torch

import retrograd

OBJECTS = {
    "dtype": "t.float32", "complex": "t.complex32", "Size": "t.Size([2, 3])", "empty Size": "t.Size([])",
    "Generator": "t.Generator()", "layout": "t.strided", "memory_format": "t.channels_last",
    "qscheme": "t.per_tensor_affine", "finfo": "t.finfo(t.float32)", "iinfo": "t.iinfo(t.int32)",
    "device": "t.device('cpu')", "device with a number": "t.device('cuda', 1)"}
USES = """
repr(x)
str(x)
f'{x:>30}'
format(x, 'd')
bool(x)
len(x)
list(x)
x()
x.nope
setattr(x, 'nope', 1)
delattr(x, 'nope')
setattr(x, 'itemsize', 3)
delattr(x, 'itemsize')
setattr(x, 'is_complex', 3)
setattr(x, 'type', 'cuda')
delattr(x, 'index')
setattr(x, 'bits', 1)
delattr(x, 'eps')
setattr(x, 'max', 1)
setattr(type(x), 'nope', 1)
delattr(type(x), 'nope')
type(x).__name__
type(x).__qualname__
type('S', (type(x),), {}).__name__
x.__dict__
hash(x) == hash(copy.copy(x))
x == copy.copy(x)
x is copy.deepcopy(x)
x == str(x)
x == None
x.__eq__(1)
pickle.loads(pickle.dumps(x)) == x
type(x)()
type(x)(1)
type(x)('cpu')
type(x)('x')
type(x)(None)
type(x)(x)
type(x)(x, x)
type(x)([1.5])
type(x)('cpu', '0')
type(x)(t.int8)
type(x)(float)
x < x
x < 1
x >= x
x + x
x + 1
1 + x
(1,) + x
[1] + x
x * 1.5
2 * x
x[0]
x['a']
0 in x
-x
x | x
x @ x
int(x)
operator.index(x)
reversed(x) and None
with_(x)
x.numel
x.get_offset()
x.set_offset(1)
x.manual_seed(True)
""".strip().splitlines()
# What differs: Python words the errors about the number of arguments of Python functions otherwise; and a device that
# is not there cannot be entered here, though PyTorch finds out only when it makes a tensor.
DIFFERENT = {("Generator", "type(x)(x, x)"), ("Generator", "type(x)('cpu', '0')"), ("device with a number", "with_(x)")}
if sys.version_info >= (3, 14):    # Python's error has the module of the class from there on, which is not PyTorch's
    DIFFERENT |= {(name, "with_(x)") for name in OBJECTS}
CALLS = """
t.finfo(3, 4)
t.finfo(type=t.float32, x=1)
t.finfo(t.float32, type=1)
t.finfo(None)
t.finfo(type='cpu')
t.finfo(nope=1)
t.iinfo(t.int8, t.int8)
t.iinfo(t.int8, x=1)
t.iinfo(t.int8, type=t.int8)
t.iinfo(nope=1)
t.iinfo(type='cpu')
t.device('cpu', 1, 2)
t.device(type='cpu', index='a')
t.device(1.5)
t.device([1])
t.device(type=3)
t.device(index=3)
t.device(device='cuda', index=3)
t.device(device=t.device('cpu'))
t.device(device='cuda:1')
t.device(t.device('cpu'), 1)
t.device(True)
t.device('cpu', True)
t.device('cpu', None)
t.device(-1)
t.device(nope=1)
t.device('cpu', nope=1)
t.device('cpu', type='cpu')
t.Size((1, 2), (3,))
t.Size(nope=1)
t.Generator(1.5)
t.Generator(t.int8)
t.Generator(1)
""".strip().splitlines()


def with_(x: Any) -> bool:
    with x:
        return True


def outcome(package: Any, given: str, use: str) -> str:
    """What a use of an object gives, or its error."""
    names = {"t": package, "copy": copy, "pickle": pickle, "weakref": weakref, "operator": operator, "with_": with_}
    try:
        names["x"] = eval(given, names)
        found = eval(use, names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "a method or an object" if callable(found) or " at 0x" in repr(found) else repr(found)


@pytest.mark.parametrize(("name", "use"), [pair for pair in itertools.product(OBJECTS, USES) if pair not in DIFFERENT])
def test_small_objects_do_and_refuse_what_pytorch_s_do(name: str, use: str) -> None:
    assert outcome(retrograd, OBJECTS[name], use) == outcome(torch, OBJECTS[name], use)


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_small_types(call: str) -> None:
    assert outcome(retrograd, "None", call) == outcome(torch, "None", call)


def test_generators_can_be_referred_to_weakly() -> None:
    for package in (torch, retrograd):
        generator = package.Generator()
        assert weakref.ref(generator)() is generator
