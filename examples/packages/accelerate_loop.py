"""accelerate: a training loop on whatever device there is, with gradients gathered over several batches."""

import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
x = torch.randn(128, 5)
data = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
model, optimizer, data, scheduler = accelerator.prepare(model, optimizer, data, scheduler)
for epoch in range(5):
    total = 0.0
    for inputs, labels in data:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        total += accelerator.gather(loss.detach()).mean().item()
    print(f"epoch {epoch}: loss {total / len(data):.4f}, rate {scheduler.get_last_lr()[0]:.5f}")
with tempfile.TemporaryDirectory() as folder:
    before = accelerator.unwrap_model(model)[0].weight.clone()
    accelerator.save_state(folder)
    accelerator.load_state(folder)
    print("state loaded:", torch.equal(before, accelerator.unwrap_model(model)[0].weight), accelerator.device)
