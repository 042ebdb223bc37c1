"""The command line, and the finder by which ``import torch`` comes to mean this package."""
