"""An actor learns to swing up to the top of a hill and stay there, with a critic beside it that learns the values.

The world is a ball in a valley. Each step pushes the ball left, not at all, or right. The reward is the height of the
ball. The critic learns what reward a state leads to. Actions that lead to more than the critic expected become more
likely. An entropy term keeps the actor curious.
"""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

DISCOUNT = 0.97
STEPS = 60


class Valley:
    """Several balls in a valley whose height at x is 1 - cos(x), for x from -pi to pi."""

    def __init__(self, balls: int) -> None:
        self.x, self.speed = 0.5 * torch.randn(balls), torch.zeros(balls)

    def state(self) -> torch.Tensor:
        return torch.stack((self.x.sin(), self.x.cos(), self.speed), dim=1)

    def step(self, actions: torch.Tensor) -> torch.Tensor:
        """Move the balls by 0.1 seconds. Returns the reward of each ball: the height, from 0 to 1."""
        push = 1.5 * (actions.float() - 1)
        self.speed = (self.speed + 0.1 * (push - self.x.sin())).clamp(-2, 2)
        self.x = (self.x + 0.1 * self.speed).clamp(-math.pi, math.pi)
        return (1 - self.x.cos()) / 2


class ActorCritic(nn.Module):
    """One hidden layer with two heads: scores of the actions, and the value of the state."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 64)
        self.actor, self.critic = nn.Linear(64, 3), nn.Linear(64, 1)

    def forward(self, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = torch.tanh(self.body(state))
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


def train_step(
    model: ActorCritic, optimizer: torch.optim.Optimizer, balls: int, steps: int = STEPS
) -> tuple[torch.Tensor, torch.Tensor]:
    """Plays one episode with several balls, and makes a step. Returns the loss and the mean reward."""
    valley = Valley(balls)
    logs, values, rewards, entropies = [], [], [], []
    for _ in range(steps):
        scores, value = model(valley.state())
        actions = Categorical(logits=scores)
        action = actions.sample()
        logs.append(actions.log_prob(action))
        entropies.append(actions.entropy())
        values.append(value)
        rewards.append(valley.step(action))
    with torch.no_grad():
        total, returns = model(valley.state())[1], []
        for reward in reversed(rewards):
            total = reward + DISCOUNT * total
            returns.append(total)
    expected = torch.stack(returns[::-1])
    valued = torch.stack(values)
    advantage = expected - valued.detach()
    loss = -(torch.stack(logs) * advantage).mean() + F.smooth_l1_loss(valued, expected)
    loss = loss - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return loss.detach(), torch.stack(rewards).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=50)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for number in range(1, options.episodes + 1):
        loss, reward = train_step(model, optimizer, balls=32)
        if number == 1 or number % 10 == 0:
            print(f"episode {number:2d}: loss {loss.item():.3f}, mean reward {reward.item():.3f}")


if __name__ == "__main__":
    main()
