"""Writes a number and a picture for TensorBoard: the extra `tensorboard`."""

import os

import retrograd as torch
from retrograd.utils.tensorboard import SummaryWriter

with SummaryWriter("events") as writer:
    writer.add_scalar("loss", 1.0, 1)
    writer.add_image("picture", torch.zeros(3, 2, 2), 1)
assert len(os.listdir("events")) == 1
