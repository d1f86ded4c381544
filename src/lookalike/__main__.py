"""``python -m lookalike``."""

from lookalike.cli.main import run

run()
