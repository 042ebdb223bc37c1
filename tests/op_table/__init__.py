"""The table of all operators: how each is called, on what inputs."""
