"""L-BFGS: quasi-Newton steps from the last changes of the gradient (Nocedal and Wright, chapters 3 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..autograd.grad_mode import enable_grad, no_grad
from ..foundations.names import missing
from ..tensors.functions.elementwise.elementary import view_as_real
from ..tensors.functions.shapes.joining import cat
from ..tensors.tensor import Tensor
from .formula import ADD_TAKES_NUMBERS, is_learned, parts
from .optimizer import Optimizer
from .saved_numbers import as_float
from .stepping import check_learning_rate

__all__ = ["LBFGS"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class LBFGS(Optimizer):
    """Minimizes a function by L-BFGS. A step needs a closure, which computes the loss and its gradients again.

    - `max_iter`, `max_eval`: the most iterations and evaluations of one step; by default `max_eval` is 1.25 `max_iter`.
    - `tolerance_grad`, `tolerance_change`: a step ends when the largest gradient, or the last change, is not larger.
    - `history_size`: how many changes are kept.
    - `line_search_fn`: "strong_wolfe", or None for steps of length `lr`.

    Raises ValueError for a negative learning rate and for several groups of parameters.

    >>> import retrograd as torch
    >>> w = torch.nn.Parameter(torch.tensor([3., -2.]))
    >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(13., grad_fn=<SumBackward0>)
    >>> w
    Parameter containing:
    tensor([1.0000, 1.0000], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: Any = 1, max_iter: int = 20, max_eval: int | None = None,
                 tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
                 line_search_fn: str | None = None) -> None:
        check_learning_rate(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Iterate until a limit is reached. Returns the loss before the first iteration."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        with no_grad():
            return self._minimize(enable_grad()(closure))

    def _minimize(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evaluations = float(first_loss), 1
        state["func_evals"] += 1
        g = self._gathered()
        if g.abs().max() <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            step, rate = self._direction(g, state, group)
            state["prev_loss"], state["d"], state["t"] = loss, step, rate
            slope = g.dot(step)
            if slope > -group["tolerance_change"]:
                break
            last = iteration == group["max_iter"]
            found = self._advance(closure, state, group, _Point(rate, loss, g, slope), evaluations, last)
            before, loss, g = loss, found.loss, found.gradient
            evaluations += found.evaluations
            state["func_evals"] += found.evaluations
            small = group["tolerance_change"]
            if (last or evaluations >= group["max_eval"] or g.abs().max() <= group["tolerance_grad"]
                    or step.mul(state["t"]).abs().max() <= small or abs(loss - before) < small):
                break
        return first_loss

    def _direction(self, g: Any, state: dict[str, Any], group: dict[str, Any]) -> tuple[Any, Any]:
        """The direction of the next step, and the length to begin with. Also keeps the last change."""
        lr = as_float(group["lr"])
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1, prev_flat_grad=g.clone())
            return g.neg(), min(1.0, 1.0 / g.abs().sum()) * lr
        change, step = g.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        kept = state["old_dirs"], state["old_stps"], state["ro"]
        curvature = change.dot(step)
        if curvature > 1e-10:
            for values, new in zip(kept, (change, step, 1.0 / curvature), strict=True):
                if len(values) == group["history_size"]:
                    values.pop(0)
                values.append(new)
            state["H_diag"] = curvature / change.dot(change)
        state["prev_flat_grad"].copy_(g)
        weights = state.setdefault("al", [None] * group["history_size"])
        direction = g.neg()
        history = list(enumerate(zip(*kept, strict=True)))
        for i, (change, step, scale) in reversed(history):
            weights[i] = step.dot(direction) * scale
            direction.add_(change, alpha=-weights[i])
        direction = direction.mul(state["H_diag"])
        for i, (change, step, scale) in history:
            direction.add_(step, alpha=weights[i] - change.dot(direction) * scale)
        return direction, lr

    def _advance(self, closure: Callable[[], Any], state: dict[str, Any], group: dict[str, Any], start: _Point,
                 evaluations: int, last: bool) -> _Found:
        """Change the parameters by a step. Returns the loss and the gradient there, and how often they were evaluated.

        After the last iteration without a line search nothing is evaluated.
        """
        step = state["d"]
        if is_learned(group["lr"]):
            raise TypeError(ADD_TAKES_NUMBERS)
        if group["line_search_fn"] is None:
            self._add(start.t, step)
            if last:
                return _Found(start.loss, start.gradient, 0)
            return _Found(float(closure()), self._gathered(), 1)
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        held = [p.clone() for p in self._params]

        def evaluate(t: Any) -> _Point:
            self._add(t, step)
            loss, g = float(closure()), self._gathered()
            for p, value in zip(self._params, held, strict=True):
                p.copy_(value)
            return _Point(t, loss, g, g.dot(step))

        end, count = _searched(evaluate, start, step.abs().max(), group["max_eval"] - evaluations)
        state["t"] = end.t
        self._add(end.t, step)
        return _Found(end.loss, end.gradient, count)

    def _gathered(self) -> Any:
        """The gradients of all parameters as one vector. Absent gradients are zeros."""
        gradients = [p.new_zeros(p.numel()) if p.grad is None else p.grad.to_dense().reshape(-1)
                     for p in self._params]
        return cat([view_as_real(g).reshape(-1) if g.is_complex() else g for g in gradients], 0)

    def _add(self, t: Any, step: Any) -> None:
        """Add a multiple of a vector to the parameters."""
        offset = 0
        for p in parts(*self._params):
            p.add_(step[offset:offset + p.numel()].view(p.shape), alpha=t)
            offset += p.numel()


class _Point(NamedTuple):
    """A length of a step, and the loss, the gradient, and the slope along the step there."""

    t: Any
    loss: Any
    gradient: Any
    slope: Any


class _Found(NamedTuple):
    """The result of a step: the loss and the gradient, and how often they were evaluated."""

    loss: float
    gradient: Any
    evaluations: int


class _Rules(NamedTuple):
    """The constants of the strong Wolfe conditions: a sufficient decrease, and a sufficient loss of slope.

    A bracket that moves the parameters by less than `least_change` is not searched.
    """

    decrease: float = 1e-4
    curvature: float = 0.9
    least_change: float = 1e-9


_RULES = _Rules()


def _searched(evaluate: Callable[[Any], _Point], start: _Point, largest: Tensor, most: int,
              rules: _Rules = _RULES) -> tuple[_Point, int]:
    """A point with the strong Wolfe conditions, or the best found, and how often the function was evaluated.

    `start` is the length to begin with, and the loss, gradient and slope before the step; `largest` the largest element
    of the step's direction. At most about `most` points are tried.
    """
    origin = start._replace(t=0)
    before, new, tries = origin, evaluate(start.t), 0
    bracket: list[_Point] = []
    while tries < most:
        too_high = new.loss > origin.loss + rules.decrease * new.t * origin.slope
        if too_high or (tries > 1 and new.loss >= before.loss):
            bracket = [before, new]
        elif abs(new.slope) <= -rules.curvature * origin.slope:
            return new, tries + 1
        elif new.slope >= 0:
            bracket = [before, new]
        if bracket:
            break
        limits = new.t + 0.01 * (new.t - before.t), new.t * 10
        before, new = new, evaluate(_cubic_minimum(before, new, limits))
        tries += 1
    return _zoom(evaluate, origin, bracket or [origin, new], largest, most, tries, rules)


def _zoom(evaluate: Callable[[Any], _Point], origin: _Point, bracket: list[_Point], largest: Tensor, most: int,
          tries: int, rules: _Rules) -> tuple[_Point, int]:
    """Narrow a bracket until its lower end has the strong Wolfe conditions."""
    low, high = _ends(bracket)
    stuck = False
    while tries < most and not abs(bracket[1].t - bracket[0].t) * largest < rules.least_change:
        left, right = sorted((bracket[0].t, bracket[1].t))
        t, margin = _cubic_minimum(bracket[0], bracket[1]), 0.1 * (right - left)
        if min(right - t, t - left) >= margin:
            stuck = False
        elif stuck or t >= right or t <= left:               # too near to an end again: go away from the end
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            stuck = False
        else:
            stuck = True
        new = evaluate(t)
        tries += 1
        if new.loss > origin.loss + rules.decrease * t * origin.slope or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = _ends(bracket)
            continue
        done = abs(new.slope) <= -rules.curvature * origin.slope
        if not done and new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if done:
            break
    return bracket[low], tries + 1


def _ends(bracket: list[_Point]) -> tuple[int, int]:
    """The places of the end with the lower loss and of the other end."""
    return (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)


def _cubic_minimum(a: _Point, b: _Point, limits: tuple[Any, Any] | None = None) -> Any:
    """The minimum of the cubic through two points with their slopes, within limits: by default between the points."""
    lower, upper = limits or sorted((a.t, b.t))
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = bend ** 2 - a.slope * b.slope
    if not square >= 0:
        return (lower + upper) / 2.0
    root = square.sqrt()
    left, right = (a, b) if a.t <= b.t else (b, a)
    t = right.t - (right.t - left.t) * ((right.slope + root - bend) / (right.slope - left.slope + 2 * root))
    return min(max(t, lower), upper)


# Under PyTorch's names, for packages that search along lines by themselves


def _strong_wolfe(obj_func: Callable[..., tuple[Any, Any]], x: Tensor, t: Any, d: Tensor, f: Any, g: Tensor,
                  gtd: Tensor, c1: float = 1e-4, c2: float = 0.9, tolerance_change: float = 1e-9,
                  max_ls: int = 25) -> tuple[Any, Any, Any, int]:
    """The loss, the gradient and the length of a step with the strong Wolfe conditions, and the number of evaluations.

    `obj_func(x, t, d)` returns the loss and the gradient at x + t * d; `f`, `g` and `gtd` are the loss, the gradient
    and the slope at x.
    """

    def evaluate(length: Any) -> _Point:
        loss, gradient = obj_func(x, length, d)
        return _Point(length, loss, gradient, gradient.dot(d))

    end, count = _searched(evaluate, _Point(t, f, g, gtd), d.abs().max(), max_ls, _Rules(c1, c2, tolerance_change))
    return end.loss, end.gradient, end.t, count


def _cubic_interpolate(x1: Any, f1: Any, g1: Tensor, x2: Any, f2: Any, g2: Tensor,
                       bounds: tuple[Any, Any] | None = None) -> Any:
    """The minimum of the cubic through two points with losses and slopes, within bounds."""
    return _cubic_minimum(_Point(x1, f1, None, g1), _Point(x2, f2, None, g2), bounds)
