"""pytorch-metric-learning: an embedding by triplets and by pairs, with mining of hard examples."""

import torch
from pytorch_metric_learning import distances, losses, miners, reducers
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
x = torch.randn(120, 6)
labels = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
embedding = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(embedding.parameters(), lr=1e-2)
cosine = distances.CosineSimilarity()
miner = miners.TripletMarginMiner(margin=0.2, distance=cosine, type_of_triplets="semihard")
objective = losses.TripletMarginLoss(margin=0.2, distance=cosine, reducer=reducers.ThresholdReducer(low=0))
for step in range(40):
    batch = torch.randperm(120)[:40]
    optimizer.zero_grad()
    points = embedding(x[batch])
    loss = objective(points, labels[batch], miner(points, labels[batch]))
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.4f}, triplets {miner.num_triplets}")
points = embedding(x).detach()
for function in (losses.ContrastiveLoss(), losses.NTXentLoss(), losses.MultiSimilarityLoss(), losses.CircleLoss(),
                 losses.SupConLoss(), losses.AngularLoss(), losses.LiftedStructureLoss()):
    print(f"{type(function).__name__}: {function(points, labels).item():.4f}")
proxies = losses.ArcFaceLoss(num_classes=4, embedding_size=3)
print(f"ArcFaceLoss: {proxies(points, labels).item():.4f}, logits {tuple(proxies.get_logits(points).shape)}")
