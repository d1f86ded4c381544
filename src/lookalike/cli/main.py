"""The commands: find, explain, plan, demo.

Results go to standard output, everything else to standard error.

Exit codes: 0 done, 1 a defect of lookalike, 2 wrong usage, 3 unreadable input, 4 unwritable output,
130 interrupted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.commands import Command

if TYPE_CHECKING:
    from lookalike.config import Settings
    from lookalike.data import Corpus
    from lookalike.io.readers import Source

SHOWN_PAIRS = 10

app = typer.Typer(
    help="Find the near-duplicates and similar items in a collection: exact in what it reports, "
    "honest about what it missed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 defect, 2 wrong usage, 3 unreadable input, 4 unwritable output, "
    "130 interrupted.",
)

Input = Annotated[
    list[Path],
    typer.Argument(
        metavar="INPUT...", help="Parquet, JSONL or CSV files, or a folder of text files."
    ),
]
Threshold = Annotated[
    str, typer.Option("--threshold", "-t", metavar="T", help="The least similarity of a pair.")
]
Recall = Annotated[
    float,
    typer.Option(
        "--recall", "-r", metavar="R", help="How surely a pair at the threshold is found."
    ),
]
ShingleOption = Annotated[
    str, typer.Option("--shingle", metavar="UNIT", help="words:5, chars:9 or tokens.")
]
Bag = Annotated[bool, typer.Option("--bag", help="Count repeated shingles.")]
Text = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="The column of the contents.")
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of the ids; '' for row numbers."),
]
Normalise = Annotated[str, typer.Option("--normalise", metavar="PROFILE", help="standard or none.")]
Sketch = Annotated[str, typer.Option("--sketch", metavar="SCHEME", help="fast or classic.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Draw other hash functions.")]
Bands = Annotated[int | None, typer.Option("--bands", metavar="B", help="Bands, set by hand.")]
Rows = Annotated[int | None, typer.Option("--rows", metavar="R", help="Rows, set by hand.")]
Threads = Annotated[
    int, typer.Option("--threads", metavar="N", help="Threads; 0 for all cores. Changes no result.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from lookalike import __version__

        typer.echo(f"lookalike {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    pass


@app.command(cls=Command)
def find(
    inputs: Input,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Pairs: .parquet, .csv or .jsonl."),
    ] = None,
    threshold: Threshold = "0.8",
    recall: Recall = 0.99,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="INPUT...",
            help="Only pairs of an INPUT item with one of these; takes all paths behind it.",
        ),
    ] = None,
    shingle: ShingleOption = "words:5",
    bag: Bag = False,
    text: Text = None,
    id: Id = None,
    normalise: Normalise = "standard",
    sketch: Sketch = "fast",
    seed: Seed = 1,
    bands: Bands = None,
    rows: Rows = None,
    threads: Threads = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find every pair of similar items.

    Example: `lookalike find news.jsonl -o pairs.parquet --threshold 0.8`
    """
    from lookalike import pipeline
    from lookalike.api import make_settings
    from lookalike.cli import progress
    from lookalike.config import Resources
    from lookalike.io import writers
    from lookalike.result import Result

    settings = make_settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        bag=bag,
        normalise=normalise,
        sketch=sketch,  # type: ignore[arg-type]
        seed=seed,
        bands=bands,
        rows=rows,
    )
    if output is not None:
        writers.check_target(output, force=force)
    corpus = _read(inputs, against, text, id, settings)
    with progress.shown(quiet=quiet) as tell:
        found = pipeline.find(corpus, settings, Resources(threads=threads), tell)
    result = Result(corpus, settings, found)
    if output is not None:
        writers.write_table(result.pairs, output, force=force)
    if json:
        _print_json(result.as_dict() | {"output": str(output) if output else None})
        return
    typer.echo(result.summary())
    if output is not None:
        typer.echo(f"\nwritten to {output}")
    else:
        _print_pairs(result)


@app.command(cls=Command)
def explain(
    inputs: Annotated[
        Path,
        typer.Argument(metavar="INPUT", help="Where the two items are."),
    ],
    left: Annotated[str, typer.Argument(metavar="ID_A", help="The id of the one item.")],
    right: Annotated[str, typer.Argument(metavar="ID_B", help="The id of the other.")],
    shingle: ShingleOption = "words:5",
    bag: Bag = False,
    text: Text = None,
    id: Id = None,
    normalise: Normalise = "standard",
    json: Json = False,
) -> None:
    """Explain why two items are similar, or are not.

    Example: `lookalike explain news.jsonl 4711 4712`
    """
    from dataclasses import asdict

    from lookalike.api import make_settings
    from lookalike.result import explain_items, position

    settings = make_settings(shingle=shingle, bag=bag, normalise=normalise)
    corpus = _read([inputs], None, text, id, settings)
    where = position(corpus.ids, left), position(corpus.ids, right)
    explanation = explain_items(corpus, settings.shingling, where, (left, right))
    if json:
        _print_json(asdict(explanation))
    else:
        typer.echo(str(explanation))


@app.command(cls=Command)
def plan(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[INPUT...]", help="The collection to plan for; none: a typical one."
        ),
    ] = None,
    threshold: Threshold = "0.8",
    recall: Recall = 0.99,
    shingle: ShingleOption = "words:5",
    bag: Bag = False,
    text: Text = None,
    id: Id = None,
    normalise: Normalise = "standard",
    bands: Bands = None,
    rows: Rows = None,
    threads: Threads = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the S-curve: .png, .svg or .html."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the plan for a collection: bands and rows, what they find, what they cost.

    Example: `lookalike plan news.jsonl --threshold 0.7 --recall 0.95 --plot curve.html`
    """
    from lookalike.api import forecast, make_settings
    from lookalike.cli import progress
    from lookalike.config import Resources
    from lookalike.report import curve

    settings = make_settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        bag=bag,
        normalise=normalise,
        bands=bands,
        rows=rows,
    )
    if plot is not None:
        curve.check_picture(plot)
    corpus = _read(inputs, None, text, id, settings) if inputs else None
    with progress.shown(quiet=quiet) as tell:
        outlook = forecast(settings, corpus, Resources(threads=threads), tell)
    if plot is not None:
        curve.draw(outlook, plot)
    if json:
        _print_json(outlook.as_dict() | {"plot": str(plot) if plot else None})
        return
    typer.echo(outlook.summary() + "\n")
    _print_curve(outlook.table(), float(settings.threshold))
    if plot is not None:
        typer.echo(f"\ndrawn to {plot}")


@app.command(cls=Command)
def demo(
    page: Annotated[
        Path, typer.Option("--page", metavar="FILE", help="Where the HTML page goes.")
    ] = Path("lookalike-demo.html"),
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find near-duplicates in this Python's own standard library.

    Example: `lookalike demo`
    """
    from lookalike import demo as demonstration
    from lookalike.cli import progress

    with progress.shown(quiet=quiet) as tell:
        result, families = demonstration.run(page, threads=threads, progress=tell)
    if json:
        _print_json(result.as_dict() | {"families": len(families), "page": str(page)})
        return
    typer.echo(result.summary() + "\n")
    _print_families(families[:SHOWN_PAIRS])
    typer.echo(f"\n{len(families):,} families in all; the page is {page.absolute().as_uri()}")


# ── Reading ───────────────────────────────────────────────────────────────────────────────────


def _read(
    inputs: list[Path],
    against: list[Path] | None,
    text: str | None,
    id: str | None,
    settings: Settings,
) -> Corpus:
    """Read the inputs and say which columns were taken where they had to be guessed."""
    from lookalike.io import readers

    def read(paths: list[Path]) -> Source:
        source = readers.read(paths, text=text, id=id, unit=settings.shingling.unit)
        if source.columns.guessed:
            _note(str(source.columns))
        return source

    left = read(inputs)
    return readers.join(left, read(against)) if against else left.corpus


# ── Printing ──────────────────────────────────────────────────────────────────────────────────


def _note(message: str) -> None:
    typer.echo(message, err=True)


def _print_json(values: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps(values, indent=2, default=str, ensure_ascii=False))


def _table(*columns: tuple[str, str]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in columns:
        table.add_column(title, justify=justify, overflow="fold")  # type: ignore[arg-type]
    return table


def _print_table(table: Any) -> None:
    from rich.console import Console

    Console(highlight=False, markup=False, emoji=False).print(table)


def _print_pairs(result: Any) -> None:
    import pyarrow.compute as pc

    pairs = result.pairs
    order = pc.sort_indices(pairs, [("similarity", "descending")])[:SHOWN_PAIRS]
    table = _table(("similarity", "right"), ("left", "left"), ("right", "left"))
    for row in pairs.take(order).to_pylist():
        table.add_row(f"{row['similarity']:.4f}", str(row["left"]), str(row["right"]))
    if len(pairs):
        typer.echo("")
        _print_table(table)
    if len(pairs) > SHOWN_PAIRS:
        typer.echo(f"… and {len(pairs) - SHOWN_PAIRS:,} more: write them with -o pairs.parquet")


def _print_curve(rows: list[tuple[float, float]], threshold: float) -> None:
    table = _table(("similarity", "right"), ("found", "right"), ("", "left"))
    for similarity, found in rows:
        mark = " ◀ threshold" if abs(similarity - threshold) < 1e-9 else ""
        table.add_row(f"{similarity:.2f}", f"{found:.6f}", "█" * round(24 * found) + mark)
    _print_table(table)


def _print_families(families: list[Any]) -> None:
    table = _table(("items", "right"), ("similarity", "left"), ("largest families", "left"))
    for family in families:
        span = f"{family.least:.2f}–{family.most:.2f}"
        members = ", ".join(family.members[:3])
        table.add_row(str(len(family.members)), span, members)
    _print_table(table)


def run() -> None:
    """Run the command line."""
    app()
