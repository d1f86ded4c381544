"""How a command reads its arguments and how it ends, well or badly."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from lookalike.errors import InputError, LookalikeError, OutputError

EXIT_USAGE, EXIT_INPUT, EXIT_OUTPUT, EXIT_INTERRUPTED = 2, 3, 4, 130
GREEDY = ("--against", "--protect")


class Command(TyperCommand):
    """A command whose failures are one clear line and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let greedy options take all values up to the next option: ``--against a.csv b.csv``."""
        return super().parse_args(ctx, spread(args))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except LookalikeError as error:
            _fail(str(error), exit_code(error))
        except KeyboardInterrupt:
            _fail(
                "interrupted; no output was written, and what was done on disk is kept: the same "
                "command goes on with it",
                EXIT_INTERRUPTED,
            )
        except MemoryError:
            _fail("there is not enough memory for this input", EXIT_INPUT)


def exit_code(error: LookalikeError) -> int:
    """Return the exit code of an error.

    >>> exit_code(InputError("x.csv does not exist"))
    3
    """
    codes = {InputError: EXIT_INPUT, OutputError: EXIT_OUTPUT}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), EXIT_USAGE)


def _fail(message: str, code: int) -> None:
    typer.echo(f"lookalike: {message}", err=True)
    raise typer.Exit(code)


def spread(args: list[str]) -> list[str]:
    """Repeat a greedy option before each of its values, which is what the parser understands.

    >>> spread(["a", "--against", "b", "c", "--json"])
    ['a', '--against', 'b', '--against', 'c', '--json']
    """
    out: list[str] = []
    option: str | None = None
    waiting = False  # for the first value, which the parser asks for itself
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
