"""Random programs as functions, under vmap, jvp, grad and compositions of them.

    python -m programs.transformed_programs --count 5000         # from the folder tests/: a long run

A program is a list of steps on the names t0, t1, ..., of which the first `INPUTS` are the arguments. It calls
operators and entries of the table, makes views, and writes in place. What is compared: a batch with its samples,
forward mode with reverse mode and with differences, and each composition with the same composition in another order.

What differs by sample cannot be written into what does not. Such a step is refused, and the program goes on without it.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import retrograd
from op_table.exceptions import UNBATCHED, without_second
from programs.operator_machine import ENTRIES, OperatorMachine
from programs.operator_programs import OperatorAuthor
from programs.random_machine import Step

INPUTS = 2
SAMPLES = 3
_SHAPES = ((3,), (2, 3), (3, 3), (3, 2), (1, 3), (2, 1), (), (2, 2, 3), (4,))
_PALETTES = (("float64",), ("float64", "float64", "int64", "bool"), ("float64", "complex128"))
# What cannot be computed for a batch, here as in PyTorch.
REFUSED = ("vmap: |When vmap-ing torch.nn.functional.one_hot|output with shape .* doesn't match the broadcast shape|"
           "Cannot access storage of|Either your tensor may have escaped from inside a function being vmapped")
Arrays = list[np.ndarray[Any, Any]]
InDims = tuple[int | None, ...]
Function = Callable[..., Any]


class StepError(Exception):
    """A step raised an error."""

    def __init__(self, place: int, error: Exception) -> None:
        super().__init__(f"step {place}: {type(error).__name__}: {error}")
        self.place, self.error = place, error


# Steps that write in place, or whose results have shapes that depend on numbers.
WRITES = re.compile(r"\w_\W|out=|\w\[.*\] [-+*/%&|^<>]*= | [-+*/%&|^<>@]+= |unique|masked_select|> 0\]|entry|one_hot")
# Without entries that draw numbers, choose among equal elements, or whose derivatives are a convention.
ENTRIES_WITH_DERIVATIVES = [
    name for name in ENTRIES if name not in {**without_second(), **UNBATCHED["values"]}
    and not re.search("polynomial|bessel|airy|igamma|lowrank|dropout|gumbel|rrelu|max_norm|^put|^native_", name)]
# Steps that derivatives do not pass, that are too coarse for them, or that write over an element twice.
UNSUITABLE = re.compile(r"detach|float\(\)|float32|complex64|\[(torch.tensor\()?\[-?\d, -1\]\)?\] .?=|> 0\] .?= t")


class FunctionAuthor(OperatorAuthor):
    """Writes a program that is a function of its first tensors."""

    entries = ENTRIES_WITH_DERIVATIVES

    def __init__(self, torch: Any, seed: int) -> None:
        super().__init__(torch, seed)
        self.palette = self.draw.choice(_PALETTES)
        self.kinds = ((self.create, 0.5), (self.view, 4), (self.parts, 1), (self.call, 9), (self.entry, 3),
                      (self.write, 5), (self.join, 1.5), (self.compute, 2), (self.reshaped, 0.5))

    def literal(self, shape: tuple[int, ...], kind: str) -> Step:
        return super().literal(shape, kind).replace(", requires_grad=True", "")

    def view_of(self, x: str) -> str:
        """A view that derivatives pass, of elements that are the tensor's own."""
        view = super().view_of(x)
        return "[...]" if "detach" in view or "as_strided" in view else view

    def add(self, step: Step) -> None:
        """Add a step that can be run, and that derivatives pass in double precision."""
        if not UNSUITABLE.search(step) and not any(isinstance(note, Exception) for note in self.machine.step(step)):
            self.steps.append(step)

    def arrays(self) -> Arrays:
        """The arguments."""
        return [np.array(self.draw.choices([n / 8 for n in range(-20, 21)], k=int(np.prod(shape)))).reshape(shape)
                for shape in self.draw.choices(_SHAPES, k=INPUTS)]

    def function(self, length: int) -> tuple[Arrays, list[Step]]:
        arrays = self.arrays()
        for array in arrays:
            self.machine.scope[self.new()] = self.torch.tensor(array, requires_grad=True)
            self.add(f"t{self.count - 1} = t{self.count - 1}.clone()")
        makers, weights = zip(*self.kinds, strict=True)
        for _ in range(length):
            self.add(self.draw.choices(makers, weights)[0]())
            for name in self.names(lambda t: t.numel() > 60 or not bool((t.abs() <= 30).all())):
                self.add(f"del {name}")
        return arrays, self.steps


class Program:
    """A program as a function of its arguments. The result is all tensors that are there at the end."""

    def __init__(self, torch: Any, steps: Sequence[Step]) -> None:
        self.torch, self.steps = torch, [*steps]
        self.compiled = [compile(step, step, "exec") for step in steps]

    def __call__(self, *arguments: Any) -> list[Any]:
        machine = OperatorMachine(self.torch)
        machine.scope |= {f"t{place}": argument for place, argument in enumerate(arguments)}
        for place, step in enumerate(self.compiled):
            try:
                exec(step, machine.scope)
            except Exception as error:
                raise StepError(place, error) from error
        return [t.clone() for t in machine.tensors().values()]

    def numbers(self, *arguments: Any) -> Any:
        """All results that have derivatives, as one vector."""
        parts = [self.torch.view_as_real(t) if t.is_complex() else t for t in self(*arguments)
                 if t.is_complex() or t.is_floating_point()]
        return self.torch.cat([part.reshape(-1).double() for part in parts])

    def runnable(self, samples: Sequence[Arrays]) -> Program:
        """The program with those steps that can be run and differentiated for every sample."""
        try:
            for arrays in samples:
                leaves = [self.torch.tensor(array, requires_grad=True) for array in arrays]
                self.torch.autograd.grad(self.numbers(*leaves).sum(), leaves, create_graph=True, allow_unused=True)
        except StepError as error:
            return self.without(error.place).runnable(samples)
        except RuntimeError:                                 # a saved value was written over
            last = max((place for place, step in enumerate(self.steps) if WRITES.search(step)), default=-1)
            return self.without(last).runnable(samples)
        return self

    def without(self, place: int) -> Program:
        kept = [*self.steps]
        del kept[place]
        return Program(self.torch, kept)


def written(torch: Any, seed: int, length: int = 9) -> tuple[Program, list[Arrays]]:
    """The program of a seed, and samples of its arguments, which differ by little so that they suit it alike."""
    author = FunctionAuthor(torch, seed)
    arrays, steps = author.function(length)
    draws = np.random.default_rng(seed)
    samples = [[array + draws.uniform(-0.03, 0.03, array.shape) for array in arrays] for _ in range(SAMPLES)]
    return Program(torch, steps).runnable(samples), samples


class Run(NamedTuple):
    """A program, without its refused steps; its results for a batch; and the programs that end with refused steps."""

    program: Program
    results: list[Any]
    refused: list[Program]


def run(program: Program, samples: Sequence[Arrays], in_dims: InDims) -> Run:
    """Run a program for a batch. Of a program with a step that is refused, the steps up to this one are kept apart."""
    torch, refused = program.torch, []
    while True:
        try:
            results = torch.vmap(program, in_dims=in_dims)(*batch(torch, samples, in_dims))
            return Run(program, results, refused)
        except StepError as error:
            if not (re.match(REFUSED, str(error.error)) and WRITES.search(program.steps[error.place])):
                raise
            refused.append(Program(torch, program.steps[:error.place + 1]))
            program = program.without(error.place).runnable(samples)


def runs(program: Program, samples: Sequence[Arrays]) -> Iterator[tuple[Run, list[Arrays], InDims]]:
    """Runs for batches of both arguments, of one of them, and of other dims; with the samples, and the dims."""
    draw = np.random.default_rng(len(program.steps))
    drawn = tuple(int(draw.integers(-array.ndim - 1, array.ndim + 1)) for array in samples[0])
    for in_dims in ((0, 0), (0, None), (None, 0), drawn):
        shared = [[array if dim is not None else first for array, first, dim in zip(arrays, samples[0], in_dims)]
                  for arrays in samples]
        yield run(program, shared, in_dims), shared, in_dims


def batch(torch: Any, samples: Sequence[Arrays], in_dims: InDims) -> list[Any]:
    """All samples as one tensor for each argument, or the first sample where an argument has no batch.

    The samples lie one after another, so that what is a view of a sample is a view of the batch.
    """
    return [torch.tensor(arrays[0]) if dim is None else torch.tensor(np.stack(arrays)).movedim(0, dim)
            for arrays, dim in zip(zip(*samples, strict=True), in_dims, strict=True)]


def faults(program: Program, samples: Sequence[Arrays]) -> Iterator[str]:
    """What is wrong with the transforms of a program."""
    tensor, kept = program.torch.tensor, program
    for found, arguments, in_dims in runs(program, samples):
        wanted = [found.program(*map(tensor, arrays)) for arrays in arguments]
        for place, result in enumerate(found.results):
            problem = differ(result, [results[place] for results in wanted])
            if problem:
                yield f"vmap, result {place}, in_dims {in_dims}: {problem}"
        if in_dims == (0, 0):
            kept = found.program
    yield from wrong_derivatives(kept, samples, np.random.default_rng(len(program.steps)))


def differ(found: Any, wanted: Sequence[Any], singular: bool = False) -> str | None:
    """How a batch differs from its samples, if it does. At singular points the orders of derivatives need not agree."""
    mine, right = np.asarray(found.detach().numpy()), np.stack([np.asarray(t.detach().numpy()) for t in wanted])
    if mine.shape != right.shape or mine.dtype != right.dtype:
        return f"{mine.dtype} {mine.shape}, not {right.dtype} {right.shape}"
    if singular:
        mine = np.where(np.isfinite(mine) & np.isfinite(right), mine, right)
    if not near(mine, right):
        return f"{mine.tolist()}, not {right.tolist()}"
    return None


def near(found: Any, wanted: Any, close: float = 1e-8) -> bool:
    if wanted.dtype.kind not in "fc":
        return bool((found == wanted).all())
    scale = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)))
    return bool(np.allclose(found, wanted, rtol=close, atol=close * scale, equal_nan=True))


def wrong_derivatives(program: Program, samples: Sequence[Arrays], draw: Any) -> Iterator[str]:
    """What is wrong with tangents and gradients of a program, of a sample and of a batch."""
    torch, f, count = program.torch, program.numbers, INPUTS
    points = [torch.tensor(np.stack(arrays)) for arrays in zip(*samples, strict=True)]
    directions = [torch.tensor(draw.uniform(-1, 1, tuple(point.shape))) for point in points]
    size = f(*(point[0] for point in points)).numel()
    weights = torch.tensor(draw.uniform(-1, 1, (SAMPLES, size)))
    for name, (one, of_batch) in {**first_order(torch, f, count), **second_order(torch, f, count)}.items():
        wanted = [one(*(x[k] for x in (*points, *directions, weights))) for k in range(SAMPLES)]
        for way, compute in {**of_batch, "vmap": torch.vmap(one)}.items():
            found = compute(*points, *directions, weights)
            for place in range(len(found)):
                problem = differ(found[place], [results[place] for results in wanted], singular=way != "vmap")
                if problem:
                    yield f"{way} of {name}, result {place}: {problem}"
    yield from unlike_differences(program, [x[0] for x in (*points, *directions)])


Ways = dict[str, tuple[Callable[..., Any], dict[str, Callable[..., Any]]]]


def first_order(torch: Any, f: Function, n: int) -> Ways:
    """Each derivative of a sample, and other ways to compute it for the batch.

    The arguments of all functions are points, directions and weights of the results.
    """
    fwd, vmap = torch.autograd.forward_ad, torch.vmap

    def tangent(*args: Any) -> Any:
        return [torch.func.jvp(f, args[:n], args[n:2 * n])[1]]

    def dual(function: Function, *args: Any) -> Any:
        with fwd.dual_level():
            out = fwd.unpack_dual(function(*map(fwd.make_dual, args[:n], args[n:2 * n])))
            return [torch.zeros_like(out.primal) if out.tangent is None else out.tangent]

    def transposed_twice(*args: Any) -> Any:
        pull = torch.func.vjp(f, *args[:n])[1]
        return [torch.func.vjp(pull, args[-1])[1](args[n:2 * n])[0]]

    def cotangents(*args: Any) -> Any:
        return torch.func.vjp(f, *args[:n])[1](args[-1])

    def weighed(*args: Any) -> Any:
        return (vmap(f)(*args[:n]) * args[-1]).sum()

    def backward(*args: Any) -> Any:
        leaves = [x.clone().requires_grad_() for x in args[:n]]
        return torch.autograd.grad(weighed(*leaves, *args[n:]), leaves, materialize_grads=True)

    return {"tangent": (tangent, {
        "jvp of vmap": lambda *args: [torch.func.jvp(vmap(f), args[:n], args[n:2 * n])[1]],
        "forward_ad of vmap": lambda *args: dual(vmap(f), *args),
        "vmap of the transpose of the transpose": vmap(transposed_twice),
        "vmap of forward_ad": vmap(partial(dual, f))}),
        "cotangent": (cotangents, {
            "vjp of vmap": lambda *args: torch.func.vjp(vmap(f), *args[:n])[1](args[-1]),
            "grad of vmap": torch.func.grad(weighed, argnums=tuple(range(n))), "backward of vmap": backward})}


def second_order(torch: Any, f: Function, n: int) -> Ways:
    """The product of the second derivatives with a direction, by each pair of modes."""
    def weighed(*args: Any) -> Any:
        return (f(*args[:n]) * args[-1]).sum()

    every = tuple(range(n))
    gradient = torch.func.grad(weighed, argnums=every)

    def forward_of_reverse(*args: Any) -> Any:
        return torch.func.jvp(lambda *xs: gradient(*xs, *args[n:]), args[:n], args[n:2 * n])[1]

    def along(*args: Any) -> Any:
        return torch.func.jvp(lambda *xs: weighed(*xs, *args[n:]), args[:n], args[n:2 * n])[1]

    def reverse_of_reverse(*args: Any) -> Any:
        return torch.func.vjp(lambda *xs: gradient(*xs, *args[n:]), *args[:n])[1](args[n:2 * n])

    reverse_of_forward = torch.func.grad(along, argnums=every)
    return {"second derivative": (reverse_of_reverse, {
        "vmap of jvp of grad": torch.vmap(forward_of_reverse), "vmap of grad of jvp": torch.vmap(reverse_of_forward),
        "grad of vmap of jvp": torch.func.grad(lambda *args: torch.vmap(along)(*args).sum(), argnums=every)})}


def unlike_differences(program: Program, arguments: Sequence[Any]) -> Iterator[str]:
    """Tangents that are not the differences, where the function is smooth."""
    torch, points, directions = program.torch, arguments[:INPUTS], arguments[INPUTS:]
    tangent = torch.func.jvp(program.numbers, tuple(points), tuple(directions))[1].numpy()

    def difference(h: float) -> Any:
        ahead, behind = (program.numbers(*(x + step * v for x, v in zip(points, directions, strict=True))).numpy()
                         for step in (h, -h))
        return (ahead - behind) / (2 * h)

    try:
        wide, middle, narrow = difference(4e-5), difference(2e-5), difference(1e-5)
    except (StepError, ValueError):
        return
    scale = 1 + np.abs(middle)
    smooth = (np.abs(wide - middle) < 1e-6 * scale) & (np.abs(middle - narrow) < 1e-6 * scale)
    wrong = smooth & (np.abs(tangent - narrow) > 1e-5 * scale)
    if wrong.any():
        yield f"tangents, {tangent[wrong]}, differences {narrow[wrong]}"


def first_fault(program: Program, samples: Sequence[Arrays]) -> str | None:
    """What is first found to be wrong with a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return next(faults(program, samples), None)
        except Exception as error:
            return f"{type(error).__name__}, {error}"


def fault(seed: int) -> str | None:
    """What is wrong with the program of a seed, and the steps that the fault needs; None where nothing is."""
    program, samples = written(retrograd, seed)
    found = first_fault(program, samples)
    if found is None:
        return None
    kind = found.partition(",")[0]
    for place in reversed(range(len(program.steps))):
        shorter = program.without(place)
        if len(shorter.runnable(samples).steps) == len(shorter.steps):
            still = first_fault(shorter, samples)
            if still and still.partition(",")[0] == kind:
                program, found = shorter, still
    return "\n".join([f"seed {seed}", *program.steps, found])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    found = 0
    for seed in range(options.start, options.start + options.count):
        told = fault(seed)
        if told:
            found += 1
            print(told, end="\n\n", flush=True)
    print(f"{options.count} programs, {found} with a fault")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
