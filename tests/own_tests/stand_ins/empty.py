"""torch.testing._internal, of which only the modules below it are used."""
