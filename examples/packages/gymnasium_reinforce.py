"""gymnasium: a policy gradient (REINFORCE with a baseline) learns to balance a pole on a cart."""

import gymnasium
import torch
from torch import nn
from torch.distributions import Categorical

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
environment = gymnasium.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)
lengths = []
for episode in range(40):
    state, _ = environment.reset(seed=episode)
    logarithms, rewards, done = [], [], False
    while not done:
        choice = Categorical(logits=policy(torch.from_numpy(state).double()))
        action = choice.sample()
        logarithms.append(choice.log_prob(action))
        state, reward, terminated, truncated, _ = environment.step(action.item())
        rewards.append(float(reward))
        done = terminated or truncated
    returns = torch.tensor(rewards).flip(0)
    for step in range(1, len(returns)):
        returns[step] += 0.99 * returns[step - 1]
    returns = returns.flip(0)
    advantages = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.stack(logarithms) * advantages).sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    lengths.append(len(rewards))
    if episode % 10 == 9:
        print(f"episodes {episode - 9} to {episode}: mean length {sum(lengths[-10:]) / 10}")
environment.close()
