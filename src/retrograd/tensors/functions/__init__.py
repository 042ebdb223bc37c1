"""The functions and methods of tensors, built on recorded operators: a module for each family."""
