"""`explore`: a backward pass as one page, in which one can walk through it node by node."""

from __future__ import annotations

import html
import os
from pathlib import Path
from types import FrameType
from typing import Any

from ..autograd import graph
from ..foundations.errors import noted
from ..tensors.recording.gradients import refuse_inside, starting
from ..tensors.tensor import Tensor
from .beside import RTOL, beside
from .documents import Document
from .explorer.page import document_in, page
from .naming import calling_frame
from .notes import recording
from .observing import Observation
from .statistics import Facts

PathLike = str | os.PathLike[str]


class Explored:
    """What `explore` found. `document` is the pass as plain data.

    `save(path)` writes the page. A notebook shows the page.
    """

    def __init__(self, document: Facts) -> None:
        self.document = document

    @property
    def page(self) -> str:
        """The page, as the text of one HTML file."""
        return page(self.document)

    def save(self, path: PathLike) -> None:
        """Write the page to a file. Raises OSError if the file cannot be written."""
        Path(path).write_text(self.page, encoding="utf-8")

    def beside(self, other: Explored | PathLike, names: tuple[str, str] = ("this pass", "the other pass"),
               rtol: float = RTOL) -> Explored:
        """This pass with another one beside it, such as the pass before a change. What differs is marked.

        `other` may be the file of an explorer's page. `names` say which pass is which on the page. Gradients differ if
        they are further apart than `rtol` of their norm. Raises OSError if the file cannot be read, and ValueError if
        the file is no such page.
        """
        document = other.document if isinstance(other, Explored) else document_in(Path(other).read_text("utf-8"))
        return Explored(beside(self.document, document, names, rtol))

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that nothing of it reaches the notebook around it."""
        text = self.page.replace("&", "&amp;").replace("'", "&#39;")        # a page has many double quotes
        return (f"<iframe srcdoc='{text}' title='{html.escape(self.document['title'])}' width='100%' height='720' "
                "style='border:0'></iframe>")

    def __repr__(self) -> str:
        totals = self.document["totals"]
        return f"<a backward pass of {totals['nodes']} nodes, {totals['bytes']:,} bytes saved>"


def explore(loss: Any, path: PathLike | None = None, params: Any = None) -> Explored:
    """Run the backward pass of `loss` under observation, and make a page of it; write the page to `path`, if given.

    `loss` is a tensor, or a function without arguments that computes one. The function is called under `recording`, so
    the page shows the line and the module of each operation. `params` names the leaves: a Module, a dictionary from
    names to tensors, or the result of `Module.named_parameters()`.

    Nothing changes: no gradient is accumulated, nothing saved is released, and random streams stay where they are.
    Hooks that may replace a gradient run, since they are a part of the pass. Hooks that run after accumulation do not.
    A tensor that is not a scalar is differentiated as if it was summed.

    Raises TypeError if there is no tensor, RuntimeError for a tensor of the device `meta`, what `loss.backward()`
    raises, and OSError if the file cannot be written.

    >>> import retrograd as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> torch.viz.explore((w * w).sum())
    <a backward pass of 3 nodes, 0 bytes saved>
    >>> w.grad is None
    True
    """
    frame = calling_frame()
    refuse_inside()
    if callable(loss) and not isinstance(loss, Tensor | graph.Node):
        with recording():
            loss = loss()
    if not isinstance(loss, Tensor):
        raise TypeError(f"explore() takes a tensor, or a function that computes one, not {type(loss).__name__}")
    cotangent = loss.new_ones(loss.shape) if loss.numel() != 1 or loss.is_meta else None
    found = Explored(observed(starting((loss,), (cotangent,)), params, frame))
    if path is not None:
        found.save(path)
    return found


def observed(starts: list[tuple[Any, Any]], params: Any, frame: FrameType | None, title: str = "",
             program: str | None = None, **options: Any) -> Facts:
    """The document of the pass from `starts`. `frame` is the program's, whose variables name leaves without a name."""
    if any([cotangent.is_meta for _, cotangent in starts]):
        raise noted(RuntimeError("explore() shows the numbers of a backward pass, and tensors of the device 'meta' "
                                 "have none"), instead="draw the graph: torch.viz.graph(loss)")
    title = title or f"Backward pass from {starts[0][0].node.name()}"
    return Document(Observation(starts, **options), params, frame, title, program).facts
