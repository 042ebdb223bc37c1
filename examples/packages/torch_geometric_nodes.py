"""torch_geometric: graph convolutions and graph attention label the nodes of two linked communities."""

import torch
import torch_geometric
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, global_mean_pool
from torch_geometric.utils import add_self_loops, degree, to_dense_adj

torch_geometric.seed_everything(0)
labels = torch.arange(40) // 20
near = torch.rand(40, 40) < torch.where(labels[:, None] == labels, 0.3, 0.03)
edges = (near | near.T).fill_diagonal_(False).nonzero().T.contiguous()
graph = Data(x=torch.randn(40, 8) + 0.3 * labels[:, None], edge_index=edges, y=labels)
print(graph, "undirected:", graph.is_undirected(), "mean degree:", round(degree(edges[0], 40).mean().item(), 3))


class Network(nn.Module):
    """Two layers of one kind of graph convolution."""

    def __init__(self, layer: type[nn.Module]) -> None:
        super().__init__()
        self.first, self.second = layer(8, 16), layer(16, 2)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x, edges)), edges)


known = torch.randperm(40)[:10]
for layer in (GCNConv, SAGEConv, GATConv):
    model = Network(layer)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for _ in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(graph.x, graph.edge_index)[known], graph.y[known])
        loss.backward()
        optimizer.step()
    right = (model(graph.x, graph.edge_index).argmax(1) == graph.y).float().mean()
    print(f"{layer.__name__}: loss {loss.item():.4f}, right {right.item():.3f}")
graphs = [Data(x=torch.randn(n, 8), edge_index=torch.randint(0, n, (2, 3 * n))) for n in (4, 6, 8)]
for batch in DataLoader(graphs, batch_size=2):
    pooled = global_mean_pool(GCNConv(8, 3)(batch.x, batch.edge_index), batch.batch)
    print(batch.num_graphs, "graphs,", tuple(pooled.shape), round(pooled.sum().item(), 4))
loops, _ = add_self_loops(edges, num_nodes=40)
print("dense adjacency:", tuple(to_dense_adj(loops).shape), int(to_dense_adj(loops).sum()))
