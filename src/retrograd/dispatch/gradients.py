"""The gradients of nodes by the operators that PyTorch's core has for them, such as `aten.native_layer_norm_backward`.

Here the rules of a node compose its gradients from operators. A handler sees the one operator of the core in their
place. Its numbers are those of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from ..foundations.modes import standing
from ..kernels.kinds import holds
from ..kernels.meta import MetaArray
from ..ops.tables import Table, table
from ..tensors.meta.inference import infer
from ..tensors.state.base import plain
from .calls import as_tensors, handled, replaced, send
from .compositions import kept
from .core import overload
from .here import local
from .rows import call_in
from .translation import as_values


class Node:
    """A node of the graph, with the gradient that has arrived and the values that it has saved.

    `args` and `results` are those of the call that made the node.
    """

    def __init__(self, node: Any, cotangent: Any, saved: Sequence[Any], needed: list[bool], args: Sequence[Any],
                 results: Sequence[Any]) -> None:
        self.node, self.op, self.cotangent, self.saved, self.needed = node, node.op, cotangent, saved, needed
        self.args, self.results = args, results

    def value(self, name: str) -> Any:
        """An argument or a result as handlers get it: a tensor, or an option."""
        if name == "g":
            return self.g
        if name == "needed":
            return self.needed
        if name in KEPT:
            return kept(self.results[0], name)
        op = self.op
        return as_values(self.args[op.arguments.index(name)] if name in op.arguments else
                         self.results[op.outputs.index(name)])

    @property
    def g(self) -> Any:
        """The gradient that has arrived, or the first of them, as a tensor."""
        first = self.cotangent[0] if isinstance(self.cotangent, (list, tuple)) else self.cotangent
        local.here.note(first)
        return first

    def gradients(self) -> list[Any]:
        """The gradients of the operands by operators of the core."""
        found: list[Any] = [None] * len(self.needed)
        for order, name, names, arguments in rows_of(self.op):
            if not any([self.needed[i] for i in order if i < len(found)]):
                continue
            values, named = arguments(*map(self.value, names))
            results = send(overload(name), values, named, partial(self._by_rules, order=order))
            for i, g in zip(order, results if isinstance(results, tuple) else (results,)):
                if i < len(found) and self.needed[i]:
                    found[i] = g
        return found

    def tensor(self, array: Any) -> Any:
        """An array of an index as handlers get it; None for a dim without one."""
        return as_values(array)

    def call(self, name: str, *values: Any, **named: Any) -> Any:
        """The tensor that an operator of the core returns."""
        func = overload(name)
        result = handled(func, values, named)
        local.here.note(result)
        return result

    def _by_rules(self, by: dict[int, Any], order: Sequence[int]) -> Any:
        """What the rules compute, with other arrays in the places of those that `by` names."""
        cotangent = replaced([getattr(g, "_array", g) for g in (
            self.cotangent if self.op.several else [self.cotangent])], by)
        saved = replaced([getattr(v, "_array", v) for v in self.saved], by)
        steps = {index: (rule, places) for index, rule, places in self.op.steps}
        found: list[Any] = []
        without_numbers = holds([*cotangent, *saved], MetaArray)
        with standing(infer if without_numbers else _PLAIN):
            if self.op.joint:
                return self._jointly(cotangent, saved, order)
            for index in order:
                if index not in steps or not self.needed[index]:
                    found.append(None)
                    continue
                rule, places = steps[index]
                values = [self._as_tensor(saved[i], self.op.saves[i].kind) for i in places]
                g = [None if c is None else plain(c) for c in cotangent]
                found.append(self._one(index, rule(g if self.op.several else g[0], *values)))
        return found[0] if len(found) == 1 else tuple(found)

    def _jointly(self, cotangent: list[Any], saved: list[Any], order: Sequence[int]) -> Any:
        """What the one rule of all operands computes."""
        _, rule, places = self.op.steps[0]
        values = [self._as_tensor(saved[i], self.op.saves[i].kind) for i in places]
        gs = [None if c is None else plain(c) for c in cotangent]
        found = rule(gs if self.op.several else gs[0], tuple(self.needed), *values)
        return tuple([self._one(i, found[i]) if self.needed[i] else None for i in order])

    @staticmethod
    def _as_tensor(value: Any, kind: str) -> Any:
        return plain(value) if kind in ("input", "out") and value is not None else value

    def _one(self, index: int, gradient: Any) -> Any:
        edge = self.node.edges[index]
        if gradient._array.shape != edge.shape:
            gradient = gradient.sum_to_size(edge.shape)
        return as_tensors(gradient._array)


def _passed(op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    return call(*args)


_PLAIN: Any = _passed


# What operators of the core return, and those here do not.
KEPT = ("logsumexp", "memory", "norm_mean", "norm_saved", "norm_var", "total_weight")
# Rows: the operands, and the operator of the core that computes their gradients. `g` is the gradient that has arrived,
# `needed` says of each operand whether its gradient is needed, and the other names are those of the operator here.
GRADIENTS: Table[str, str] = table("A dispatch mode sees its gradients as {}", {
    "adaptive_avg_pool2d": "x: _adaptive_avg_pool2d_backward(g, x)",
    "adaptive_avg_pool3d": "x: _adaptive_avg_pool3d_backward(g, x)",
    "adaptive_max_pool2d": "x: adaptive_max_pool2d_backward(g, x, indices)",
    "adaptive_max_pool3d": "x: adaptive_max_pool3d_backward(g, x, indices)",
    "attention": ("q k v: _scaled_dot_product_flash_attention_for_cpu_backward(g, q, k, v, out, logsumexp, 0.0, "
                  "causal, attn_mask=mask, scale=scale)"),
    "avg_pool2d":
        "x: avg_pool2d_backward(g, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor)",
    "avg_pool3d":
        "x: avg_pool3d_backward(g, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor)",
    "batch_norm": ("x weight bias: native_batch_norm_backward(g, x, weight, norm_mean, norm_var, mean, rstd, True, "
                   "eps, needed)"),
    "batch_norm_by": ("x weight bias: native_batch_norm_backward(g, x, weight, norm_mean, norm_var, norm_saved[0], "
                      "norm_saved[1], False, eps, needed[:3])"),
    "binary_cross_entropy": "x: binary_cross_entropy_backward(g, x, y, weight, reduced(reduction))",
    "celu": "x: elu_backward(g, alpha, scale, input_scale, False, x)",
    "convolution": ("x weight bias: convolution_backward(g, x, weight, None if bias is None else [bias.shape[0]], "
                    "stride, padding, dilation, transposed, output_padding, groups, needed)"),
    "elu": "x: elu_backward(g, alpha, scale, input_scale, False, x)",
    "embedding": "weight: embedding_dense_backward(g, index, weight.shape[0], -1 if padding is None else padding, "
                 "by_count)",
    "gelu": "x: gelu_backward(g, x)",
    "glu": "x: glu_backward(g, x, dim)",
    "grid_sampler_2d":
        "x grid: grid_sampler_2d_backward(g, x, grid, mode, padding, align, needed)",
    "group_norm": ("x weight bias: native_group_norm_backward(g, x, mean, rstd, weight, x.shape[0], x.shape[1], "
                   "prod(x.shape[2:]), groups, needed)"),
    "hardshrink": "x: hardshrink_backward(g, x, lambd)",
    "hardsigmoid": "x: hardsigmoid_backward(g, x)",
    "hardswish": "x: hardswish_backward(g, x)",
    "hardtanh": "x: hardtanh_backward(g, x, min_val, max_val)",
    "huber_loss": "x: huber_loss_backward(g, x, y, reduced(reduction), delta); "
                  "y: huber_loss_backward(g, y, x, reduced(reduction), delta)",
    "layer_norm": ("x weight bias: native_layer_norm_backward(g, x, list(x.shape[-rank:]), mean, rstd, weight, bias, "
                   "needed)"),
    "leaky_relu": "x: leaky_relu_backward(g, x, negative_slope, False)",
    "log_sigmoid": "x: log_sigmoid_backward(g, x, memory)",
    "max_pool2d_with_indices":
        "x: max_pool2d_with_indices_backward(g, x, kernel, stride, padding, dilation, ceil_mode, indices)",
    "max_pool3d_with_indices":
        "x: max_pool3d_with_indices_backward(g, x, kernel, stride, padding, dilation, ceil_mode, indices)",
    "mish": "x: mish_backward(g, x)",
    "mse_loss": "x: mse_loss_backward(g, x, y, reduced(reduction)); y: mse_loss_backward(g, y, x, reduced(reduction))",
    "native_group_norm": ("x weight bias: native_group_norm_backward(g, x, mean, rstd, weight, x.shape[0], x.shape[1], "
                          "prod(x.shape[2:]), groups, needed)"),
    "nll_loss": "x: nll_loss_backward(g, x, target, weight, reduced(reduction), ignore_index, total_weight)",
    "nll_loss2d": "x: nll_loss2d_backward(g, x, target, weight, reduced(reduction), ignore_index, total_weight)",
    "prelu": "x weight: _prelu_kernel_backward(g, x, weight)",
    **{f"{kind}_pad{n}d": f"x: {kind}_pad{n}d_backward(g, x, pad)" for kind in ("reflection", "replication")
       for n in (1, 2, 3)},
    "silu": "x: silu_backward(g, x)",
    "smooth_l1_loss": "x: smooth_l1_loss_backward(g, x, y, reduced(reduction), beta); "
                      "y: smooth_l1_loss_backward(g, y, x, reduced(reduction), beta)",
    "soft_margin_loss": "x: soft_margin_loss_backward(g, x, y, reduced(reduction))",
    "softplus": "x: softplus_backward(g, x, beta, threshold)",
    "softshrink": "x: softshrink_backward(g, x, lambd)",
    "threshold": "x: threshold_backward(g, x, threshold)",
}, because="a mode sees operators of all families, and need not import those that a program has not")


@cache
def rows_of(op: Any) -> list[tuple[tuple[int, ...], str, list[str], Callable[..., Any]]]:
    """The rows of an operator: the operands, the name of the core, the names of values, and the arguments of them."""
    found = []
    for text in GRADIENTS[op.name].split("; "):
        operands, _, call = text.partition(": ")
        name, names, arguments = call_in(call, ("g", "needed", *KEPT, *op.arguments, *op.outputs))
        found.append((tuple([op.arguments.index(each) for each in operands.split()]), name, names, arguments))
    return found
