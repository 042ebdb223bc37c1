"""The groups in which a page lists the names of a namespace, each with a heading: in `torch.nn` they are PyTorch's."""

from __future__ import annotations

from collections.abc import Iterable

from reference.namespaces import Member

# Headings, each with the files of `torch.nn` whose classes stand below it.
_LAYERS = {
    "Containers": "module container",
    "Convolutions": "conv fold",
    "Pooling": "pooling",
    "Padding": "padding",
    "Activations": "activation",
    "Normalization": "batchnorm instancenorm normalization",
    "Recurrent networks": "rnn rnn_base",
    "Transformers": "transformer",
    "Linear layers": "linear",
    "Dropout": "dropout",
    "Embeddings": "sparse",
    "Distances": "distance",
    "Losses": "loss adaptive linear_cross_entropy_options",
    "Pictures": "pixelshuffle upsampling channelshuffle",
    "Shapes": "flatten",
    "Parameters": "parameter",
    "Several devices": "data_parallel",
}
# Headings, each with the files of `torch.nn.functional` whose functions stand below it.
_FUNCTIONS = {
    "Convolutions": "convolution",
    "Pooling": "pooling unpooling",
    "Attention": "attention multihead",
    "Activations": "activation activations softmax elementary",
    "Normalization": "norms normalization",
    "Linear functions": "affine matrix",
    "Dropout": "dropping dropout",
    "Embeddings": "embeddings embedding classes",
    "Distances": "distance distances",
    "Losses": "loss losses margins ctc numbered",
    "Pictures": "padding resampling sampling sampling_grids",
}
# Names that stand beside others in the source.
_MOVED = {"MultiheadAttention": "Transformers", "cross_entropy": "Losses", "nll_loss": "Losses",
          "linear_cross_entropy": "Losses", "bilinear": "Linear functions"}
_TABLES = {"torch.nn": _LAYERS, "torch.nn.functional": _FUNCTIONS}
_LAZY, _FURTHER = "Modules that wait for the first input", "Further names"


def grouped(found: Iterable[tuple[Member, str]]) -> dict[str, list[Member]]:
    """The members of a page by their headings, in the order of the page; the heading is '' if there are no groups.

    Each member comes with the module that defines it.
    """
    found = [*found]
    table = _TABLES.get(found[0][0].namespace) if found else None
    if table is None:
        return {"": [member for member, _ in found]}
    order: dict[str, list[Member]] = {title: [] for title in (*table, _LAZY, _FURTHER)}
    titles = {file: title for title, files in table.items() for file in files.split()}
    for member, home in found:
        file = home.rpartition(".")[2]
        lazy = member.name.startswith("Lazy")
        order[_LAZY if lazy else _MOVED.get(member.name) or titles.get(file, _FURTHER)].append(member)
    return {title: members for title, members in order.items() if members}
