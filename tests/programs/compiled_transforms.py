"""Transforms of random programs, compiled and as they are: made from a seed, and compared.

    python -m programs.compiled_transforms --count 1000           # from the folder tests/: a long run

The programs are those of `transformed_programs`, written as functions. Each way to differentiate one and to map it over
a batch is called several times, with other numbers, other sizes, and with arguments that require grad.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import retrograd
from programs.transformed_programs import (
    INPUTS,
    SAMPLES,
    Arrays,
    Function,
    FunctionAuthor,
    Program,
    StepError,
    first_order,
    run,
    second_order,
)

# With machine code, numbers may differ by so much of the largest.
NEAR, LAST_BITS = 1e-6, 1e-12


class PlainAuthor(FunctionAuthor):
    """Writes programs that call public functions alone."""

    def __init__(self, torch: Any, seed: int) -> None:
        super().__init__(torch, seed)
        self.kinds = tuple([(make, weight) for make, weight in self.kinds if make != self.entry])


def written(torch: Any, seed: int) -> tuple[Program, list[Arrays]]:
    """The program of a seed, without the steps that no batch can make, and samples of its arguments."""
    arrays, steps = PlainAuthor(torch, seed).function(8)
    draws = np.random.default_rng(seed)
    samples = [[array + draws.uniform(-0.03, 0.03, array.shape) for array in arrays] for _ in range(SAMPLES)]
    program = Program(torch, steps).runnable(samples)
    return run(program, samples, (0,) * INPUTS).program, samples


def as_functions(torch: Any, program: Program, samples: Sequence[Arrays]) -> tuple[Function, Function]:
    """The program as a function of the program text: all tensors at its end, and their numbers as one vector."""
    machine: dict[str, Any] = {"torch": torch, "np": np, "__name__": "a_program"}
    scope = {**machine, **{f"t{i}": torch.tensor(array) for i, array in enumerate(samples[0])}}
    for step in program.compiled:
        exec(step, scope)
    names = [name for name, value in scope.items() if isinstance(value, torch.Tensor)]
    arguments = ", ".join([f"t{i}" for i in range(INPUTS)])
    clones = ", ".join([f"{name}.clone()" for name in names])
    text = "\n    ".join([f"def function({arguments}):", *program.steps, f"return [{clones}]"])
    exec(compile(text, "a program", "exec"), machine)
    function = machine["function"]

    def numbers(*arguments: Any) -> Any:
        parts = [torch.view_as_real(t) if t.is_complex() else t for t in function(*arguments)
                 if t.is_complex() or t.is_floating_point()]
        return torch.cat([part.reshape(-1).double() for part in parts])

    return function, numbers


def ways(torch: Any, function: Function, numbers: Function, batched: bool) -> dict[str, Callable[..., Any]]:
    """The transforms of a program, by name: of one sample, or of a batch."""
    found: dict[str, Callable[..., Any]] = {}
    derivatives = {**first_order(torch, numbers, INPUTS), **second_order(torch, numbers, INPUTS)}
    for name, (one, of_batch) in derivatives.items():
        found |= {**of_batch, f"vmap of {name}": torch.vmap(one)} if batched else {name: one}
    if batched:
        found["vmap"] = lambda *args: torch.vmap(function)(*args[:INPUTS])
    else:
        found["jacobians"] = lambda *args: [torch.func.jacrev(numbers)(*args[:INPUTS]),
                                            torch.func.jacfwd(numbers)(*args[:INPUTS])]
        found["hessian"] = lambda *args: torch.func.hessian(lambda x: numbers(x, args[1]).sum())(args[0])
        found["functional"] = lambda *args: [
            torch.autograd.functional.jacobian(numbers, args[:INPUTS]),
            torch.autograd.functional.jvp(numbers, args[:INPUTS], args[INPUTS:2 * INPUTS])]
    return found


def leaves(value: Any) -> list[Any]:
    """The tensors in a value."""
    if isinstance(value, (list, tuple, dict)):
        value = value.values() if isinstance(value, dict) else value
        return [leaf for part in value for leaf in leaves(part)]
    return [value] if isinstance(value, retrograd.Tensor) else []


def observed(call: Callable[..., Any], args: Sequence[Any]) -> list[Any]:
    """What a program sees of the results of a call: their numbers, layout and graph, and the gradients."""
    seen: list[Any] = []
    try:
        results = leaves(call(*args))
    except Exception as error:
        return [f"{type(getattr(error, 'error', error)).__name__}: {error}"]
    for t in results:
        strides = [step for step, size in zip(t.stride(), t.shape) if size != 1]
        seen += [strides, t.dtype, t.requires_grad, t.is_leaf,
                 t.grad_fn is None, t.detach().numpy().copy()]
    moving = [t for t in results if t.requires_grad]
    inputs = [arg for arg in args if arg.requires_grad]
    if moving:
        try:
            total = sum([(t.real if t.is_complex() else t).double().sum() for t in moving])
            seen += [None if g is None else Gradient(g.numpy().copy())
                     for g in retrograd.autograd.grad(total, inputs, allow_unused=True)]
        except Exception as error:
            seen.append(f"{type(error).__name__}: {error}")
    return seen


class Gradient:
    """A gradient, of which the last bits depend on the order of sums."""

    def __init__(self, array: Any) -> None:
        self.array = array


def unlike(one: Sequence[Any], other: Sequence[Any], near: float) -> str | None:
    """How two observations differ."""
    if len(one) != len(other):
        return f"{str(one)[:60]}, compiled {str(other)[:200]}"
    for place, (a, b) in enumerate(zip(one, other)):
        if isinstance(a, Gradient) and isinstance(b, Gradient):
            a, b, near = a.array, b.array, max(near, LAST_BITS)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            same = a.dtype == b.dtype and a.shape == b.shape and (
                np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") or (near and _close(a, b, near)))
        else:
            same = type(a) is type(b) and (a == b or a is b)
        if not same:
            return f"place {place}: {str(a)[:200]}, compiled {str(b)[:200]}"
    return None


def _close(a: Any, b: Any, near: float) -> bool:
    if a.dtype.kind not in "fc":
        return bool((a == b).all())
    finite = np.isfinite(a)
    scale = max(1.0, float(np.abs(a[finite]).max(initial=0)))
    return bool((finite == np.isfinite(b)).all() and (np.abs(a - b)[finite] <= near * scale).all())


def calls(torch: Any, samples: Sequence[Arrays], size: int, batched: bool, draw: Any) -> Iterator[list[Any]]:
    """The arguments of several calls: points, directions and weights of the results."""
    for number, count in enumerate((SAMPLES, SAMPLES, 2, SAMPLES, SAMPLES)):
        points = [np.stack(arrays)[:count] * (1 + number / 64) for arrays in zip(*samples, strict=True)]
        directions = [draw.uniform(-1, 1, point.shape) for point in points]
        arrays = [*points, *directions, draw.uniform(-1, 1, (count, size))]
        args = [torch.tensor(array if batched else array[0]) for array in arrays]
        if number == 3:
            for arg in args[:INPUTS]:
                arg.requires_grad_()
        yield args


def compared(torch: Any, seed: int, backend: str, reasons: Counter[str],
             batches: Sequence[bool] = (False, True)) -> str | None:
    """How the compiled transforms of the program of a seed differ from the transforms; None if they do not."""
    program, samples = written(torch, seed)
    function, numbers = as_functions(torch, program, samples)
    size = numbers(*map(torch.tensor, samples[0])).numel()
    for batched in batches:
        for name, way in ways(torch, function, numbers, batched).items():
            compiled = torch.compile(way, backend=backend)
            for number, args in enumerate(calls(torch, samples, size, batched, np.random.default_rng(seed))):
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    mine = observed(compiled, [arg.detach().clone().requires_grad_(arg.requires_grad) for arg in args])
                fallen = [str(w.message).partition("since ")[2].partition(", in File")[0] for w in said
                          if "as it is" in str(w.message)]
                reasons.update(fallen or (["traced"] if number == 2 else []))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    right = observed(way, args)
                found = unlike(right, mine, 0 if backend == "numpy" else NEAR)
                if found:
                    return "\n".join([f"seed {seed}, {backend}: {name}, call {number}, {found}", *program.steps])
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--backend", default="numpy")
    options = parser.parse_args()
    reasons, found = Counter[str](), 0
    for seed in range(options.start, options.start + options.count):
        try:
            told = compared(retrograd, seed, options.backend, reasons)
        except StepError as error:
            told = None if "cannot" in str(error) else f"seed {seed}: {error}"
        if told:
            found += 1
            print(told, end="\n\n", flush=True)
    print(f"{options.count} programs, {found} with a difference")
    for reason, count in reasons.most_common():
        print(f"{count:6} {reason}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
