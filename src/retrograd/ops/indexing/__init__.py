"""Operators that read and write elements by index, order and mask."""
