"""What losses share: the tensors that they take, and how they are reduced, by PyTorch's present names and its old ones.
"""

from __future__ import annotations

from typing import Any

from ...foundations.errors import noted, warn
from ...tensors.arguments.options import check_tensors
from ...tensors.tensor import Tensor

__all__ = ["REDUCTIONS", "checked_reduction", "of_both", "reduced"]

REDUCTIONS = frozenset(("mean", "sum", "none"))


def of_both(name: str, input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """The arrays of input and target. Raises TypeError if one of them is no tensor."""
    try:
        return input._array, target._array
    except AttributeError:
        check_tensors(name, input=input, target=target)
        raise


def checked_reduction(reduction: str, size_average: Any = None, reduce: Any = None, warns: bool = True) -> str:
    """The name of the reduction. `size_average` and `reduce` decide it if they are given, with a warning.

    Raises ValueError for an unknown name.
    """
    if size_average is not None or reduce is not None:
        try:
            average, kept = size_average is None or bool(size_average), reduce is None or bool(reduce)
        except RuntimeError as error:
            raise noted(RuntimeError(str(error)), because="a tensor stands in the place of an option",
                        instead="make the loss first, and call it then: torch.nn.MSELoss()(input, target)") from None
        reduction = "none" if not kept else "mean" if average else "sum"
        if warns:
            warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
                 UserWarning)
    if not isinstance(reduction, str) or reduction not in REDUCTIONS:
        raise noted(
            ValueError(f"{reduction} is not a valid value for reduction"), instead="choose 'mean', 'sum' or 'none'")
    return reduction


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of the losses of all elements; the losses themselves for "none"."""
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def squeezed(input: Tensor, target: Tensor) -> str:
    """'input.squeeze(1)' if the input is like the target but for a last dim of size 1, or the reverse; else ''."""
    for name, more, less in (("input", input.shape, target.shape), ("target", target.shape, input.shape)):
        if more == (*less, 1):
            return f"{name}.squeeze({len(less)})"
    return ""
