"""`python -m rollout` is the command `rollout`."""

from rollout.cli import main

main()
