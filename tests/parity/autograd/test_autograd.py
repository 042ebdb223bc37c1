"""Programs about gradients and where they accumulate say the same with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "accumulation": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (x * 3).sum().backward()
        first = x.grad
        print(first, first.requires_grad)
        (x * 3).sum().backward()
        print(x.grad is first, x.grad, first._version)
        x.grad = None
        seed = torch.tensor([1.0, 10.0])
        x.backward(seed)
        seed.zero_()
        print(x.grad)
        x.grad = torch.zeros(2)
        x.expand(3, 2).sum().backward()
        print(x.grad, x.grad.stride())
        half = torch.ones(2, dtype=torch.half, requires_grad=True)
        (half.float() * 2).sum().backward()
        print(half.grad)
        (first,) = torch.autograd.grad((x * x).sum(), x)
        print(first, x.grad)
    """,
    "layout of a gradient": """
        for p in (
            torch.ones(3, 2).t(),
            torch.ones(6)[::2],
            torch.ones(2, 3, 4).permute(2, 0, 1),
            torch.ones(2, 1).expand(2, 3),
        ):
            p.requires_grad_()
            (p * 2).sum().backward()
            print(p.grad.stride())
            p.grad = None
            (p * torch.ones(p.shape)).sum().backward()
            print(p.grad.stride())
    """,
    "nodes of second derivatives": """
        x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
        for function in (torch.tanh, torch.sigmoid, torch.relu):
            (first,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
            (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
            (third,) = torch.autograd.grad(second.sum(), x, allow_unused=True)
            node = first.grad_fn
            print(node.name(), [edge[0] and edge[0].name() for edge in node.next_functions], second, third)
        z = torch.tensor([0.5 + 0.3j, -1.0 + 0.1j], requires_grad=True)
        for function in (torch.tanh, torch.sigmoid):
            weight = torch.tensor([1 + 2j, 3 - 1j])
            (first,) = torch.autograd.grad((function(z) * weight).sum().abs(), z, create_graph=True)
            print(first.detach(), torch.autograd.grad(first.abs().sum(), z)[0])
    """,
    "create_graph": """
        import warnings
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (x * x).sum().backward(create_graph=True)
            first = x.grad
            print(first)
            (x * x).sum().backward()
            print(x.grad is first, x.grad)
            (x * x).sum().backward(create_graph=True)
            print(x.grad is first, x.grad)
            x.grad = None
            x.sum().backward(create_graph=True)
            print(x.grad)
        y = x**3
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        print(first)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        print(second)
        (third,) = torch.autograd.grad(second.sum(), x)
        print(third)
        (product,) = torch.autograd.grad(x * x, x, torch.ones(2, requires_grad=True), create_graph=True)
        print(product)
    """,
    "order of accumulation": """
        def order(f):
            leaves = [torch.ones(2, requires_grad=True) for _ in "abc"]
            seen = []
            for name, leaf in zip("abc", leaves):
                leaf.register_post_accumulate_grad_hook(lambda leaf, name=name: seen.append(name))
                leaf.register_hook(lambda grad, name=name: seen.append("hook of " + name))
            f(*leaves).sum().backward()
            print(seen)
        order(lambda a, b, c: a * b * c)
        order(lambda a, b, c: a * b + c)
        order(lambda a, b, c: a + (b + c))
        order(lambda a, b, c: (a * b).exp() * (c + a))
        order(lambda a, b, c: c + b * (a * b))
        order(lambda a, b, c: torch.stack([c, b, a]))
        order(lambda a, b, c: a + b + c + a + b + c)
        order(lambda a, b, c: b)
        order(lambda a, b, c: torch.cat([a * 2, b, c * 3]) * torch.cat([c, b, a]))
    """,
    "a second pass fails only where something was saved": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        def twice(f):
            y = f(x).sum()
            y.backward()
            y.backward()
            return "done"
        for f in (
            lambda x: x + x,
            lambda x: x * 2,
            lambda x: x * x,
            lambda x: x - 3,
            lambda x: x.exp(),
            lambda x: -x,
            lambda x: x.view(2, 1),
            lambda x: x[0],
            lambda x: x.sum(0),
            lambda x: x / 2,
            lambda x: 2 / x,
            lambda x: x.abs(),
            lambda x: x**2,
            lambda x: x.clone(),
            lambda x: x.double(),
            lambda x: torch.cat([x, x]),
            lambda x: x.mean(),
            lambda x: x.prod(),
            lambda x: x.max(),
            lambda x: x.max(0)[0],
            lambda x: x.expand(3, 2),
            lambda x: x.relu(),
            lambda x: x.clamp(0, 1),
            lambda x: x.unbind()[0],
            lambda x: x.cumsum(0),
            lambda x: x @ x,
            lambda x: x.sqrt(),
            lambda x: x.softmax(0),
            lambda x: x.norm(),
            lambda x: x * torch.ones(2),
            lambda x: torch.ones(2) / x,
            lambda x: torch.where(x > 0, x, x),
        ):
            attempt(lambda: twice(f))
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()
        attempt(y.backward)
        y = (x * x).sum()
        torch.autograd.grad(y, x, create_graph=True)
        y.backward()
        attempt(y.backward)
    """,
    "inputs": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.ones(2, requires_grad=True)
        def fresh():
            x.grad = None
            y = x * w
            return y, (y * y).sum()
        y, z = fresh()
        z.backward(inputs=[y])
        print(x.grad, y.grad, w.grad, y.retains_grad)
        y, z = fresh()
        z.backward(inputs=x)
        print(x.grad, w.grad)
        y, z = fresh()
        torch.autograd.backward(z, inputs=(x, y))
        print(x.grad, y.grad, w.grad)
        y, z = fresh()
        print(torch.autograd.grad(z, [x, y, x]))
        y, z = fresh()
        print(torch.autograd.grad(z, w, retain_graph=True), torch.autograd.grad([z, y.sum()], [y, w]))
        y, z = fresh()
        z.backward(inputs=[torch.ones(2, requires_grad=True)])
        print(x.grad)
        y, z = fresh()
        attempt(lambda: z.backward(inputs=[]))
        attempt(lambda: torch.autograd.backward(z, inputs=[]))
        attempt(lambda: z.backward(inputs=[torch.ones(2)]))
        attempt(lambda: z.backward(inputs=[3]))
        attempt(lambda: z.backward(inputs=3))
        attempt(lambda: torch.autograd.grad(z, []))
        attempt(lambda: torch.autograd.grad(z, 3))
        attempt(lambda: torch.autograd.grad(z, [x, None]))
        attempt(lambda: torch.autograd.grad(z, torch.ones(2)))
    """,
    "unused inputs": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        unused = torch.ones(3, requires_grad=True)
        grad, total = torch.autograd.grad, lambda: (x * x).sum()
        attempt(lambda: grad(total(), [x, unused]))
        attempt(lambda: grad([], x))
        print(grad(total(), [x, unused], allow_unused=True), grad(total(), [x, unused], materialize_grads=True))
        attempt(lambda: grad(total(), unused, allow_unused=False, materialize_grads=True))
        attempt(lambda: grad(total(), [x], only_inputs=False))
    """,
    "cotangents": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        grad, one, two = torch.autograd.grad, torch.ones(()), torch.ones(2)
        attempt(lambda: grad(x * x, x))
        attempt(lambda: grad(x * x, x, two))
        attempt(lambda: grad(x * x, x, [two]))
        attempt(lambda: grad((x.sum(), x * x), x, [None, two]))
        attempt(lambda: grad((x.sum(), x * x), x, two))
        attempt(lambda: grad(x, x, torch.ones(3)))
        attempt(lambda: grad(x, x, two.double()))
        attempt(lambda: grad(x, x, two.long()))
        attempt(lambda: grad(x, x, two * 1j))
        attempt(lambda: grad(x * 1j, x, two))
        attempt(lambda: grad((x * 1j).sum(), x))
        attempt(lambda: grad(x, x, 3))
        attempt(lambda: grad(x, x, [3]))
        attempt(lambda: x.sum().backward(two))
        attempt(lambda: x.backward())
        attempt(lambda: x.sum().backward(3))
        attempt(lambda: x.sum().backward([one]))
        attempt(lambda: torch.autograd.backward([x.sum(), x.sum()], [one]))
        attempt(lambda: torch.autograd.backward([]))
        attempt(lambda: torch.autograd.backward(x.sum(), grad_variables=one, grad_tensors=one))
        attempt(lambda: two.sum().backward())
        attempt(lambda: two.long().sum().backward())
        attempt(lambda: grad([3], x))
        attempt(lambda: grad(x * x, x, torch.eye(2), is_grads_batched=True))
        attempt(lambda: grad(x, x, torch.ones(3, 3), is_grads_batched=True))
        attempt(
            lambda: grad(
                x.sum(), [x, torch.ones(1, requires_grad=True)], two, is_grads_batched=True, allow_unused=True
            )
        )
    """,
    "what may be set": """
        def put(tensor, name, value):
            setattr(tensor, name, value)
        w = torch.ones(2, requires_grad=True)
        y = w * 2
        c = torch.ones(2)
        i = torch.tensor([1, 2])
        for value in (True, False, None, 3):
            attempt(lambda: put(c, "requires_grad", value))
            attempt(lambda: put(y, "requires_grad", value))
            attempt(lambda: put(i, "requires_grad", value))
            attempt(lambda: i.requires_grad_(value))
            attempt(lambda: y.requires_grad_(value))
            print(c.requires_grad)
        for value in (None, 3, w, torch.ones(3), torch.ones(2).double(), torch.ones(2)):
            attempt(lambda: put(w, "grad", value))
            print(w.grad)
        del w.grad
        print(w.grad)
        print(y.grad)
        y.retain_grad()
        print(y.grad)
        attempt(lambda: put(y, "grad", torch.ones(2)))
        print(y.grad)
        attempt(lambda: torch.tensor([1], requires_grad=True))
        c = torch.ones(2)
        c.grad = torch.ones(2)
        print(c.grad)
    """,
    "gradient edges": """
        edge = torch.autograd.graph.get_gradient_edge
        Node = torch.autograd.graph.Node
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        a, b = y.unbind()
        z = a * b
        print(edge(x), edge(y), edge(b).output_nr, edge(b)._fields)
        attempt(lambda: edge(torch.ones(2)))
        print(
            torch.autograd.grad(z, [edge(b), edge(x), a], retain_graph=True),
            torch.autograd.grad(edge(b), x, retain_graph=True),
        )
        torch.autograd.backward(edge(z), inputs=[edge(x)], retain_graph=True)
        print(x.grad)
        attempt(lambda: torch.autograd.grad(edge(y), x))
        print(isinstance(y.grad_fn, Node), isinstance(edge(x).node, Node))
        Variable = torch.autograd.Variable
        print(
            Variable(y),
            Variable(x, requires_grad=True),
            isinstance(x, Variable),
            Variable(x) is x,
            Variable(x).requires_grad,
        )
        attempt(lambda: Variable(3))
        attempt(lambda: Variable())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
