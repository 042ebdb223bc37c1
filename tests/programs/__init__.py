"""Generators of random programs, and the programs that they found."""
