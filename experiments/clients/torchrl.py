"""TorchRL's PPO (Bou et al., 2023): collector, GAE, ClipPPOLoss."""

import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from experiments.clients import Policy
from samurai_env.adapters.torchrl import TorchRLEnv, as_tensordict


def train(game: str, players: int, steps: int) -> Policy:
    """Learn against random play from every seat."""
    envs = TorchRLEnv(game, 128, num_players=players, opponents="random", seat="rotate", reward="shaped")
    logits = TensorDictModule(MLP(out_features=envs.action_spec.n, num_cells=[256, 256]), ["observation"], ["logits"])
    keys = {"logits": "logits", "mask": "action_mask"}
    actor = ProbabilisticActor(logits, keys, distribution_class=MaskedCategorical, return_log_prob=True)
    critic = ValueOperator(MLP(out_features=1, num_cells=[256, 256]), ["observation"])
    critic(actor(envs.reset()))  # the layers take their sizes from the first observations
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    for batch in Collector(envs, actor, frames_per_batch=128 * 16, total_frames=steps):
        with torch.no_grad():
            flat = advantage(batch).reshape(-1)
        for rows in torch.cat([torch.randperm(len(flat)) for _ in range(4)]).split(1024):
            optimizer.zero_grad()
            sum(value for name, value in loss(flat[rows]).items() if name.startswith("loss_")).backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    return lambda seen: actor(as_tensordict(seen))["action"].numpy()
