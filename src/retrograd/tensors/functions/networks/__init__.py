"""Functions of neural networks that PyTorch keeps in the namespace torch."""
