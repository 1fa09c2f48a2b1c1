"""How fast Stable-Baselines3's PPO trains on our batch, against a single environment of ours.

    python benchmarks/sb3.py
    python benchmarks/sb3.py --envs 64 --steps 40000

All learn from 2,048 steps at a time, ten passes, on one thread; the way through the batch is measured with their
minibatches of 64, which leaves the updates as they are, and with larger ones. Prints environment steps per second of
this process's time (the median of three turns, one of each after the other) and how many times as fast as the single
environment that is. Needs `pip install 'shapo[sb3]'`.
"""

import argparse
import statistics
import time

ID = "SafetyPointGoal1-v0"
ROLLOUT = 2048
TURNS = 3


def models(envs: int, minibatch: int):
    """Their PPO for each way of stepping."""
    import torch  # pyright: ignore[reportMissingImports]
    from stable_baselines3 import PPO  # pyright: ignore[reportMissingImports]

    from shapo.envs.stable_baselines3 import make_vec_env

    torch.set_num_threads(1)

    def ppo(env, count: int, batch_size: int):
        return PPO(
            "MlpPolicy",
            env,
            n_steps=ROLLOUT // count,
            batch_size=batch_size,
            device="cpu",
            seed=0,
        )

    batch = f"batch of {envs}"
    return {
        "a single environment": ppo(f"shapo.envs:shapo/{ID}", 1, 64),
        batch: ppo(make_vec_env(ID, envs), envs, 64),
        f"{batch}, minibatches of {minibatch}": ppo(make_vec_env(ID, envs), envs, minibatch),
    }


def speed(model, steps: int) -> float:
    """Environment steps per second of this process's time."""
    before, begun = model.num_timesteps, time.process_time()
    model.learn(steps, reset_num_timesteps=False)
    return (model.num_timesteps - before) / (time.process_time() - begun)


def main() -> None:
    """Measure all ways in turn, and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--envs", type=int, default=16, help="environments in the batch [16]")
    parser.add_argument("--minibatch", type=int, default=1024, help="the larger ones [1024]")
    parser.add_argument("--steps", type=int, default=20_000, help="of each way [20,000]")
    options = parser.parse_args()
    ways = models(options.envs, options.minibatch)
    for model in ways.values():
        model.learn(ROLLOUT)  # compiles what has to be
    turns = [
        [speed(model, options.steps // TURNS) for model in ways.values()] for _ in range(TURNS)
    ]
    speeds = [statistics.median(each) for each in zip(*turns, strict=True)]
    print(f"PPO on {ID}, {options.steps:,} steps of each way")
    for way, found in zip(ways, speeds, strict=True):
        print(f"{way:36} {found:8,.0f} steps/s  {found / speeds[0]:5.1f} ×")


if __name__ == "__main__":
    main()
