"""What programs on custom Functions begin with: short names for making them and for looking at tensors."""

PREAMBLE = """
Function = torch.autograd.Function
def made(forward, backward, **more):
    return type(
        "Made",
        (Function,),
        {k: staticmethod(f) for k, f in dict(forward=forward, backward=backward, **more).items()},
    )
def named(node):
    return None if node is None else type(node).__name__
def chain(node, depth=3):
    if node is None or depth == 0:
        return "..." if node else None
    return type(node).__name__, [(chain(n, depth - 1), i) for n, i in node.next_functions]
def facts(*tensors):
    for t in tensors:
        if not isinstance(t, torch.Tensor):
            print("plain", t)
            continue
        attempt(lambda: chain(t.grad_fn))
        attempt(lambda: ("leaf", t.is_leaf))
        print(
            t.detach().tolist(),
            t.dtype,
            "rg",
            t.requires_grad,
            "v",
            t._version,
            "view",
            t._is_view(),
            "nr",
            t.output_nr,
            "base",
            None if t._base is None else t._base.detach().tolist(),
        )
def leaf(*v):
    return torch.tensor(v or (1.0, 2.0, 3.0), requires_grad=True)
def grads(out, *inputs):
    def go():
        outs = [
            o
            for o in (out if isinstance(out, tuple) else (out,))
            if isinstance(o, torch.Tensor) and o.requires_grad
        ]
        return torch.autograd.grad(
            outs, inputs, [torch.ones_like(o) * 2 for o in outs], allow_unused=True, retain_graph=True
        )
    attempt(go)
"""
