"""How fast each stage is, on real text, with one thread and with all.

    python benchmarks/stages.py [INPUT.jsonl]

The text is Reuters-21578 where the public data sets are present (``$LOOKALIKE_DATA`` or
``../shared/data``) and Python's standard library elsewhere, repeated with small changes up to about
100 MB. Times on a shared machine say little by themselves: compare the columns of one run.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pyarrow as pa

from lookalike import demo, pipeline
from lookalike.config import Resources, Settings
from lookalike.io import readers
from lookalike.pipeline import Inputs

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))
TARGET = 100_000_000


def real_texts() -> list[str]:
    if len(sys.argv) > 1:
        path = Path(sys.argv[1])
    else:
        path = DATA / "reuters-21578" / "reuters_first9000.jsonl"
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line in lines]
    return demo.standard_library()["text"].to_pylist()


def collection() -> Inputs:
    texts = real_texts()
    size = sum(map(len, texts))
    copies = max(1, round(TARGET / size))
    changed = [text.replace(" the ", f" the{copy} ") for copy in range(copies) for text in texts]
    return Inputs((readers.open_source(changed),))


def seconds_of_stages(inputs: Inputs, threads: int) -> dict[str, float]:
    """Return the wall time from each stage's end to the next one's."""
    marks: list[tuple[str, float]] = [("start", time.perf_counter())]

    def note(stage: str, done: int, total: int) -> None:
        if done == total:
            marks.append((stage, time.perf_counter()))

    found = pipeline.search(inputs, Settings(), threads, progress=note)
    print(f"{threads} threads: {found.plan}, {found.candidates:,} candidates", file=sys.stderr)
    return {stage: at - marks[i][1] for i, (stage, at) in enumerate(marks[1:])}


def main() -> None:
    items = collection()
    megabytes = items.sources[0].size / 1e6
    print(f"{megabytes:.0f} MB of text")
    cores = Resources().workers
    one = seconds_of_stages(items, 1)
    many = seconds_of_stages(items, cores)
    print(f"{'stage':<12}{'1 thread':>16}{f'{cores} threads':>16}{'speed-up':>10}")
    for stage in [*one, "all"]:
        alone = sum(one.values()) if stage == "all" else one[stage]
        shared = sum(many.values()) if stage == "all" else many[stage]
        rates = f"{megabytes / alone:>11,.0f} MB/s{megabytes / shared:>11,.0f} MB/s"
        print(f"{stage:<12}{rates}{alone / shared:>9.1f}×")


if __name__ == "__main__":
    pa.set_cpu_count(Resources().workers)
    main()
