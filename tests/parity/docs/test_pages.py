"""The pages on errors, mistakes, writes in place and transforms, and the recipes, say of PyTorch what PyTorch does.

A program that imports retrograd under the name of torch, and nothing else of it, is run with PyTorch too. It prints the
same, and where it fails the error has the same type and the same message.
"""

import re

import pytest
import torch

from showing import pages, pictures

HELD = [page for page in pages.DOCS
        if page in pages.ERRORS or page.stem in ("inplace", "mistakes", "transforms", "recipes")]
ALL = [program for page in HELD for program in pages.of(page)]
SHARED = [program for program in ALL if not re.search(
    r"^(from|import) retrograd(?! as torch$)", "".join(block.source for block in program.blocks), re.MULTILINE)]

pytestmark = pytest.mark.usefixtures("forward_mode")



def same(error: Exception | None, other: Exception | None) -> bool:
    """Whether an error has the type and the message of the other."""
    if error is None or other is None:
        return error is other
    said = re.sub(r" \(Triggered internally at \S+\)", "", str(other))        # a place in PyTorch's source
    if type(error) is not type(other) and type(error).__name__ != type(other).__name__:
        return False
    return str(error).replace("retrograd", "torch") == said or any(map(said.startswith, ITEM))


# PyTorch's batches of gradients are those of an earlier vmap, which has a sentence of its own about numbers.
ITEM = ("While computing batched gradients, got: Batching rule not implemented for aten::item",)


@pytest.mark.parametrize("program", SHARED, ids=str)
def test_a_program_does_the_same_in_pytorch(program: pages.Program) -> None:
    theirs = program._replace(blocks=[
        block._replace(source=block.source.replace("import retrograd as torch", "import torch"))
        for block in program.blocks])
    for block, one, other in zip(program.blocks, pages.said(program), pages.said(theirs)):
        where = f"{program.page}:{block.line}"
        assert one.printed == other.printed, where
        assert same(one.error, other.error), f"{where}\n{one.error}\n{other.error}"


def test_few_programs_are_retrograd_s_alone() -> None:
    assert len(SHARED) > 0.9 * len(ALL)


@pytest.mark.parametrize("name", pictures.FIGURES)
def test_a_picture_is_what_pytorch_makes_of_it(name: str) -> None:
    assert pages.text_of(pictures.FOLDER / f"{name}.svg") == pictures.svg(torch, pictures.FIGURES[name])
