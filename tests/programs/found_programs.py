"""The differences that random programs once found, as plain programs: one step a line, for every torch."""

FOUND = {
    "roots are looked at before inputs": """
        t0 = torch.tensor([1., 2.])
        torch.autograd.backward(t0.sum(), inputs=[t0])
        t1 = torch.autograd.grad(t0.sum(), t0)
        t0.backward(inputs=[t0])""",
    "a leaf that requires grad no longer gets none": """
        t0 = torch.tensor([[0.7], [-0.6]], requires_grad=True)
        t1 = t0.reshape(-1)
        t0.requires_grad_(False)
        t1.sum().backward()""",
    "reading what a write overlaps": """
        t0 = torch.tensor([1., 2., 3., 4.])
        t0[:2].add_(t0[1:3])
        t0.mul_(t0[0])
        t0[None] += t0
        t0.view(2, 2).add_(t0.view(2, 2).t())
        t0.view(2, 2).copy_(t0.view(2, 2).t())
        t0[torch.tensor([0, 1])] = t0
        t0[torch.tensor([0, 1])] = t0[0]
        t0[t0 > 2] = t0[:1]
        t0[:2] = t0[1:3]
        t0[:2] = t0[0]
        t0.add_(t0)
        t0.fill_(t0[1])
        t1 = torch.ones(3, requires_grad=True) * 2
        t1[None].mul_(t1)
        t1[torch.tensor([0, 1])] = t1[:2]
        t2 = torch.tensor([-1., 2., 3.], requires_grad=True) * 1
        t2[t2 > 0] = t2[0]
        t2[torch.tensor([0, 1])] = t2""",
    "one number over memory that coincides": """
        t0 = torch.tensor([1., 2.])
        t1 = t0.expand(3, 2)
        t1.fill_(2.0)
        t1.zero_()
        t1.fill_(torch.tensor(3.))
        t1.add_(1)
        t1[0] = 4.
        t2 = t1.data
        t2.add_(1)
        t3 = t1[::4].data
        t3.add_(1)""",
    "output_nr and grad of a stale view are read as they stand": """
        t0 = torch.tensor([[-0.6], [1.6]], requires_grad=True)
        t1 = t0 * t0
        t2, t3 = t1.unbind(0)
        t1.mul_(2)""",
    "a post accumulate hook returns nothing": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t0.register_post_accumulate_grad_hook(lambda t: note(t.grad))
        t0.sum().backward()""",
    "a view made under no_grad requires grad, with an edge to nowhere": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0 * 2
        with torch.no_grad(): t2 = t1[:1]
        t3 = t2 * 3
        (t3 * t1).sum().backward()
        t2.backward()
        t4 = torch.autograd.grad((t2 * 2).sum(), t2)
        t5 = t2.view(1, 1)
        t5.mul_(2)
        t2.mul_(2)""",
    "a view made before its base required grad": """
        t0 = torch.tensor([1., 2.])
        t1 = t0[:1]
        t0.requires_grad_()
        t2 = t1 * 2
        t1.mul_(2)
        with torch.no_grad(): t1.mul_(2)
        t3 = t1 * 2
        t3.sum().backward()""",
    "a stale view of a base that no longer requires grad": """
        t0 = torch.tensor([[-0.7], [0.8]], requires_grad=True)
        t1 = t0.mT
        t0.detach_()
        t0.mul_(t0)""",
    "a stale view stands as the leaf that it was": """
        t0 = torch.tensor([1., 2.])
        t1 = t0.unsqueeze(1)
        t0.requires_grad = True
        with torch.no_grad(): t0 -= t0
        t1.retain_grad()
        t1.requires_grad_(False)""",
    "a view that was not looked at is written as the leaf that it was": """
        t0 = torch.tensor([1., 2.])
        t1 = t0.squeeze(-1)
        t2 = t1[None]
        t3 = torch.tensor([3., 4.], requires_grad=True)
        t1.mul_(t3)
        t2.sub_(1)
        t2[...] = 1.5""",
    "a write is refused before anything stale is": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1, t2 = t0.chunk(2, 0)
        t3 = torch.tensor([3., 4.]).split(1, 0)[0]
        with torch.no_grad(): t2.mul_(2)
        t3.add_(t1)""",
    "a view is renewed when it is written": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0 + 3
        t2 = t1[1:]
        t2.zero_()
        t1.detach_()
        t2.sum().backward()""",
    "an operand that was promoted, then written": """
        t0 = torch.tensor([[1.8, 1.2]], dtype=torch.float64, requires_grad=True)
        t1 = torch.tensor([[0.9, -1.9], [0.7, -0.6]])
        t2 = torch.maximum(t1[1:], t0)
        t1.fill_(2.0)
        (t2 * t2).sum().backward()""",
    "an operand that was promoted for a write in place, then written": """
        t0 = torch.tensor([[-2.0, -1.9]], dtype=torch.float64, requires_grad=True) * 1
        t1 = torch.tensor(0.9)
        t2 = t0.mul_(t1)
        t1.sin_()
        t2.sum().backward()""",
    "a written slice is differentiated once": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0 * 1
        t1[:1].zero_()
        t1.sum().backward()
        t1.sum().backward()""",
    "the saved result of a write to a slice, to second order": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0.abs()
        t1[0:].exp_()
        t2 = torch.autograd.grad((t1 * t1).sum(), t0, create_graph=True)[0].clone()
        t2.sum().backward()""",
    "the hooks of a root that leads nowhere": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0.prod() - 2.5
        torch.autograd.backward(t1.sin(), inputs=[t1])
        t2 = t0.reshape(-1)
        t3 = torch.autograd.grad(t1, t2, allow_unused=True)[0]""",
    "a leaf moved into the graph": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = torch.tensor([3., 4.])
        t2 = t1.add_(t0)
        t0.detach_()
        t0[...].mul_(t2)
        t0.sum().backward()""",
    "no elements, no graph": """
        t0 = torch.tensor([[1., 2.]], requires_grad=True)
        t1 = t0[1:].reshape(2, -1) ** 3
        t2 = t1.mT
        t2.square_()
        t3 = torch.autograd.grad((t2 * t2).sum(), t1, create_graph=True)[0].clone()""",
    "a gradient that was spread is added to": """
        t0 = torch.tensor(1.1, requires_grad=True)
        t1 = t0.sum(-1, keepdim=True)
        t1.neg_()
        t1.backward()
        t0.view(-1).sum(-1).backward()""",
    "relu of what is differentiated twice": """
        t0 = torch.tensor([1., -2.], requires_grad=True)
        t1 = torch.autograd.grad(t0.relu().sum(), t0, create_graph=True)[0].clone()
        t1.sum().backward()""",
    "copies have memory of their own": """
        t0 = torch.tensor([[0.6], [1.2]], requires_grad=True) * 1
        t1 = t0.diagonal(1)
        t2 = t1.repeat(2)
        t3 = t0[:1].repeat(1, 1)
        t1.add_(1)
        t0.add_(1)""",
    "rows, whatever the layout of the operand": """
        t0 = torch.tensor([[1., 2.], [3., 4.]]).t()
        t1 = torch.stack([t0, t0]).view(-1)
        t2 = t0[None].sum(0).view(-1)
        t3 = t0.cumsum(0).view(-1)
        t4 = t0.flip(0).view(-1)
        t5 = (t0 * 2).view(-1)""",
    "a change of geometry under no_grad makes views stale": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0[:]
        with torch.no_grad(): t1.unsqueeze_(0)
        t2 = (t0 * 1)[:1]
        with torch.no_grad(): t3 = t2.view(1)
        with torch.no_grad(): t3.squeeze_()""",
    "a leaf that requires grad again": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0[1:]
        t0.requires_grad_(False)
        t0.requires_grad_()
        t2 = torch.autograd.grad(t1.exp().sum(), t0)[0].clone()
        t1.sum().backward()""",
    "a leaf that is a view of what is written": """
        t0 = torch.tensor([-1.7, 1.4])
        t1 = t0.unsqueeze(0).squeeze(0)
        t1.requires_grad = True
        t0 *= t1
        t2 = t1.relu()""",
    "a leaf that was detached after it was saved": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0.prod()
        t0.register_hook(note)
        t0.detach_()
        t1.backward(create_graph=True)""",
    "the target of a gradient that was never in the graph": """
        t0 = torch.tensor([1., 2.])
        t1 = t0[:1]
        t2 = torch.tensor([3., 4.], requires_grad=True)
        t3 = t2 * t2
        t3.sum().backward()
        t0.requires_grad_()
        t4 = torch.autograd.grad(t3.sum(), t1)""",
    "a tensor marked dirty forgets its gradient": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = 1 - t0
        t1.retain_grad()
        t1.sum().backward()
        t2 = Doubled.apply(t1)
        t1.sum().backward()""",
    "a Function under no_grad asks no stale view": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        with torch.no_grad(): t1 = t0.view(1, -1)
        with torch.no_grad(): t1.sub_(2.5)
        with torch.no_grad(): t2 = Times.apply(t1, 3)""",
    "the place in a key that is out of range": """
        t0 = torch.tensor([])
        t0[..., 0] = 2
        t1 = t0[None, 5]
        t2 = torch.tensor([[1., 2.]])[0, 5]""",
}
