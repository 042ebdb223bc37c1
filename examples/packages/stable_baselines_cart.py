"""stable-baselines3: several algorithms learn to balance a pole and to swing a pendulum."""

import tempfile

import gymnasium
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy


def main() -> None:
    torch.set_num_threads(1)
    agents = {
        "PPO": PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=0,
                   policy_kwargs={"net_arch": [16]}),
        "A2C": A2C("MlpPolicy", "CartPole-v1", seed=0, policy_kwargs={"net_arch": [16]}),
        "DQN": DQN("MlpPolicy", "CartPole-v1", learning_starts=50, seed=0, policy_kwargs={"net_arch": [16]}),
        "SAC": SAC("MlpPolicy", "Pendulum-v1", learning_starts=50, seed=0, policy_kwargs={"net_arch": [16]}),
    }
    for name, agent in agents.items():
        agent.learn(128)
        size = sum(p.square().sum().item() for p in agent.policy.parameters())
        mean, deviation = evaluate_policy(agent, agent.get_env(), 2, warn=False)
        print(f"{name}: {size:.4f} in the weights, reward {mean:.2f} ({deviation:.2f})")
    with tempfile.TemporaryDirectory() as folder:
        agents["PPO"].save(f"{folder}/agent")
        again = PPO.load(f"{folder}/agent")
    seen, _ = gymnasium.make("CartPole-v1").reset(seed=1)
    print("chosen", agents["PPO"].predict(seen, deterministic=True)[0] == again.predict(seen, deterministic=True)[0])
    value = again.policy.predict_values(torch.as_tensor(seen)[None]).item()
    print(f"value {value:.5f}")


if __name__ == "__main__":
    main()
