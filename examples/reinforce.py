"""A policy learns to balance a pole on a cart by REINFORCE (Williams, 1992).

After each episode, actions become more likely if the sum of the rewards that followed them, discounted, was large.
"""

import argparse
import math

import torch
from torch import nn
from torch.distributions import Categorical

DISCOUNT = 0.99
LONGEST = 200


class CartPole:
    """A pole on a cart, which is pushed to the left (0) or to the right (1) in every step of 0.02 seconds.

    The state is the position and the speed of the cart, and the angle and the angular speed of the pole. The episode is
    over if the cart is more than 2.4 away from the center, or the pole leans more than 12 degrees.
    """

    def reset(self) -> torch.Tensor:
        self.state = (torch.rand(4, dtype=torch.float64) * 0.1 - 0.05).tolist()
        return torch.tensor(self.state)

    def step(self, action: int) -> tuple[torch.Tensor, bool]:
        """The state after a push, and whether the episode is over."""
        x, speed, angle, turn = self.state
        push = 10.0 if action == 1 else -10.0
        cart, pole, half = 1.0, 0.1, 0.5
        cosine, sine = math.cos(angle), math.sin(angle)
        common = (push + pole * half * turn**2 * sine) / (cart + pole)
        turning = (9.8 * sine - cosine * common) / (half * (4 / 3 - pole * cosine**2 / (cart + pole)))
        moving = common - pole * half * turning * cosine / (cart + pole)
        self.state = [x + 0.02 * speed, speed + 0.02 * moving, angle + 0.02 * turn, turn + 0.02 * turning]
        over = abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)
        return torch.tensor(self.state), over


class Policy(nn.Module):
    """The probabilities of the two actions in a state."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.dropout, self.action = nn.Linear(4, 64), nn.Dropout(p=0.2), nn.Linear(64, 2)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.dropout(self.hidden(state)))
        return torch.softmax(self.action(x), dim=-1)


def episode(policy: Policy, cart: CartPole) -> list[torch.Tensor]:
    """Plays one episode. Returns the logarithm of the probability of each action that was drawn."""
    state, logs, over = cart.reset(), [], False
    while not over and len(logs) < LONGEST:
        actions = Categorical(policy(state))
        action = actions.sample()
        logs.append(actions.log_prob(action))
        state, over = cart.step(action.item())
    return logs


def train_step(policy: Policy, optimizer: torch.optim.Optimizer, logs: list[torch.Tensor]) -> torch.Tensor:
    """One step after an episode. Every step of the episode has the reward 1. Returns the loss."""
    rewards, total = [], 0.0
    for _ in logs:
        total = 1.0 + DISCOUNT * total
        rewards.append(total)
    returns = torch.tensor(rewards[::-1])
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(torch.stack(logs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=60)
    options = parser.parse_args()
    torch.manual_seed(4)
    policy, cart = Policy(), CartPole()
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    lengths = []
    for number in range(1, options.episodes + 1):
        logs = episode(policy, cart)
        loss = train_step(policy, optimizer, logs)
        lengths.append(len(logs))
        if number % 20 == 0:
            mean = sum(lengths[-20:]) / 20
            print(f"episode {number:3d}: {lengths[-1]} steps, {mean:.1f} on average, loss {loss.item():.2f}")


if __name__ == "__main__":
    main()
