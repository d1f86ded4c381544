"""An option that takes several values: ``--against a.jsonl b.jsonl``."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

GREEDY = ("--against",)


class Greedy(TyperCommand):
    """A command whose greedy options take all arguments up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, which is what click understands."""
        return super().parse_args(ctx, spread(args))


def spread(args: list[str]) -> list[str]:
    """Return the arguments with every greedy option repeated before each of its values.

    >>> spread(["a", "--against", "b", "c", "--json"])
    ['a', '--against', 'b', '--against', 'c', '--json']
    """
    out: list[str] = []
    option: str | None = None
    waiting = False  # for the first value, which click asks for itself
    for arg in args:
        if arg in GREEDY:
            option, waiting = arg, True
            out.append(arg)
        elif option and not waiting and not arg.startswith("-"):
            out += [option, arg]
        else:
            option = option if waiting else None
            waiting = False
            out.append(arg)
    return out
