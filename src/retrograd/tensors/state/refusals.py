"""Views that do not allow recorded in-place writes, by how they were created, and PyTorch's errors for them."""

from __future__ import annotations

from typing import Any

from ...foundations.errors import noted
from ...graph.faults import forward_name

# How a view was created, as far as that matters for in-place writes. `make_view` combines two of them by the maximum.
# The last is that of the values of a sparse tensor, whose history would not know of the write.
ORDINARY, NO_GRAD, MULTI_OUTPUT, CUSTOM, INFERENCE, VALUES = range(6)

_GIVEN = ("Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
          "both the view and the inplace either both inside the {} block (if you don't want the inplace to be tracked) "
          "or both outside (if you want the inplace to be tracked).")
_WHY = {
    NO_GRAD: _GIVEN.format("no_grad"),
    INFERENCE: _GIVEN.format("inference_mode"),
    MULTI_OUTPUT: ("This view is the output of a function that returns multiple views. Such functions do not allow the "
                   "output views to be modified inplace. You should replace the inplace operation by an out-of-place "
                   "one."),
    CUSTOM: ("This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
             "logic to handle view+inplace would override the custom backward associated with the custom Function, "
             "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of "
             "the custom Function."),
    VALUES: ("It is a view of the elements of a sparse tensor, and a write to them cannot be recorded. Write under "
             "torch.no_grad(), or to a clone."),
}

_ENTRIES = {NO_GRAD: "in-place#view-made-in-no-grad", INFERENCE: "tensors#view-made-in-inference-mode",
            MULTI_OUTPUT: "in-place#view-of-several", CUSTOM: "functions#view-returned-with-others"}


def refusal(creation: int, edge: Any, *, of_base: bool) -> RuntimeError:
    """The error for a write to a view with this edge or, if `of_base`, for a view whose base was written to."""
    what = "its base or another view of its base has been modified inplace" if of_base else "is being modified inplace"
    output = "" if edge is None else f"Output {edge.index} of {forward_name(edge.node)} is a view"
    if edge is None or creation in (NO_GRAD, INFERENCE):
        view = f"{output} of a view which" if output else "A view"
        modes = "inference mode and {} in normal mode" if creation == INFERENCE else (
            "no_grad mode and {} with grad mode enabled")
        said = f"{view} was created in {modes.format(what)}"
    else:
        said = f"{output} and {what}"
    return noted(RuntimeError(f"{said}. {_WHY[creation]}"), _ENTRIES.get(creation, ""))
