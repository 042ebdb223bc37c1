"""PyTorch's own samples of wrong calls end as in PyTorch: with the same type and the same message, to the letter.

The samples are those of the tables `op_db` and `module_db`, by which PyTorch tests its operators and modules. A sample
with something that does not exist here, such as a tensor on another device or a subclass, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import pytest
import torch

from comparing.pytorch_samples import Absent, function, ours

pytestmark = pytest.mark.filterwarnings("ignore")

SHARE = 0.95            # of the messages of calls that both refuse
# Messages that differ, by the function, each with the reason. All others are the same.
_FIRST = "of two faults, the other is found first"
OTHER_WORDS = {
    "nn.functional.max_pool1d": "PyTorch's kernel is chosen by the shape, and each kernel has words of its own",
    "nn.functional.max_pool3d": "PyTorch's message has the name of a template in its source, and counts the batch",
    "nn.functional.conv2d": _FIRST,
    "nn.functional.conv3d": _FIRST,
    "nn.functional.embedding": _FIRST,
    "hsplit": _FIRST,
    "vsplit": _FIRST,
    "dsplit": _FIRST,
    "gather": _FIRST,
    "index_select": _FIRST,
    "normal": "the sample is of the method, and the method is no function here",
    "__rdiv__": "the sample calls a method of tensors with an int in the tensor's place",
    "narrow_copy": "PyTorch shows a condition of its source",
}


class Sample(NamedTuple):
    """A wrong call: the name of the function or module, and how the call ends in PyTorch and here."""

    name: str
    theirs: str
    ours: str


def end(call: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    try:
        call(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("retrograd", "torch")
    return "ok"


def of_operators() -> Iterator[Sample | None]:
    from torch.testing._internal.common_methods_invocations import op_db
    for op in op_db:
        for wrong in op.error_inputs("cpu") if op.error_inputs_func else ():
            sample = wrong.sample_input
            try:
                call, first, args, kwargs = function(op.name), *map(ours, (sample.input, sample.args, sample.kwargs))
            except Absent:
                yield None
                continue
            yield Sample(op.name, end(op.op, sample.input, *sample.args, **sample.kwargs),
                         end(call, first, *args, **kwargs))


def of_modules() -> Iterator[Sample | None]:
    from torch.testing._internal.common_modules import ModuleErrorEnum, module_db
    for module in module_db:
        make = module.module_error_inputs_func
        for wrong in () if make is None else make(
                module, device="cpu", dtype=torch.float32, requires_grad=False, training=True):
            made, given = wrong.module_error_input.constructor_input, wrong.module_error_input.forward_input
            making = wrong.error_on is ModuleErrorEnum.CONSTRUCTION_ERROR
            name = module.name.replace("_", ".")

            def run(kind: Any, take: Callable[[Any], Any], made: Any = made, given: Any = given,
                    making: bool = making) -> None:
                built = kind(*take(made.args), **take(made.kwargs))
                if not making:
                    built(*take(given.args), **take(given.kwargs))
            try:
                kind = function(name)
                for each in (made, given):
                    ours([] if each is None else [each.args, each.kwargs])
            except Absent:
                yield None
                continue
            yield Sample(name, end(run, module.module_cls, lambda value: value), end(run, kind, ours))


@cache
def samples() -> list[Sample | None]:
    """All samples. A thread makes them: PyTorch looks at the source of each frame that calls it, for each sample."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: [*of_operators(), *of_modules()]).result()


def refused() -> list[Sample]:
    """The samples that both packages refuse."""
    return [sample for sample in samples() if sample is not None and "ok" not in (sample.theirs, sample.ours)]


def test_most_samples_are_tried() -> None:
    assert sum(sample is None for sample in samples()) < 0.25 * len(samples())
    assert len(refused()) > 650


def test_the_messages_are_pytorch_s_to_the_letter() -> None:
    same = sum(sample.theirs == sample.ours for sample in refused())
    assert same > SHARE * len(refused()), f"{same} of {len(refused())}"


def test_each_other_message_has_a_reason() -> None:
    other = [sample for sample in refused() if sample.theirs != sample.ours]
    assert [sample for sample in other if sample.name not in OTHER_WORDS] == []
    assert {sample.name for sample in other} == {*OTHER_WORDS}
