"""A correct call of every function of `nn.functional`.

The functions are called as the table of operators calls them, see `table_calls`; here are calls of those that no entry
calls, and of two with more tensors. A line is the names and the arguments of one call, in Python; `f`, `i` and `c` make
tensors of a shape, of floats in (0, 1), ints and complex numbers.
"""

from __future__ import annotations

from comparing.module_calls import lines
from comparing.table_calls import table_calls
from comparing.wrong_calls import Call

LACKING = """
sigmoid tanh celu_ relu_ selu_: f(3, 4)
triplet_margin_with_distance_loss: f(3, 4), f(3, 4), f(3, 4)
fractional_max_pool2d_with_indices: f(1, 2, 6, 6), 2, 3, _random_samples=f(1, 2, 2)
fractional_max_pool3d_with_indices: f(1, 2, 6, 6, 6), 2, 3, _random_samples=f(1, 2, 3)
upsample upsample_nearest upsample_bilinear: f(1, 2, 4, 4), 6
l1_loss: f(3, 4), f(3, 4), weight=f(3, 4)
multi_head_attention_forward: f(3, 2, 4), f(3, 2, 4), f(3, 2, 4), 4, 2, f(12, 4), f(12), f(1, 1, 4), f(1, 1, 4), \
False, 0.0, f(4, 4), f(4), key_padding_mask=f(2, 3), attn_mask=f(3, 3)
"""


def functions() -> list[Call]:
    """Correct calls of each function; some have several."""
    space = "torch.nn.functional."
    return [*(call for call in table_calls() if call.name.startswith(space)),
            *(Call(space + name, (arguments,)) for name, arguments in lines(LACKING))]
