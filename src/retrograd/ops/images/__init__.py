"""Operators on images and signals."""
