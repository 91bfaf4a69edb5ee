"""The programs, in a clone: another name of the folder `experiments/`, see `samurai_env.source_folders`."""

from samurai_env.source_folders import alias

alias("experiments")
