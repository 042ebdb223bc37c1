"""Scratch arrays that stand on the seam: one with a hidden axis, one that writes down what is asked of it."""
