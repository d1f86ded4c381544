"""The options that commands share, each written down once.

A group of options is a frozen dataclass. A command decorated with `takes` has the fields of its
groups as options and receives each group as one object.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, asdict, dataclass, fields
from functools import wraps
from pathlib import Path  # noqa: TC003 - its name is looked up when options are made
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class TextOptions:
    """How items are read and become sets."""

    text: Annotated[
        str | None, typer.Option("--text", metavar="COLUMN", help="The column of the contents.")
    ] = None
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="The column of the ids; '' for row numbers."),
    ] = None
    shingle: Annotated[
        str, typer.Option("--shingle", metavar="UNIT", help="words:5, chars:9 or tokens.")
    ] = "words:5"
    bag: Annotated[bool, typer.Option("--bag", help="Count repeated shingles.")] = False
    normalise: Annotated[
        str, typer.Option("--normalise", metavar="PROFILE", help="standard or none.")
    ] = "standard"


@dataclass(frozen=True)
class SearchOptions:
    """How similar and how complete."""

    threshold: Annotated[
        str, typer.Option("--threshold", "-t", metavar="T", help="The least similarity of a pair.")
    ] = "0.8"
    recall: Annotated[
        float,
        typer.Option(
            "--recall", "-r", metavar="R", help="How surely a pair at the threshold is found."
        ),
    ] = 0.99
    exact: Annotated[bool, typer.Option("--exact", help="Miss nothing: join exactly.")] = False
    bands: Annotated[
        int | None, typer.Option("--bands", metavar="B", help="Bands, set by hand.")
    ] = None
    rows: Annotated[int | None, typer.Option("--rows", metavar="R", help="Rows, set by hand.")] = (
        None
    )
    sketch: Annotated[str, typer.Option("--sketch", metavar="SCHEME", help="fast or classic.")] = (
        "fast"
    )
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Draw other hash functions.")] = 1


@dataclass(frozen=True)
class RunOptions:
    """What a run may use and how it tells about itself."""

    threads: Annotated[
        int,
        typer.Option("--threads", metavar="N", help="0 for all cores. Changes no result."),
    ] = 0
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False


@dataclass(frozen=True)
class EngineOptions:
    """Where a run works, and within which budget."""

    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", metavar="SIZE", help="512MB, 2GB …; default: half of what is available."
        ),
    ] = None
    engine: Annotated[
        str,
        typer.Option(
            "--engine", metavar="ENGINE", help="memory or disk; default: what fits the memory."
        ),
    ] = "auto"
    work_dir: Annotated[
        Path | None,
        typer.Option(
            "--work-dir", metavar="DIR", help="Where the disk engine works: beside the output."
        ),
    ] = None
    keep_work: Annotated[
        bool, typer.Option("--keep-work", help="Leave the work files, to be used again.")
    ] = False
    restart: Annotated[bool, typer.Option("--restart", help="Do not resume: begin anew.")] = False


def takes(**groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some groups; each group arrives under the name given here."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        own = [
            parameter.replace(annotation=hints[name])
            for name, parameter in inspect.signature(command).parameters.items()
            if name not in groups
        ]
        shared = [option for group in groups.values() for option in _parameters(group)]

        @wraps(command)
        def with_groups(**values: Any) -> None:
            made = {
                name: group(**{each.name: values.pop(each.name) for each in fields(group)})
                for name, group in groups.items()
            }
            command(**values, **made)

        signature = inspect.Signature([*own, *shared])
        with_groups.__signature__ = signature  # type: ignore[attr-defined]
        with_groups.__annotations__ = {
            each.name: each.annotation for each in signature.parameters.values()
        }
        return with_groups

    return decorate


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(group)
    ]


def as_options(*groups: Any) -> dict[str, Any]:
    """Return the values of some groups, as the options of the Python calls."""
    return {name: value for group in groups for name, value in asdict(group).items()}
