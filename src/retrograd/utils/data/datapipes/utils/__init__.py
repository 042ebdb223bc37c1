"""Helpers of data pipes: files, decoders, snapshots."""

from . import common, decoder, snapshot

__all__ = ["common", "decoder", "snapshot"]
