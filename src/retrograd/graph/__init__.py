"""The recorded graph and the engine that walks it. This layer handles arrays, nodes and edges, and no tensors."""
