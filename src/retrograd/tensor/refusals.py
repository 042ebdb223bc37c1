"""Views that in-place writes cannot be followed through, by how they came to be, and what is said of them.

Must not know how a write is made or recorded.
"""

from __future__ import annotations

from typing import Any

from ..graph.faults import forward_name

# How a view came to be, as far as in-place writes through it are concerned.
ORDINARY, NO_GRAD, MULTI_OUTPUT, CUSTOM, INFERENCE = range(5)

_WRITTEN = "is being modified inplace"
_BASE_WRITTEN = "its base or another view of its base has been modified inplace"
_CREATED = {
    NO_GRAD: ("A view was created in no_grad mode and {what} with grad mode enabled. Given that this use case is "
              "ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
              "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both "
              "outside (if you want the inplace to be tracked)."),
    MULTI_OUTPUT: ("Output {number} of {name} is a view and {what}. This view is the output of a function that returns "
                   "multiple views. Such functions do not allow the output views to be modified inplace. You should "
                   "replace the inplace operation by an out-of-place one."),
    CUSTOM: ("Output {number} of {name} is a view and {what}. This view was created inside a custom Function (or "
             "because an input was returned as-is) and the autograd logic to handle view+inplace would override the "
             "custom backward associated with the custom Function, leading to incorrect gradients. This behavior is "
             "forbidden. You can fix this by cloning the output of the custom Function."),
    INFERENCE: ("A view was created in inference mode and {what} in normal mode. Given that this use case is ambiguous "
                "and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace "
                "either both inside the inference_mode block (if you don't want the inplace to be tracked) or both "
                "outside (if you want the inplace to be tracked)."),
}


def refusal(creation: int, edge: Any, *, of_base: bool) -> RuntimeError:
    """The error for a view, which `edge` made, that is written to, or (`of_base`) whose base was."""
    if edge is None and creation != INFERENCE:
        creation = NO_GRAD
    return RuntimeError(_CREATED[creation].format(
        what=_BASE_WRITTEN if of_base else _WRITTEN, number=0 if edge is None else edge.index,
        name="a view" if edge is None else forward_name(edge.node)))
