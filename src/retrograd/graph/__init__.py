"""The recorded graph and the engine that walks it. Never names Tensor: it handles arrays, nodes and edges."""
