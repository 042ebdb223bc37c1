"""A graph convolutional network sorts the nodes of a graph into communities (Kipf and Welling, 2017).

Nodes are joined more often inside a community than between communities. The features of a node say little. The network
knows the community of a few nodes, and finds the others through the edges.
"""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

COMMUNITIES, SIZE, FEATURES = 4, 60, 16
KNOWN = 5  # nodes of each community whose label is known


def graph() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features of the nodes, the normalized adjacency matrix as a sparse tensor, and the community of each node."""
    labels = torch.arange(COMMUNITIES).repeat_interleave(SIZE)
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    edges = torch.rand(same.shape) < torch.where(same, 0.1, 0.005)
    edges = torch.triu(edges, diagonal=1)
    adjacency = (edges | edges.t()).float() + torch.eye(len(labels))
    scale = adjacency.sum(dim=1).rsqrt()
    features = torch.randn(len(labels), FEATURES) + 1.5 * F.one_hot(labels, FEATURES)
    places = adjacency.nonzero().t()
    weights = scale[places[0]] * scale[places[1]]
    sparse = torch.sparse_coo_tensor(places, weights, adjacency.shape, check_invariants=True)
    return features, sparse.coalesce(), labels


class GraphConvolution(nn.Module):
    """A linear map of each node's features, and then their weighted sum over the neighbors."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        bound = 1 / math.sqrt(outputs)
        self.weight.data.uniform_(-bound, bound)
        self.bias.data.uniform_(-bound, bound)

    def forward(self, features: torch.Tensor, adjacency: torch.Tensor) -> torch.Tensor:
        return torch.spmm(adjacency, torch.mm(features, self.weight)) + self.bias

    def extra_repr(self) -> str:
        return " -> ".join(map(str, self.weight.shape))


class GCN(nn.Module):
    """Two graph convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GraphConvolution(FEATURES, 32), GraphConvolution(32, COMMUNITIES)

    def forward(self, features: torch.Tensor, adjacency: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.first(features, adjacency))
        x = F.dropout(x, 0.5, training=self.training)
        return F.log_softmax(self.second(x, adjacency), dim=1)


def train_step(
    model: GCN,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    adjacency: torch.Tensor,
    labels: torch.Tensor,
    known: torch.Tensor,
) -> torch.Tensor:
    """One step on the nodes whose label is known. Returns the loss."""
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(model(features, adjacency)[known], labels[known])
    loss.backward()
    optimizer.step()
    return loss.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=100)
    options = parser.parse_args()
    torch.manual_seed(42)
    features, adjacency, labels = graph()
    known = torch.arange(COMMUNITIES * SIZE).view(COMMUNITIES, SIZE)[:, :KNOWN].flatten()
    hidden = torch.ones(len(labels), dtype=torch.bool).index_fill(0, known, False)
    model = GCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
    print(model)
    for epoch in range(1, options.epochs + 1):
        loss = train_step(model, optimizer, features, adjacency, labels, known)
        if epoch == 1 or epoch % 20 == 0:
            model.eval()
            with torch.no_grad():
                found = model(features, adjacency)[hidden].argmax(dim=1)
            right = (found == labels[hidden]).float().mean().item()
            print(f"epoch {epoch:3d}: loss {loss.item():.3f}, {right:.1%} of the other nodes sorted right")


if __name__ == "__main__":
    main()
