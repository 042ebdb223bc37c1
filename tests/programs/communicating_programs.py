"""Random programs that communicate, to be run compiled and as they are, in one process or in several.

They are the programs of `compiled_programs` with operations of `torch.distributed` among their statements. All
processes make the same programs from a seed, and each compares what it sees.
"""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

from programs.compiled_programs import HEAD, Author, World, different, leaves

_START = HEAD + """
from programs.communicating_programs import group_of

__name__ = "program"
dist, over = torch.distributed, torch.distributed.nn
rank, size = dist.get_rank(), dist.get_world_size()
first, Op = group_of(torch, [0]), dist.ReduceOp
works, log = [], []
torch.manual_seed(2)
ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh()))
normed = torch.nn.SyncBatchNorm(3)
served = torch.nn.Linear(3, 3)             # no program has views of these, which only the owner's step would make stale
zero = dist.optim.ZeroRedundancyOptimizer(served.parameters(), torch.optim.SGD, lr=0.1, momentum=0.5)


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


class Reduced(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        work = dist.all_reduce(x, async_op=True)
        work.wait()
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


def hook(g):
    g = g * (rank + 1)
    dist.all_reduce(g, Op.MAX)
    return g


def after(p):
    dist.all_reduce(p.grad)


def parts(x, count=size):
    return [x.detach() * (i + rank) for i in range(count)]


def room(x):
    return torch.zeros(size, *x.shape, dtype=x.dtype)


def passed(x, together=False):
    x, y = x.detach().contiguous(), torch.zeros(x.shape, dtype=x.dtype)
    if size == 1:
        return y
    messages = [(dist.isend, x, (rank + 1) % size), (dist.irecv, y, (rank - 1) % size)]
    if together:
        found = dist.batch_isend_irecv([dist.P2POp(*message) for message in messages])
    else:
        found = [send(tensor, peer) for send, tensor, peer in messages]
    for work in found:
        work.wait()
    return y


def sent(x):
    x = x.detach().clone(memory_format=torch.contiguous_format)
    if size > 1 and rank == 0:
        dist.send(x, 1)
    elif rank == 1:
        x = x * 0
        log.append(dist.recv(x, 0))
    return x


def objects(thing):
    if size > 1 and rank == 0:
        dist.send_object_list([thing, "text"], 1)
    elif rank == 1:
        found = [None, None]
        dist.recv_object_list(found, 0)
        log.append(found)


def summed_if_large(x):
    if x.shape[0] > 2:
        x = x.detach() + rank
        dist.all_reduce(x)
    return x * x.shape[0]
"""
# The program has no tensor of an operation that has not ended, since it might write to the tensor.
_COPY = "{v} = {x}.detach() * (rank + 1); "
_MESSAGES = (
    "dist.all_reduce({x})", "dist.all_reduce({x}, Op.MAX)", "dist.all_reduce({x}.data, Op.MIN)",
    _COPY + "dist.all_reduce({v})", _COPY + "dist.all_reduce({v}, Op.AVG)", _COPY + "dist.all_reduce({v}[::2])",
    _COPY + "dist.all_reduce({v}.t(), Op.PRODUCT)", _COPY + "dist.all_reduce({v}, group=first)",
    _COPY + "dist.all_reduce_coalesced([{v}, {x}.data])", _COPY + "dist.all_reduce({p}.grad)",
    _COPY + "{v}.work = dist.all_reduce({v}, async_op=True); {v}.work.wait()",
    "works.append(dist.all_reduce({x}.detach() * rank, async_op=True))",
    "box['w'] = dist.all_reduce({x}.detach() * rank, async_op=True)",
    "works.append(dist.broadcast({x}.detach() * rank, 0, async_op=True))",
    "[work.wait() for work in works]; works.clear()",
    "log.append([work.is_completed() for work in works if work.wait()])", "box['w'].wait(); del box['w']",
    _COPY + "{v} = dist.all_reduce({v}, async_op=True).get_future().then(lambda f: f.value()[0] * 2).wait()",
    "dist.broadcast({x}, 0)", _COPY + "dist.broadcast({v}, size - 1)", _COPY + "dist.broadcast({v}[..., 1:], 0)",
    _COPY + "dist.reduce({v}, 0)", "{v} = room({x}); dist.all_gather([*{v}], {x}.detach())",
    "works.append(dist.all_gather([*room({x})], {x}.detach() * rank, async_op=True))",
    "{v} = room({x}); dist.all_gather_single({v}, {x}.detach())",
    "{v} = room({x}); dist.gather({x}.detach(), [*{v}] if rank == 0 else None, 0)",
    _COPY + "dist.scatter({v}, parts({x}) if rank == 0 else None, 0)", _COPY + "dist.reduce_scatter({v}, parts({x}))",
    _COPY + "dist.reduce_scatter_single({v}, torch.cat(parts({x})))",
    "{v} = room({x}); dist.all_to_all([*{v}], parts({x}))",
    "{v} = torch.cat(parts({x})); dist.all_to_all_single({v}, {v} * 2)", "dist.barrier()", "dist.monitored_barrier()",
    "works.append(dist.barrier(async_op=True))",
    "log.append([None] * size); dist.all_gather_object(log[-1], [rank, 'a', {x}.detach()])",
    "box['o'] = [None] * size; dist.all_gather_object(box['o'], {{'n': {x}.shape[-1], 'r': rank}})",
    "box['o'] = [rank, {x}.detach()]; dist.broadcast_object_list(box['o'], size - 1)",
    "box['o'] = [None]; dist.scatter_object_list(box['o'], [*range(size)] if rank == 0 else None, 0)",
    "box['o'] = [None] * size if rank == 0 else None; dist.gather_object(len(log), box['o'], 0)",
    "{v} = passed({x})", "{v} = passed({x}, True)", "{v} = sent({x})", "objects({x}.detach())",
    "objects([{x}.shape[0]])",
    "{v} = over.all_reduce({x})", "{v} = over.broadcast({x}, 0)", "{v} = sum(over.all_gather({x}))",
    "{v} = over.reduce({x}, 0)", "{v} = over.scatter([{x} * i for i in range(size)], 0)",
    "{v} = torch.stack(over.gather({x}, 0)).sum(0)", "{v} = over.reduce_scatter(torch.zeros_like({x}), [{x}] * size)",
    "{v} = Summed.apply({x})", "{v} = Summed.apply({x}); {v}.sum().backward()", "{v} = Reduced.apply({x})",
    "{x}.register_hook(hook)", "{p}.register_hook(hook)", "{p}.register_post_accumulate_grad_hook(after)",
    "{v} = ddp({x})", "ddp({x}.detach()).sum().backward()", "(ddp({x}) * ddp({y})).mean().backward()",
    "{v} = normed({x})", "normed({x}).square().sum().backward()", "zero.step()", "zero.zero_grad()",
    "{v} = served({x})", "served({x}).square().sum().backward(); zero.step()",
    "{v} = summed_if_large({x})", "{v} = {x} * (dist.get_rank() + dist.get_world_size())",
    "{v} = {x} + dist.is_initialized() + len(dist.get_process_group_ranks(None))",
    "torch.manual_seed(rank); {v} = torch.rand(3); dist.all_reduce({v})", "{v} = torch.rand(3); dist.all_reduce({v})",
    "{v} = torch.rand(3) * {x}.sum(); dist.broadcast({v}.detach(), 0)")
_groups: dict[tuple[int, ...], Any] = {}


def group_of(torch: Any, ranks: list[int]) -> Any:
    """A group of these processes, which is made once."""
    key = (id(torch.distributed.group.WORLD), *ranks)
    if key not in _groups:
        _groups[key] = torch.distributed.new_group(ranks)
    return _groups[key]


class Communicator(Author):
    """Writes programs that communicate."""

    start = _START
    own = ((_MESSAGES, 4),)

    def runs(self, text: str) -> bool:
        """Run a statement. Returns whether it raises no error in any process."""
        found = self.torch.tensor(float(super().runs(text)))
        self.torch.distributed.all_reduce(found, self.torch.distributed.ReduceOp.MIN)
        return bool(found.item())


class Connected(World):
    """A program that communicates. What it has begun ends after each call."""

    def seen(self, given: dict[str, Any], result: Any) -> dict[str, Any]:
        """All that can be seen after a call."""
        space, log = self.space, self.space["log"]
        works, box = space["works"], space["box"]
        ends = [ended(work) for work in (*works, box.pop("w", None))]
        works.clear()
        own = copied([[p, p.grad] for name in ("ddp", "normed", "served") for p in space[name].parameters()])
        state = copied([*space["zero"].optim.state.values()])
        return {**super().seen(given, result), "works": ends, "own": own, "zero": state, "log": copied(log)}


def copied(value: Any) -> list[Any]:
    """The parts of a value, and the numbers of the tensors among them."""
    return [leaf._array.copy() if hasattr(leaf, "_array") else leaf for leaf in leaves(value)]


def ended(work: Any) -> Any:
    """The tensors that an operation has written when it ends, or its error."""
    try:
        return work and work.wait() and copied(work.result())
    except ValueError as error:                            # of memory that nobody may write
        return str(error)


# What changes between two calls.
CHANGES = (
    "optimizer.param_groups[0]['lr'] = 0.05", "zero.param_groups[0]['lr'] = 0.2", "model.eval()", "normed.eval()",
    "q.data.mul_(2)", "p.grad = None", "q.requires_grad_(False)", "box.clear()", "del log[:]", "ddp.zero_grad()",
    "s.add_(1)", "torch.manual_seed(5)", "normed.momentum = 0.5", "log.append(rank)", "ddp.eval()")
# Arguments of several sizes, and the sizes of each call.
SIZED, SIZES = ("normal(n, 3)", "normal(3, 3)", "normal(n, 3)", "normal(3)"), (4, 5, 7, 9)


def checked(torch: Any, seed: int, backend: str) -> tuple[Author, str, Any]:
    """Make the program of a seed, run it as it is and compiled, and compare: the program, the difference, the reason.

    Something changes before each call, also the sizes of the arguments in one of four programs.
    """
    author = Communicator(torch, seed, backend == "llvm", SIZED if seed % 4 == 1 else ())
    return author, *compared(torch, author, author.lines, seed, backend)


def compared(torch: Any, author: Author, lines: list[str], seed: int, backend: str) -> tuple[str, Any]:
    """Run the lines as they are and compiled. Returns the difference, and the reason why nothing was compiled."""
    near = 1e4 if backend == "llvm" or author.large else 0
    worlds = [Connected(torch, author.head, lines, author.specs, change) for change in (
        lambda function: function, lambda function: torch.compile(function, backend=backend))]
    found, draw = "", random.Random(seed)
    for number, size in enumerate(SIZES):
        change = draw.choice(CHANGES) if number and draw.random() < 0.7 else ""
        for world in worlds:
            with suppress(RuntimeError):                   # of a tensor that the program has made a leaf, or no leaf
                exec(change, world.space)
        seen = [world.call(number, (size, 6)) for world in worlds]
        found = found or different(*seen, near, f"call {number}")
        if seed % 3:
            seen = [world.backward(number) for world in worlds]
            found = found or different(*seen, near or 16, f"backward {number}")
    made = worlds[1].function.__closure__
    run = next(cell.cell_contents for cell in made if hasattr(cell.cell_contents, "run")).run
    return found, getattr(run, "reason", None)
