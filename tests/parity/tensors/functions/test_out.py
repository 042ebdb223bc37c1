"""`out=` against PyTorch, for every function that takes it: what is written, refused, resized, warned of, counted."""

from __future__ import annotations

import inspect
import pathlib
import re
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.out_cases import CASES, operands
from comparing.same_expression import said

DTYPES = ("float32", "float64", "int64", "int32", "bool", "complex64", "uint8", "float16")

# Where the two differ on purpose, or PyTorch's own behavior is an accident: (function, aspect) and why.
APART = {
    **{("nanmean", aspect): "PyTorch counts the sum and the division apart"
       for aspect in ("written", "dtypes", "shapes", "layouts", "gradients")},
    ("histogram", "shapes"): "PyTorch resizes the edges first, and warns in this order",
    ("normal", "dtypes"): "PyTorch fills `out` with complex samples; there are none here",
    ("normal", "shapes"): "PyTorch resizes to the shape of a mean before it looks at the deviation",
    ("normal", "layouts"): "PyTorch draws in the order of the memory of `out`",
    ("normal", "overlap"): "PyTorch draws over its own operands where they are `out`",
    ("bernoulli", "layouts"): "PyTorch draws in the order of the memory of `out`",
    ("std", "dtypes"): "PyTorch has no complex kernel over a dimension, but one over all",
    ("var", "dtypes"): "PyTorch has no complex kernel over a dimension, but one over all",
    ("empty", "written"): "PyTorch writes nothing, and so counts nothing",
    ("empty", "dtypes"): "PyTorch writes nothing, and so counts nothing",
    ("empty", "layouts"): "PyTorch writes nothing, and so counts nothing",
    ("empty", "gradients"): "PyTorch writes nothing, and so counts nothing",
    ("mode", "shapes"): "PyTorch resizes to the shape with the dimension kept, and squeezes",
    ("kthvalue", "shapes"): "PyTorch resizes to the shape with the dimension kept, and squeezes",
    ("median", "dtypes"): "PyTorch has other names for tensors of bools and of complex numbers",
    ("nanmedian", "dtypes"): "PyTorch has other names for tensors of bools and of complex numbers",
    ("nn.functional.gelu", "layouts"): "PyTorch leaves zeros in an `out` that is not contiguous",
    ("fft.fftfreq", "layouts"): "PyTorch writes the negative half past where it should in an `out` with gaps",
    ("randn", "shapes"): "PyTorch counts the resize and the filling apart",
    ("ldexp", "dtypes"): "PyTorch fails with an internal assertion where an exponent is an int",
    **{(name, "shapes"): "PyTorch resizes this `out` to rows, where its own results are columns" for name in (
        "linalg.lstsq", "cholesky", "cholesky_solve", "cholesky_inverse", "linalg.svd", "linalg.eigh", "linalg.eig",
        "linalg.householder_product", "orgqr", "geqrf", "ormqr")},
    **{(name, "overlap"): "PyTorch refuses memory of an operand only where it lies column by column" for name in (
        "cholesky_inverse", "linalg.lu_solve", "lu_solve", "linalg.ldl_solve", "linalg.householder_product", "orgqr",
        "ormqr")},
    **{("svd", aspect): "PyTorch counts the conjugation of V as a write" for aspect in (
        "written", "layouts", "shapes")},
    ("svd", "gradients"): "PyTorch writes to V before it looks at it",
    **{("lu", aspect): "PyTorch copies the result, recorded, to `out` after it gave that its shape" for aspect in (
        "shapes", "gradients")},
    **{("kron", aspect): "PyTorch does not count the write" for aspect in (
        "written", "dtypes", "shapes", "layouts", "gradients")},
    ("narrow_copy", "layouts"): "PyTorch takes every `out` for a contiguous one",
    **{(name, "shapes"): "PyTorch counts the resize and the filling apart" for name in (
        "split_with_sizes_copy", "unbind_copy")},
    ("heaviside", "dtypes"): "PyTorch has another message for a complex `out`",
}


class Call:
    """One case in one library."""

    def __init__(self, library: Any, name: str, args: str) -> None:
        self.library, self.args = library, args
        self.function = library
        for part in name.split("."):
            self.function = getattr(self.function, part)
        self.given = operands(library)
        self.shown: list[str] = []

    def __call__(self, out: Any = None, **replaced: Any) -> Any:
        given = {**self.given, **replaced, "function": self.function, "out": out}
        self.library.manual_seed(1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                return eval(f"function({self.args}{'' if out is None else ', out=out'})", given)
            finally:
                self.shown = [text for w in caught if re.match("An output|The number of", text := str(w.message))]

    def results(self) -> list[Any]:
        found = self()
        return [*found] if isinstance(found, tuple) else [found]

    def outs(self, shape: Any = None, **dtypes: Any) -> list[Any]:
        """Zeros to be written to, of the right shapes and dtypes but where said otherwise."""
        return [self.library.zeros(r.shape if shape is None else shape, dtype=dtypes.get(f"_{n}", r.dtype))
                for n, r in enumerate(self.results())]

    def seen(self, outs: list[Any], *, values: bool = True, **replaced: Any) -> Any:
        """What comes of writing to `outs`."""
        try:
            found = self(outs[0] if len(outs) == 1 else tuple(outs), **replaced)
        except Exception as error:
            assert all(not x._version for x in outs) or self.library is torch
            return type(error), said(error)
        returned = outs if found is None else [*found] if isinstance(found, tuple) else [found]
        assert all(x is y for x, y in zip(returned, outs, strict=True))
        facts = [(tuple(x.shape), str(x.dtype), _strides(x), x._version, x.requires_grad,
                  type(x.grad_fn).__name__) for x in outs]
        written = [x.detach().numpy() for x in outs] if values and "empty" not in str(self.function) else []
        return type(found).__name__, facts, [said(text) for text in self.shown], written


def _strides(x: Any) -> tuple[int, ...]:
    """The strides that mean something: of dimensions longer than 1."""
    return tuple([stride for stride, size in zip(x.stride(), x.shape) if size > 1])


def written(call: Call) -> list[Any]:
    return [call.seen(call.outs())]


def dtypes(call: Call) -> list[Any]:
    found = []
    for n, result in enumerate(call.results()):
        for dtype in DTYPES:
            if getattr(call.library, dtype) != result.dtype:
                found.append(call.seen(call.outs(**{f"_{n}": getattr(call.library, dtype)})))
    return found


def shapes(call: Call) -> list[Any]:
    return [call.seen(call.outs((4, 1))), call.seen(call.outs((0,))), call.seen(call.outs((2, 0)))]


def layouts(call: Call) -> list[Any]:
    def turned(x: Any) -> Any:
        return call.library.zeros(tuple(reversed(x.shape)), dtype=x.dtype).permute(tuple(reversed(range(x.dim()))))

    def spread(x: Any) -> Any:
        return call.library.zeros((*x.shape, 2), dtype=x.dtype)[..., 0]

    expanded = [call.library.zeros((1,) * x.dim(), dtype=x.dtype).expand(x.shape) for x in call.results()]
    return [call.seen([turned(x) for x in call.results()]), call.seen([spread(x) for x in call.results()]),
            call.seen(expanded, values=False)]


def gradients(call: Call) -> list[Any]:
    tracked = {name: x.clone().requires_grad_() for name, x in call.given.items()
               if isinstance(x, call.library.Tensor) and x.is_floating_point()}
    found = [call.seen(call.outs(), **tracked)]
    outs = call.outs()
    for x in outs:
        if x.is_floating_point() or x.is_complex():
            x.requires_grad_()
    found.append(call.seen(outs))
    with call.library.no_grad():
        found += [call.seen(outs), call.seen(call.outs(), **tracked)]
    return found


def overlap(call: Call) -> list[Any]:
    """`out` that is an operand, that starts an element later, and that lies over one in another order."""
    found = []
    results = call.results()
    for name in re.findall(r"\b[a-z]+\b", call.args):
        x = call.given.get(name)
        if len(results) == 1 and isinstance(x, call.library.Tensor) and x.dtype == results[0].dtype:
            result, memory = results[0], call.library.zeros(x.numel() + results[0].numel() + 1, dtype=x.dtype)
            operand, end = memory[:x.numel()].view(x.shape), result.numel()
            turned = memory[:end].view(tuple(reversed(result.shape))).permute(tuple(reversed(range(result.dim()))))
            for target in (memory[1:end + 1].view(result.shape), turned, operand):
                memory.zero_()
                operand.copy_(x)
                if target.shape == result.shape:
                    found.append(_accepted(call, target, result, **{name: operand}))
    return found


def _accepted(call: Call, target: Any, result: Any, **replaced: Any) -> Any:
    """Whether this is refused. What PyTorch writes where it does not look is an accident; here it is right."""
    try:
        call(target, **replaced)
    except RuntimeError as error:
        return said(error)
    if call.library is retrograd:
        np.testing.assert_allclose(target.numpy(), result.numpy(), rtol=1e-6)
    return "accepted"


def _alike(mine: Any, theirs: Any) -> bool:
    if not isinstance(theirs, tuple) or len(theirs) < 4:
        return bool(mine == theirs)
    return bool(mine[:-1] == theirs[:-1]) and all(
        np.allclose(x, y, 2e-3 if x.dtype == np.float16 else 1e-5, 1e-6, True)
        for x, y in zip(mine[-1], theirs[-1], strict=True))


@pytest.mark.parametrize(("name", "args"), CASES, ids=lambda part: part)
def test_out(name: str, args: str) -> None:
    calls = [Call(library, name, args) for library in (retrograd, torch)]
    for aspect in (written, dtypes, shapes, layouts, gradients, overlap):
        if (name, aspect.__name__) not in APART:
            mine, theirs = map(aspect, calls)
            differing = [pair for pair in zip(mine, theirs, strict=True) if not _alike(*pair)]
            assert not differing, aspect.__name__


def _taken_by_torch(name: str) -> bool:
    """Whether PyTorch's function takes `out`, by its signature or, if it has none, by the stubs that come with it."""
    function = getattr(torch, name, None)
    if inspect.isfunction(function):
        if name == "lu":                                # whose signature says nothing
            return True
        return name not in _REMOVED and "out" in inspect.signature(function).parameters
    return name in _STUBS


def _stubs() -> set[str]:
    text = (pathlib.Path(torch.__file__).parent / "_C" / "_VariableFunctions.pyi").read_text()
    return {name for name, parameters in re.findall(r"^def (\w+)\((.*?)\)\s*->", text, re.S | re.M)
            if re.search(r"\bout:", parameters)}


_STUBS = _stubs()
_REMOVED = {"eig", "lstsq", "matrix_rank", "solve", "symeig"}      # in PyTorch in name only


def _takes(name: str) -> bool:
    """Whether a function takes `out`: what is no tensor is refused for that, and not as an unknown argument."""
    function = getattr(retrograd, name)
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    args = dict(CASES).get(name, ", ".join(["f"] * len(needed)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)        # of functions that have been replaced
        with pytest.raises((TypeError, RuntimeError)) as refused:
            eval(f"function({args}, out='nothing')", {**operands(retrograd), "function": function})
    said = str(refused.value)
    return ("argument 'out'" in said or " out = None" in said) and "unexpected" not in said


def test_the_functions_that_take_out_are_those_of_pytorch() -> None:
    names = [name for name in retrograd.__all__
             if inspect.isfunction(getattr(retrograd, name)) and hasattr(torch, name)]
    ours = {name for name in names if "out" in inspect.signature(getattr(retrograd, name)).parameters and _takes(name)}
    internal = {"_add_relu", "_log_softmax", "_softmax"}   # PyTorch's own code alone gives them an `out`
    assert ours == {name for name in names if _taken_by_torch(name)} - internal
    sparse = {"hspmm", "saddmm", "sspaddmm"}            # their `out` is sparse; `test_sparse.py` compares it
    sparse |= {f"{part}_copy" for part in (             # of sparse tensors; `test_sparse_blocks.py` compares them
        "ccol_indices", "col_indices", "crow_indices", "indices", "row_indices", "values")}
    assert ours == {name for name, _ in CASES if "." not in name} | sparse


def test_the_functional_ones_too() -> None:
    names = [name for name in retrograd.nn.functional.__all__
             if inspect.isfunction(getattr(retrograd.nn.functional, name)) and hasattr(torch.nn.functional, name)]
    ours = {name for name in names if "out" in inspect.signature(getattr(retrograd.nn.functional, name)).parameters}
    assert ours == {name.rpartition(".")[2] for name, _ in CASES if name.startswith("nn.")}
    x = torch.ones(2, 2)
    for name in names:
        function = getattr(torch.nn.functional, name)
        if inspect.isfunction(function):
            assert ("out" in inspect.signature(function).parameters) == (name in ours), name
            continue
        messages = []
        for args in ((x,), (x, x), (x, x, x), (x[None], 2)):
            try:
                function(*args, out="nothing")
            except (TypeError, RuntimeError) as error:
                messages.append(str(error))
        assert any("argument 'out' must be" in text for text in messages) == (name in ours), (name, messages)


@pytest.mark.parametrize("call", [
    "acos(x, out=out)", "add(x, 1, out=out)", "cat([x, x], 1, out=out)", "eye(0, 5, out=out)", "zeros(0, 5, out=out)",
    "mm(x, x.new_ones(5, 5), out=out)", "nan_to_num(x, out=out)", "sigmoid(x, out=out)",
    "linalg.cholesky(x @ x.mT, out=out[:, :0])"])
def test_a_repeated_out_without_elements_is_written_to(call: str) -> None:
    def seen(t: Any) -> Any:
        columns = 10 if call.startswith("cat") else 5
        found = eval(f"t.{call}", {"t": t, "x": t.zeros(0, 5), "out": t.zeros(1, 1).expand(0, columns)})
        return tuple(found.shape), found.tolist()

    assert seen(retrograd) == seen(torch)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (0,), (2, 2), (1, 1), (4, 1), (0, 3), (5,)])
@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_a_range_keeps_the_shape_of_an_out_with_as_many_elements(name: str, count: int, shape: tuple[int, ...]) -> None:
    def seen(t: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = getattr(t, name)(0.0, 1.0, count, out=t.full(shape, 7.0))
        return tuple(found.shape), found.stride(), found.double().numpy()

    theirs, ours = seen(torch), seen(retrograd)
    assert theirs[:2] == ours[:2]
    np.testing.assert_allclose(ours[2], theirs[2], 1e-6)


def test_the_special_ones_too() -> None:
    ours = {name for name in retrograd.special.__all__
            if "out" in inspect.signature(getattr(retrograd.special, name)).parameters}
    assert ours == {name.partition(".")[2] for name, _ in CASES if name.startswith("special.")}
    stated = {name: getattr(torch.special, name).__doc__.strip().partition("\n\n")[0]
              for name in retrograd.special.__all__}
    assert ours == {name for name, text in stated.items() if "out=None" in text}


@pytest.mark.parametrize("name", ["fft", "linalg"])
def test_those_of_other_namespaces_too(name: str) -> None:
    space, other = getattr(retrograd, name), getattr(torch, name)
    names = [each for each in space.__all__ if inspect.isfunction(getattr(space, each))]
    ours = {each for each in names if "out" in inspect.signature(getattr(space, each)).parameters}
    theirs = {each for each in names if "out=None" in getattr(other, each).__doc__}
    assert theirs <= ours == {call.rpartition(".")[2] for call, _ in CASES if call.startswith(f"{name}.")}
