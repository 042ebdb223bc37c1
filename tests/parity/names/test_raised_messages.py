"""A message that begins as PyTorch's does is PyTorch's to its end: what helps the user is a note."""

from __future__ import annotations

import re

from comparing.raised import COMPUTED, Message, messages, texts_of_pytorch

# Where a later sentence is not found in PyTorch's texts, and the reason.
ACCEPTED = {
    "autograd/backward.py": "PyTorch puts the shapes together from parts",
    "distributed/debugging.py": "PyTorch's binding puts the message together from parts",
    "foundations/errors.py": "PyTorch's library keeps this message in parts",
    "optim/foreach_checks.py": "PyTorch's library puts the dimensions into the message",
    "tensors/transforms/refusals.py": "PyTorch puts the places in memory together from parts",
}
_PARTS = re.compile(r"\0|\{\}|%s|[\[\]():;,'\n]|(?<=[.!?]) ")


def _parts(sentence: str) -> list[str]:
    """The parts of a sentence that are long enough to be looked for."""
    parts = [re.sub(r"\s+", " ", part).strip() for part in _PARTS.split(sentence)]
    return [part for part in parts if len(part) >= 8]


def _glued(message: Message, texts: str) -> bool:
    """Whether the first sentence of a message is PyTorch's and a later sentence is not."""
    def known(sentence: str) -> bool:
        return all([part in texts or part.rstrip(".!") in texts for part in _parts(sentence)])

    first, *others = message.sentences()
    return bool(_parts(first)) and not all(map(known, others)) and known(first)


def test_no_sentence_is_added_to_pytorchs_message() -> None:
    texts = texts_of_pytorch()
    found = {message.place.partition(":")[0]: message for message in messages() if _glued(message, texts)}
    assert not {place: message for place, message in found.items() if place not in ACCEPTED}
    assert not ACCEPTED.keys() - found.keys(), "these are accepted, and are not there any more"


def test_what_is_glued_is_found() -> None:
    texts = "Sparse CSR tensors do not have strides\0Tensor on device \0 is not on the expected device \0"
    assert _glued(Message("", "Sparse CSR tensors do not have strides. Call it on x.to_dense()."), texts)
    moved = f"Tensor on device {COMPUTED} is not on the expected device {COMPUTED}! Move one of them with .to()."
    assert _glued(Message("", moved), texts)
    assert not _glued(Message("", "Sparse CSR tensors do not have strides"), texts)
