"""Custom Functions for random programs, the same for every torch."""

from typing import Any


def functions(torch: Any) -> dict[str, Any]:
    """The Functions by name: what they save, return, write and leave out differs."""
    made = (*_that_save(torch), *_of_views(torch), *_of_several(torch), _of_two(torch))
    return {function.__name__: function for function in made}


def _that_save(torch: Any) -> tuple[Any, ...]:
    Function = torch.autograd.Function

    class Square(Function):
        """Saves its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    class Exp(Function):
        """Saves its output."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return ctx.saved_tensors[0] * g

    return Square, Exp


def _of_views(torch: Any) -> tuple[Any, ...]:
    Function = torch.autograd.Function

    class Doubled(Function):
        """Writes to its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    class Same(Function):
        """Returns its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    class Part(Function):
        """Returns a view of its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    return Doubled, Same, Part


def _of_several(torch: Any) -> tuple[Any, ...]:
    Function = torch.autograd.Function

    class Both(Function):
        """Two outputs, whose gradients may be missing."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x + 1, x * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            if g is None or h is None:
                return g if h is None else 2 * h
            return g + 2 * h

    class Half(Function):
        """Two outputs, one of them not differentiable."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x + 1
            ctx.mark_non_differentiable(y)
            return x * 2, y

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return 2 * g

    return Both, Half


def _of_two(torch: Any) -> Any:

    class Times(torch.autograd.Function):
        """Two inputs, one of which may be a number or require no grad."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(*[t if isinstance(t, torch.Tensor) else None for t in (x, y)])
            ctx.numbers = [None if isinstance(t, torch.Tensor) else t for t in (x, y)]
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = [t if n is None else n for t, n in zip(ctx.saved_tensors, ctx.numbers, strict=True)]
            return g * y if ctx.needs_input_grad[0] else None, g * x if ctx.needs_input_grad[1] else None

    return Times
