"""Tianshou's PPO (Weng et al., 2022)."""

from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import MLP
from torch.distributions import Categorical

from experiments.clients import Policy
from samurai_env.adapters.tianshou import Critic, MaskedActor, TianshouVectorEnv, as_batch


def train(game: str, players: int, steps: int) -> Policy:
    """Learn against random play from every seat."""
    envs = TianshouVectorEnv(game, 128, num_players=players, opponents="random", seat="rotate", reward="shaped")
    space, inputs = envs.action_space[0], envs.envs.variant.encoding().shape[0]
    actor = MaskedActor(MLP(input_dim=inputs, output_dim=int(space.n), hidden_sizes=[256, 256]))
    critic = Critic(MLP(input_dim=inputs, output_dim=1, hidden_sizes=[256, 256]))
    policy = ProbabilisticActorPolicy(
        actor=actor, dist_fn=lambda logits: Categorical(logits=logits), action_space=space, action_scaling=False
    )
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, max_grad_norm=0.5)
    collector = Collector(algorithm, envs, VectorReplayBuffer(128 * 64, 128))
    settings = {"collection_step_num_env_steps": 128 * 64, "update_step_num_repetitions": 4, "batch_size": 1024}
    length = {"max_epochs": 1, "epoch_num_steps": steps, "test_step_num_episodes": 0}
    algorithm.run_training(OnPolicyTrainerParams(training_collector=collector, **settings, **length))
    return lambda seen: policy(Batch(obs=as_batch(seen), info={})).act.numpy()
