"""The commands: find, cluster, dedup, explain, plan, runs, demo.

Results go to standard output, everything else to standard error.

Exit codes: 0 done, 1 a defect of lookalike, 2 wrong usage, 3 unreadable input, 4 unwritable output,
130 interrupted.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.commands import Command
from lookalike.cli.options import (
    EngineOptions,
    RunOptions,
    SearchOptions,
    TextOptions,
    as_options,
    takes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.api import Run
    from lookalike.pipeline import Inputs

SHOWN = 10
CONTEXT = 12  # words shown at each end of what two texts share

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
Force = Annotated[bool, typer.Option("--force", help="Replace an existing output.")]
Keep = Annotated[
    str,
    typer.Option(
        "--keep",
        metavar="POLICY",
        help="first, longest, shortest, max:COL, min:COL or source:COL=A,B,C.",
    ),
]
Check = Annotated[
    int,
    typer.Option(
        "--check", metavar="N", min=0, help="Compare N sampled items with all, by brute force."
    ),
]


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
@takes(search=SearchOptions, texts=TextOptions, engine=EngineOptions, run=RunOptions)
def find(
    inputs: Input,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Pairs: .parquet, .csv or .jsonl."),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="INPUT...",
            help="Only pairs of an INPUT item with one of these; takes all paths behind it.",
        ),
    ] = None,
    max_pairs: Annotated[
        int, typer.Option("--max-pairs", metavar="N", min=1, help="Refuse to list more pairs.")
    ] = 100_000_000,
    compact: Annotated[
        bool, typer.Option("--compact", help="Each exact copy only with the first of its kind.")
    ] = False,
    check: Check = 0,
    force: Force = False,
    *,
    search: SearchOptions,
    texts: TextOptions,
    engine: EngineOptions,
    run: RunOptions,
) -> None:
    """Find every pair of similar items.

    Example: `lookalike find news.jsonl -o pairs.parquet --threshold 0.8`
    """
    from dataclasses import asdict

    from lookalike.io import copying, writers
    from lookalike.result import Result

    with _running(search, texts, engine, run) as job:
        if output is not None:
            writers.check_target(output, force=force)
            copying.check_apart([*inputs, *(against or [])], output)
        opened = _open(job, inputs, against, across=bool(against))
        place = output or Path("find")
        with job.search(opened, place, most_pairs=max_pairs, compact=compact) as found:
            result = Result(found, max_pairs, compact)
            told = result.as_dict()
            checked = result.check(check) if check else None
            if output is not None:
                writers.write_batches(
                    result.rows.schema, result.rows.batches(), output, force=force
                )
    if run.json:
        told |= {"check": asdict(checked)} if checked else {}
        _print_json(told | {"output": _named(output)})
        return
    typer.echo(result.summary())
    if checked is not None:
        typer.echo(f"{'checked':<16}  {checked}")
    if output is not None:
        typer.echo(f"\nwritten to {output}")
    else:
        _print_pairs(result.most_similar(SHOWN), len(result))


@app.command(cls=Command)
@takes(search=SearchOptions, texts=TextOptions, engine=EngineOptions, run=RunOptions)
def cluster(
    inputs: Input,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Clusters: .parquet, .csv or .jsonl."),
    ] = None,
    mode: Annotated[
        str, typer.Option("--mode", metavar="MODE", help="components or witnessed.")
    ] = "components",
    keep: Keep = "first",
    force: Force = False,
    *,
    search: SearchOptions,
    texts: TextOptions,
    engine: EngineOptions,
    run: RunOptions,
) -> None:
    """Tell which items belong together.

    Example: `lookalike cluster news.jsonl -o clusters.parquet --mode witnessed`
    """
    from lookalike.config import Keep as Policy
    from lookalike.io import copying, writers
    from lookalike.result import (
        asked_and_done,
        check_mode,
        describe,
        lines,
        make_clusters,
        recall_dict,
    )
    from lookalike.result import recall_line as line

    with _running(search, texts, engine, run) as job:
        policy = Policy.parse(keep)
        check_mode(mode)
        if output is not None:
            writers.check_target(output, force=force)
            copying.check_apart(inputs, output)
        with job.search(_open(job, inputs), output or Path("cluster")) as found:
            clusters = make_clusters(found, mode, policy)
            if output is not None:
                writers.write_batches(
                    clusters.rows.schema, clusters.rows.batches(), output, force=force
                )
    if run.json:
        told = describe(found) | clusters.as_dict() | recall_dict(clusters.recall)
        _print_json(told | {"output": _named(output)})
        return
    typer.echo(lines(asked_and_done(found)))
    typer.echo(clusters.summary())
    typer.echo(lines([("recall", line(clusters.recall))]))
    if output is not None:
        typer.echo(f"\nwritten to {output}")


@app.command(cls=Command)
@takes(search=SearchOptions, texts=TextOptions, engine=EngineOptions, run=RunOptions)
def dedup(
    inputs: Input,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The kept rows: a file of the input's format, or a folder.",
        ),
    ] = None,
    keep: Keep = "first",
    protect: Annotated[
        list[Path] | None,
        typer.Option(
            "--protect",
            metavar="INPUT...",
            help="Items that stay and remove others; takes all paths behind it.",
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="INPUT...",
            help="Remove only what is similar to one of these; takes all paths behind it.",
        ),
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(
            "--manifest", metavar="FILE", help="What was removed: id, witness, similarity, reason."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be kept and removed.")
    ] = False,
    force: Force = False,
    *,
    search: SearchOptions,
    texts: TextOptions,
    engine: EngineOptions,
    run: RunOptions,
) -> None:
    """Keep one of each set of similar items; every removal has a witness that is kept.

    Example: `lookalike dedup news.jsonl -o clean.jsonl --keep longest --manifest removed.parquet`
    """
    from lookalike.config import Keep as Policy
    from lookalike.errors import UsageError
    from lookalike.io import copying, writers
    from lookalike.result import asked_and_done, describe, lines, make_decisions, recall_dict
    from lookalike.result import recall_line as line

    if output is None and not dry_run:
        raise UsageError(
            "say where the kept rows go (-o OUT), or that none shall be written (--dry-run)"
        )
    if protect and against:
        raise UsageError("give either --protect (it also removes within INPUT) or --against")
    with _running(search, texts, engine, run) as job:
        policy = Policy.parse(keep)
        if output is not None and not dry_run:
            copying.check_output(inputs, output, force=force)
            copying.check_apart([*(protect or []), *(against or [])], output)
        if manifest is not None:
            writers.check_target(manifest, force=force)
            copying.check_apart([*inputs, *(protect or []), *(against or [])], manifest)
            if output is not None:
                copying.check_apart([output], manifest)
        opened = _open(job, inputs, protect or against, across=bool(against))
        before = opened.fingerprints[0]
        writes = 0 if dry_run else opened.sources[0].size
        with job.search(opened, output or manifest or Path("dedup"), writes=writes) as found:
            decisions = make_decisions(found, policy)
            with ExitStack() as stack:  # both have their names only when both are complete
                if manifest is not None:
                    rows = decisions.rows
                    stack.enter_context(
                        writers.written(rows.schema, rows.batches(), manifest, force=force)
                    )
                if output is not None and not dry_run:
                    copying.copy_rows(inputs, decisions.stays, output, force=force, read=before)
    written = None if dry_run else output
    if run.json:
        told = describe(found) | decisions.as_dict() | recall_dict(decisions.recall)
        _print_json(told | {"output": _named(written), "manifest": _named(manifest)})
        return
    typer.echo(lines(asked_and_done(found)))
    typer.echo(decisions.summary())
    typer.echo(lines([("recall", line(decisions.recall))]))
    typer.echo("\nnothing was written (dry run)" if dry_run else f"\nwritten to {output}")
    if manifest is not None:
        typer.echo(f"the manifest is {manifest}")


@app.command(cls=Command)
@takes(texts=TextOptions)
def explain(
    inputs: Annotated[Path, typer.Argument(metavar="INPUT", help="Where the two items are.")],
    left: Annotated[str, typer.Argument(metavar="ID_A", help="The id of the one item.")],
    right: Annotated[
        str | None,
        typer.Argument(metavar="[ID_B]", help="The id of the other; with --manifest, its witness."),
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option("--manifest", metavar="FILE", help="What a dedup removed, with witnesses."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    *,
    texts: TextOptions,
) -> None:
    """Explain why two items are similar, or are not, or why one of them was removed.

    Example: `lookalike explain news.jsonl 4711 4712`
    """
    from dataclasses import asdict

    from lookalike.errors import UsageError
    from lookalike.naming import ids_of, position
    from lookalike.result import explain_items

    removal: dict[str, Any] = {}
    if manifest is not None:
        removal = _removal(manifest, left)
        right = right or str(removal["witness"])
    if right is None:
        raise UsageError("name the other item too, or the manifest of a dedup (--manifest FILE)")
    with _running(texts) as job:
        (source,) = _open(job, [inputs]).sources
        ids = ids_of(source)
        where = position(ids, left), position(ids, right)
        explanation = explain_items(source, job.settings.shingling, where, (left, right))
    if json:
        _print_json(asdict(explanation) | ({"removal": removal} if removal else {}))
        return
    if removal:
        score = f"similarity {removal['similarity']:.6g}"
        typer.echo(f"{left} was removed: {removal['reason']}; its witness {right} stays ({score})")
    typer.echo(str(explanation) + "\n")
    _print_alignment(explanation.alignment)


def _removal(manifest: Path, id: str) -> dict[str, Any]:
    """Return what a manifest says of an item."""
    from lookalike.io import readers
    from lookalike.naming import ids_of, position

    source = readers.open_source([manifest], text="reason", id="id")
    at = position(ids_of(source), id)
    columns = ("witness", "similarity", "reason")
    return {name: source.column(name)[at].as_py() for name in columns}


@app.command(cls=Command)
@takes(search=SearchOptions, texts=TextOptions, engine=EngineOptions, run=RunOptions)
def plan(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[INPUT...]", help="The collection to plan for; none: a typical one."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the S-curve: .png, .svg or .html."),
    ] = None,
    *,
    search: SearchOptions,
    texts: TextOptions,
    engine: EngineOptions,
    run: RunOptions,
) -> None:
    """Show the plan for a collection: bands and rows, what they find, what they cost.

    Example: `lookalike plan news.jsonl --threshold 0.7 --recall 0.95 --plot curve.html`
    """
    from lookalike.report import curve

    with _running(search, texts, engine, run) as job:
        if plot is not None:
            curve.check_picture(plot)
        forecast = job.forecast(_open(job, inputs) if inputs else None, Path("plan"))
    if plot is not None:
        curve.draw(forecast, plot)
    if run.json:
        _print_json(forecast.as_dict() | {"plot": _named(plot)})
        return
    typer.echo(forecast.summary() + "\n")
    _print_curve(forecast.table(), float(job.settings.threshold))
    if plot is not None:
        typer.echo(f"\ndrawn to {plot}")


@app.command(cls=Command)
def runs(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR...]", help="Run directories, or folders with some; none: here."
        ),
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove those that no process works in.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List the run directories of the disk engine: what they hold, how far they are.

    Example: `lookalike runs --clean`
    """
    from dataclasses import asdict

    from lookalike.engines import running
    from lookalike.errors import InputError, LookalikeError

    try:
        for folder in folders or []:
            if not folder.is_dir():
                raise InputError(f"{folder} is no folder")
        found = running.look_around(folders or [Path()])
        if clean:
            found = [each for each in found if not each.busy]
            for each in found:
                running.clean(each)
    except LookalikeError:
        raise
    except OSError as error:
        where = error.filename or "the run directories"
        raise InputError(f"cannot look at {where}: {error.strerror or error}") from error
    if json:
        _print_json({"runs": [asdict(each) for each in found], "removed": clean})
    elif not found:
        typer.echo("there are no run directories here")
    elif len(found) == 1 and found[0].folder in (folders or []) and not clean:
        _print_run(found[0])
    else:
        _print_runs(found, "removed" if clean else "")


@app.command(cls=Command)
@takes(run=RunOptions)
def demo(
    page: Annotated[
        Path, typer.Option("--page", metavar="FILE", help="Where the HTML page goes.")
    ] = Path("lookalike-demo.html"),
    *,
    run: RunOptions,
) -> None:
    """Find near-duplicates in this Python's own standard library.

    Example: `lookalike demo`
    """
    from lookalike import demo as demonstration

    with _running(run) as job:
        result, families = demonstration.run(page, threads=run.threads, progress=job.progress)
    if run.json:
        _print_json(result.as_dict() | {"families": len(families), "page": str(page)})
        return
    typer.echo(result.summary() + "\n")
    _print_families(families[:SHOWN])
    typer.echo(f"\n{len(families):,} families in all; the page is {page.absolute().as_uri()}")


# ── Running ───────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _running(*groups: Any) -> Iterator[Run]:
    """Give a run with the options of some groups, and show its progress while it lasts."""
    from lookalike.api import Run
    from lookalike.cli import progress

    options = as_options(*groups)
    options.pop("json", None)
    quiet = options.pop("quiet", False)
    with progress.shown(quiet=quiet) as tell:
        job = Run.of({**options, "progress": tell})  # type: ignore[typeddict-item]
        if not quiet:
            job.note = _note
        yield job
    if not quiet:
        _print_spent(job)


def _open(
    job: Run, inputs: list[Path], other: list[Path] | None = None, *, across: bool = False
) -> Inputs:
    """Open the inputs and say which columns were taken where they had to be guessed."""
    from lookalike.io import copying

    if job.resources.work_dir is not None:
        copying.check_apart([*inputs, *(other or [])], job.resources.work_dir, "work directory")
    opened = job.open(inputs, other or None, across=across)
    for source in opened.sources:
        if source.columns.guessed:  # type: ignore[attr-defined]
            _note(str(source.columns))  # type: ignore[attr-defined]
    return opened


# ── Printing ──────────────────────────────────────────────────────────────────────────────────


def _note(message: str) -> None:
    typer.echo(message, err=True)


def _print_spent(job: Run) -> None:
    """Say on standard error where the time and the bytes of a run on disk went."""
    from rich.console import Console

    from lookalike.forecast import readable_bytes

    spent = [] if job.running is None else job.running.spent
    if not spent:
        return
    table = _table(
        ("stage", "left"),
        ("seconds", "right"),
        ("written", "right"),
        ("units", "right"),
        ("", "left"),
    )
    for each in spent:
        known = f"{each.resumed:,} were done before" if each.resumed else ""
        known += f", {each.repaired:,} damaged and done again" if each.repaired else ""
        units = f"{each.done + each.resumed:,}" if each.done + each.resumed else ""
        written = readable_bytes(each.bytes) if each.bytes else ""
        table.add_row(each.stage, f"{each.seconds:.1f}", written, units, known)
    seconds, total = sum(each.seconds for each in spent), sum(each.bytes for each in spent)
    table.add_row("all", f"{seconds:.1f}", readable_bytes(total), "", "")
    Console(stderr=True, highlight=False, markup=False, emoji=False).print(table)


def _print_runs(found: list[Any], done: str) -> None:
    from lookalike.forecast import readable_bytes

    table = _table(
        ("run directory", "left"), ("size", "right"), ("state", "left"), ("input", "left")
    )
    for each in found:
        table.add_row(str(each.folder), readable_bytes(each.bytes), done or each.state, each.inputs)
    _print_table(table)


def _print_run(found: Any) -> None:
    from lookalike.forecast import readable_bytes
    from lookalike.result import lines

    description = found.description or {}
    settings = description.get("settings", {})
    rows = [
        ("run directory", str(found.folder)),
        ("state", found.state),
        ("size", readable_bytes(found.bytes)),
        ("input", found.inputs),
        ("made by", f"lookalike {description.get('lookalike', '?')}"),
        ("settings", ", ".join(f"{name} {value}" for name, value in settings.items())),
    ]
    typer.echo(lines(rows) + "\n")
    table = _table(("stage", "left"), ("units done", "right"), ("", "left"))
    for stage, (units, finished) in found.stages.items():
        table.add_row(stage, f"{units:,}", "finished" if finished else "begun")
    _print_table(table)


def _named(path: Path | None) -> str | None:
    return None if path is None else str(path)


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


def _print_pairs(pairs: Any, total: int) -> None:
    table = _table(("similarity", "right"), ("left", "left"), ("right", "left"))
    for row in pairs.to_pylist():
        table.add_row(f"{row['similarity']:.4f}", str(row["left"]), str(row["right"]))
    if total:
        typer.echo("")
        _print_table(table)
    if total > len(pairs):
        typer.echo(f"… and {total - len(pairs):,} more: write them with -o pairs.parquet")


def _print_alignment(stretches: list[Any]) -> None:
    """Print two texts as one: [-only in the left-] {+only in the right+}, long agreement cut."""
    marks = {"both": ("", "", None), "left": ("[-", "-]", "red"), "right": ("{+", "+}", "green")}
    parts = []
    for stretch in stretches:
        before, after, colour = marks[stretch.kind]
        words = stretch.words
        if stretch.kind == "both" and len(words) > 2 * CONTEXT:
            words = [*words[:CONTEXT], f"… {len(words) - 2 * CONTEXT} words …", *words[-CONTEXT:]]
        parts.append(typer.style(f"{before}{' '.join(words)}{after}", fg=colour))
    typer.echo(" ".join(parts))


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
