"""The command line, and how ``import torch`` comes to mean this package. Nothing below it may know of it."""
