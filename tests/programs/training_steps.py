"""Random training steps, as programs have them: metrics, counters, schedules, clipping, averages, early stopping.

Each step is run as it is and compiled, and must leave the same model, the same numbers and the same types. `Trained`
says whether the step stayed compiled, and if not, why.
"""

from __future__ import annotations

import contextlib
import io
import math
import random
import warnings
from typing import Any

from programs.number_programs import alike, shown

MODELS = (
    "nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))",
    "nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))",
    "nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.3), nn.GELU(), nn.Linear(6, 3))",
    "nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 3))")
OPTIMIZERS = (
    "torch.optim.SGD(model.parameters(), lr=0.1)", "torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)",
    "torch.optim.Adam(model.parameters(), lr=0.01)", "torch.optim.AdamW(model.parameters(), lr=0.01)",
    "torch.optim.RMSprop(model.parameters(), lr=0.01)")
# What may stand before the backward pass, after it, after the step of the optimizer, and at the end. `weight` says how
# often: the parts that look at numbers are as frequent as they are in training programs.
LOSS = (
    (6, "loss = F.cross_entropy(model(x), y)"), (2, "loss = F.mse_loss(model(x), F.one_hot(y, 3).float())"),
    (1, "out = model(x); loss = F.nll_loss(out.log_softmax(-1), y)"),
    (1, "loss = F.cross_entropy(model(x), y, label_smoothing=0.1)"))
EXTRA = (
    (14, ""), (1, "loss = loss + 1e-3 * sum(p.square().sum() for p in model.parameters())"),
    (1, "if not torch.isfinite(loss): return None"), (1, "loss = loss * (0.5 if s.steps > 3 else 1.0)"),
    (1, "loss = loss / ACCUMULATE"), (1, "assert not torch.isnan(loss)"))
BACKWARD = ((9, "loss.backward()"), (1, "scaler.scale(loss).backward()"))
CLIP = (
    (6, ""), (3, "norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    (1, "nn.utils.clip_grad_value_(model.parameters(), 0.5)"),
    (1, "s.norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())"),
    (1, "norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)"),
    (1, "norm = sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5; s.last_norm = norm.item()"))
STEP = (
    (8, "optimizer.step(); optimizer.zero_grad()"),
    (2, "s.micro += 1\nif s.micro % 2 == 0:\n    optimizer.step()\n    optimizer.zero_grad()"),
    (1, "for group in optimizer.param_groups: group['lr'] = 0.1 / (1 + s.steps)\noptimizer.step(); "
        "optimizer.zero_grad()"))
AFTER = (
    (2, "scheduler.step()"), (3, "s.steps += 1"), (2, "s.seen += x.shape[0]"),
    (2, "with torch.no_grad():\n    for e, p in zip(ema.parameters(), model.parameters()): e.lerp_(p, 0.1)"),
    (1, "averaged.update_parameters(model)"), (1, "plateau.step(loss.item())"), (2, "s.losses.append(loss.item())"),
    (1, "s.history['loss'].append(loss.detach())"), (2, "s.total += loss.item()"),
    (1, "s.meter.update(loss.item(), 8)"), (1, "s.running = 0.9 * s.running + 0.1 * loss.item()"),
    (1, "s.epoch_loss += loss.item() * x.size(0)"),
    (1, "with torch.no_grad():\n    s.correct += (model(x).argmax(1) == y).sum().item(); s.seen += len(y)"),
    (1, "if loss.item() < s.best:\n    s.best = loss.item(); s.bad = 0\nelse:\n    s.bad += 1"),
    (1, "s.best = min(s.best, loss.item())"), (1, "if s.steps % 3 == 0:\n    s.log.append((s.steps, loss.item()))"),
    (1, "if s.steps % 5 == 0:\n    print(f'step {s.steps} loss {loss.item():.4f}')"),
    (1, "s.metrics['loss'] = loss.item()"),
    (1, "s.ema_loss = loss.item() if s.ema_loss is None else 0.9 * s.ema_loss + 0.1 * loss.item()"),
    (1, "s.lrs.append(optimizer.param_groups[0]['lr'])"), (1, "s.window.append(loss.item())"),
    (1, "s.smooth.mul_(0.9).add_(loss.detach(), alpha=0.1)"), (1, "s.counts[y] += 1"),
    (1, "s.logs.append(f'{loss.item():.3f}')"), (1, "s.perplexity = math.exp(min(loss.item(), 20))"))
RETURN = (
    (4, "loss.item()"), (3, "loss.detach()"), (2, "{'loss': loss.item(), 'step': s.steps}"), (1, "float(loss)"),
    (1, "loss"), (1, "(loss.item(), s.total / max(s.steps, 1))"), (1, "None"), (1, "round(loss.item(), 4)"),
    (1, "loss.detach().cpu().numpy()"), (1, "{'loss': loss.detach(), 'lr': optimizer.param_groups[0]['lr']}"))
HEAD = """
class Meter:
    def __init__(self):
        self.sum, self.count, self.avg = 0.0, 0, 0.0
    def update(self, value, n=1):
        self.sum += value * n
        self.count += n
        self.avg = self.sum / self.count

class State:
    def __init__(self):
        self.steps = self.seen = self.micro = self.bad = self.correct = 0
        self.total = self.running = self.epoch_loss = 0.0
        self.best, self.ema_loss, self.last_norm, self.perplexity = float("inf"), None, 0.0, 0.0
        self.losses, self.norms, self.log, self.logs, self.lrs = [], [], [], [], []
        self.history, self.metrics, self.meter = {"loss": [], "acc": []}, {"loss": 0.0, "acc": 0.0}, Meter()
        self.window, self.smooth, self.counts = deque(maxlen=4), torch.zeros(()), torch.zeros(3, dtype=torch.int64)

ACCUMULATE = 2
s = State()
torch.manual_seed(0)
"""


def _pick(r: random.Random, parts: Any) -> str:
    return str(r.choices([part for _, part in parts], [weight for weight, _ in parts])[0])


def program(seed: int) -> str:
    """The source of a training program with a function `step(x, y)`."""
    r = random.Random(seed)
    body = [_pick(r, LOSS), _pick(r, EXTRA), _pick(r, BACKWARD)]
    scaled = "scaler" in body[-1]
    clip, step = _pick(r, CLIP), _pick(r, STEP)
    body += ["scaler.unscale_(optimizer)" if scaled and clip else "", clip]
    body.append("scaler.step(optimizer); scaler.update(); optimizer.zero_grad()" if scaled else step)
    for _ in range(r.choice((0, 1, 1, 2, 3))):
        body.append(_pick(r, AFTER))
    body.append(f"return {_pick(r, RETURN)}")
    head = [HEAD, f"model = {r.choice(MODELS)}", f"optimizer = {r.choice(OPTIMIZERS)}"]
    text = "\n".join(body)
    for name, made in (("scheduler", "torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)"),
                       ("ema", "copy.deepcopy(model)"), ("averaged", "torch.optim.swa_utils.AveragedModel(model)"),
                       ("plateau", "torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)"),
                       ("scaler", "torch.amp.GradScaler('cpu', init_scale=8.0)")):
        if name in text:
            head.append(f"{name} = {made}")
    lines = [f"    {line}" for part in body for line in part.split("\n") if line]
    return "\n".join([*head, "def step(x, y):", *lines, ""])


class Trained:
    """What a comparison found: the `difference`, "" if there is none, and `reason`, why the step runs as it is."""

    def __init__(self, torch: Any, seed: int, backend: str, calls: int = 12) -> None:
        self.source, self.reason = program(seed), ""
        found = [self._run(torch, backend if compiled else None, calls) for compiled in (False, True)]
        self.difference = "" if alike(*found, exact=False) else f"{found[0]}\n{found[1]}"

    def _run(self, torch: Any, backend: str | None, calls: int) -> Any:
        import copy
        from collections import deque
        scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "copy": copy, "deque": deque, "math": math,
                 "__name__": "random_training"}
        out = io.StringIO()
        with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(out):
            warnings.simplefilter("always")
            exec(compile(self.source, "<training>", "exec"), scope)
            step, results = scope["step"], []
            if backend is not None:
                step = torch.compile(step, backend=backend)
            for call in range(calls):
                torch.manual_seed(call)
                x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
                result = step(x, y)
                results.append(shown(_detached(result), {}))
        self.reason = next((str(each.message) for each in said if "runs step as it is" in str(each.message)), "")
        state = vars(scope["s"])
        return [results, out.getvalue(), shown(state, {}), shown([p.detach() for p in scope["model"].parameters()], {})]


def _detached(result: Any) -> Any:
    return result.detach() if hasattr(result, "detach") else result
