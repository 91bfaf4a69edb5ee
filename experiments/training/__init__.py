"""PPO by self-play: settings, rollouts, learner, opponents, checkpoints."""
