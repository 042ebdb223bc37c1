"""What neural networks compute: activations, normalization, attention, losses."""
