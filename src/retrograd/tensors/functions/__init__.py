"""What is called on tensors: a module for each family of functions and methods, over recorded operators."""
