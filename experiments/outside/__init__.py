"""Opponents that other projects' learners made: each gets the same search of settings and the same processor time.

`python -m experiments.outside maskable_ppo` tries settings for minutes, trains two hours of one core with the best of
them and writes the policy as a network of this project (`ppo:PATH`), which plays without the framework that made it.
"""
