"""What is kept is copied unchanged, whole or not at all."""

from __future__ import annotations

import csv as python_csv
import datetime as dt
import io
import json
import os
import resource
import tempfile
import tracemalloc
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import compress
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from lookalike.errors import InputError, OutputError, UsageError
from lookalike.io import copying, lines, parquet
from lookalike.io.copying import check_output, copy_rows
from lookalike.io.readers import open_source
from lookalike.naming import ids_of

MARK = b"\xef\xbb\xbf"


def mask(*kept) -> np.ndarray:
    return np.array(kept, np.bool_)


def copied(data: bytes, kept: list[bool], suffix: str, block: int = lines.BLOCK) -> bytes:
    """Return the file that the kept rows of a file make."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(lines, "BLOCK", block):
        source, target = Path(folder, f"in{suffix}"), Path(folder, f"out{suffix}")
        source.write_bytes(data)
        copy_rows([source], mask(*kept), target)
        return target.read_bytes()


def listing(folder: Path) -> dict[str, bytes]:
    """Return everything in a folder, hidden files too."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


# ── CSV ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Lines:
    """A file of lines: what stands before the rows, and each row's bytes and value."""

    start: bytes
    rows: list[bytes]
    values: list
    blanks: list[bytes]
    """What stands before each row, and after the last."""

    @property
    def data(self) -> bytes:
        between = [part for pair in zip(self.blanks, self.rows, strict=False) for part in pair]
        return self.start + b"".join(between) + self.blanks[-1]

    def expected(self, kept: list[bool]) -> bytes:
        return self.start + b"".join(row for row, keep in zip(self.rows, kept, strict=True) if keep)


LINE_ENDS = [b"\n", b"\r\n", b"\r"]
csv_text = st.text(st.sampled_from('ab",\n\r é四 '), max_size=8)


@st.composite
def csv_fields(draw):
    """A field's bytes and value; a quoted field may go on plainly after its closing quote."""
    text = draw(csv_text)
    plain = not text.startswith('"') and not set(text) & set(",\r\n")
    if plain and draw(st.booleans()):
        return text.encode(), text
    tail = draw(st.sampled_from(["", "", "", 'tail"', " "]))
    return ('"' + text.replace('"', '""') + '"' + tail).encode(), text + tail


@st.composite
def csv_files(draw):
    columns = draw(st.integers(1, 3))
    rows, values, blanks = [], [], []
    for _ in range(draw(st.integers(1, 8))):
        fields = draw(st.lists(csv_fields(), min_size=columns, max_size=columns))
        record = b",".join(field for field, _ in fields) or b'""'
        rows.append(record + draw(st.sampled_from(LINE_ENDS)))
        values.append([value for _, value in fields])
        # \n after \r would belong to the row
        blank = st.sampled_from(LINE_ENDS[1:] if rows[-1].endswith(b"\r") else LINE_ENDS)
        blanks.append(draw(st.one_of(st.just(b""), blank)))
    if draw(st.booleans()):
        rows[-1], blanks[-1] = rows[-1].rstrip(b"\r\n"), b""
    header = ",".join(f"c{at}" for at in range(columns)).encode() + draw(st.sampled_from(LINE_ENDS))
    mark = draw(st.sampled_from([b"", MARK]))
    return Lines(mark + header, rows, values, [b"", *blanks])


def masks(n: int):
    return st.lists(st.booleans(), min_size=n, max_size=n)


def csv_values(data: bytes) -> list[list[str]]:
    """Return the rows that pyarrow reads."""
    names = csv.read_csv(
        io.BytesIO(data), parse_options=csv.ParseOptions(newlines_in_values=True)
    ).column_names
    table = csv.read_csv(
        io.BytesIO(data),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
    return [list(row.values()) for row in table.to_pylist()]


@given(st.data(), csv_files(), st.sampled_from([1, 2, 3, 7, 16, 1 << 20]))
def test_csv_records_are_copied_byte_for_byte(data, file, block):
    kept = data.draw(masks(len(file.rows)))
    assert csv_values(file.data) == file.values  # the file is what this test thinks it is
    output = copied(file.data, kept, ".csv", block)
    assert output == file.expected(kept)
    if any(kept):
        assert csv_values(output) == [v for v, k in zip(file.values, kept, strict=True) if k]


def naive_csv_rows(data: bytes) -> list[bytes]:
    """Split CSV into its records, character by character, empty lines left out."""
    rows, start, at, quoted, field_start = [], 0, 0, False, True
    while at < len(data):
        char = data[at : at + 1]
        at += 1
        if quoted:
            if char == b'"' and data[at : at + 1] == b'"':
                at += 1
            elif char == b'"':
                quoted = False
        elif char == b'"' and field_start:
            quoted, field_start = True, False
        elif char in b"\r\n":
            at += char == b"\r" and data[at : at + 1] == b"\n"
            rows.append(data[start:at])
            start, field_start = at, True
        else:
            field_start = char == b","
    rows.append(data[start:])
    return [row for row in rows if row.strip(b"\r\n")]


def count_of_pyarrow(data: bytes) -> int:
    skipped = []
    parse = csv.ParseOptions(
        newlines_in_values=True, invalid_row_handler=lambda row: skipped.append(row) or "skip"
    )
    options = csv.ReadOptions(use_threads=False)
    return len(csv.read_csv(io.BytesIO(data), options, parse)) + len(skipped)


@given(st.data(), st.text(st.sampled_from('"",\r\nx'), max_size=24), st.sampled_from([1, 5, 99]))
def test_any_bytes_are_split_as_pyarrow_and_a_naive_reader_split_them(data, text, block):
    content = b"a\n" + text.encode() + b"x"
    header, *rows = naive_csv_rows(content)
    assert len(rows) == count_of_pyarrow(content)
    kept = data.draw(masks(len(rows)))
    expected = header + b"".join(row for row, keep in zip(rows, kept, strict=True) if keep)
    assert copied(content, kept, ".csv", block) == expected


def test_a_quote_that_is_never_closed_reaches_to_the_end():
    content = b'a,b\n1,2\n3,"x\ny\n'
    assert copied(content, [False, True], ".csv") == b'a,b\n3,"x\ny\n'


def test_a_csv_of_which_nothing_is_kept_has_its_header():
    assert copied(MARK + b'"a ""b""",c\r\n1,2\r\n', [False], ".csv") == MARK + b'"a ""b""",c\r\n'


# ── JSONL ─────────────────────────────────────────────────────────────────────────────────────

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
json_blanks = st.sampled_from([b"", b"", b"\n", b"\r\n", b" \t\r\n\n"])


@st.composite
def jsonl_files(draw):
    rows, values, blanks = [], [], []
    for _ in range(draw(st.integers(1, 8))):
        values.append(draw(st.dictionaries(st.text(max_size=4), json_values, max_size=4)))
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :\r")]))
        text = json.dumps(
            values[-1], ensure_ascii=draw(st.booleans()), separators=separators
        ).encode("utf-8", "surrogatepass")
        indent, space = (
            draw(st.sampled_from([b"", b"", b" \t"])),
            draw(st.sampled_from([b"", b" "])),
        )
        rows.append(indent + text + space + draw(st.sampled_from([b"\n", b"\r\n"])))
        blanks.append(draw(json_blanks))
    if draw(st.booleans()):
        rows[-1], blanks[-1] = rows[-1].removesuffix(b"\n"), b""
    return Lines(draw(st.sampled_from([b"", MARK])), rows, values, [draw(json_blanks), *blanks])


@given(st.data(), jsonl_files(), st.sampled_from([1, 2, 3, 7, 16, 1 << 20]))
def test_jsonl_lines_are_copied_byte_for_byte(data, file, block):
    kept = data.draw(masks(len(file.rows)))
    output = copied(file.data, kept, ".jsonl", block)
    assert output == file.expected(kept)
    lines = output.removeprefix(MARK).split(b"\n")
    values = [json.loads(line.decode("utf-8", "surrogatepass")) for line in lines if line.strip()]
    assert values == [value for value, keep in zip(file.values, kept, strict=True) if keep]


def contents(path: Path) -> list[bytes | None]:
    """Return the contents of all items, as the reader sees them."""
    batches = open_source(path).batches(1 << 20)
    return [text for batch in batches for text in batch.contents.to_pylist()]


def test_a_line_that_is_null_is_a_row_as_it_is_for_pyarrow(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "a"}\nnull\n{"text": "b"}\n')
    assert len(contents(path)) == 3
    copy_rows([path], mask(False, True, True), tmp_path / "y.jsonl")
    assert (tmp_path / "y.jsonl").read_bytes() == b'null\n{"text": "b"}\n'


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b'{"text": "a"} {"text": "b"}\n', 3),
        (b'{"text":\n "a"}\n', 2),
        (b'{"text": "a"}{"text": "b"}\n{"text":\n "c"}\n', 4),  # as many lines as rows
        (b'{"text": "a"}{"text": "b"}\n{"text": "c", "more": {}\n}\n', 4),
        (b'{"text": "a"}{"text": "b"}\n{"text": "c", "more":\n{}}\n', 4),
        (b'{"text": "a"}\r{"text": "b"}\n', 3),
    ],
)
def test_jsonl_whose_lines_are_not_its_rows_is_neither_read_nor_copied(tmp_path, content, rows):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "first"}\n' + content)
    with pytest.raises(InputError, match=r"x\.jsonl, line 2: this is not JSON"):
        contents(path)
    with pytest.raises(InputError, match=r"x\.jsonl has a line that is not|rows"):
        copy_rows([path], np.ones(rows, np.bool_), tmp_path / "y.jsonl")
    assert list(listing(tmp_path)) == ["x.jsonl"]


# ── Lines ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_row_longer_than_a_block_is_copied_and_read_a_few_times_only(monkeypatch, suffix):
    long = b"word " * 200_000
    if suffix == ".csv":
        rows = [b'1,"short"\n', b'2,"' + long.replace(b"o", b"\n") + b'"\r\n', b"3,\n"]
        start, name = b"id,text\n", "CSV"
    else:
        rows = [b'{"id": 1}\n', b'{"text": "' + long + b'"}\r\n', b'{"id": 3}\n']
        start, name = b"", "JSONL"
    scanned, original = [], getattr(lines, name)
    counting = replace(
        original, ends_of=lambda data: scanned.append(len(data)) or original.ends_of(data)
    )
    monkeypatch.setattr(lines, name, counting)
    content = start + b"".join(rows)
    assert copied(content, [False, True, True], suffix, 256) == start + rows[1] + rows[2]
    assert sum(scanned) < 5 * len(content)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_file_is_copied_in_blocks(tmp_path, monkeypatch, suffix):
    row = b'1,"some, text"\n' if suffix == ".csv" else b'{"id": 1, "text": "some text"}\n'
    source = tmp_path / f"x{suffix}"
    n = 20_000_000 // len(row)
    source.write_bytes((b"id,text\n" if suffix == ".csv" else b"") + row * n)
    kept = np.arange(n) % 3 > 0
    monkeypatch.setattr(lines, "BLOCK", 1 << 16)
    tracemalloc.start()
    try:
        copy_rows([source], kept, tmp_path / f"y{suffix}")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000
    assert (tmp_path / f"y{suffix}").read_bytes().count(row) == kept.sum()


# ── Parquet ───────────────────────────────────────────────────────────────────────────────────

MOMENT = dt.datetime(2024, 2, 29, 12, 30, 1, 5)
NAMES = ["low", "high", "mid"]


def rich_table(n: int) -> pa.Table:
    """Every kind of column that Parquet can hold, nulls among the values."""

    def column(make, kind):
        return pa.array([None if at % 7 == 3 else make(at) for at in range(n)], kind)

    levels = pa.DictionaryArray.from_arrays(
        pa.array([at % 2 for at in range(n)], pa.int32()), pa.array(NAMES), ordered=True
    )
    columns = {
        "list": column(lambda at: [at, None], pa.list_(pa.int64())),
        "struct": column(
            lambda at: {"x": at, "y": [{"z": str(at)}]},
            pa.struct([("x", pa.uint16()), ("y", pa.list_(pa.struct([("z", pa.string())])))]),
        ),
        "map": column(lambda at: [("k", at)], pa.map_(pa.string(), pa.int32())),
        "fixed list": column(lambda at: [at, at], pa.list_(pa.float32(), 2)),
        "levels": levels,
        "dotted.name": column(str, pa.dictionary(pa.int32(), pa.large_string())),
        "categories in lists": column(
            lambda at: ["a", str(at)], pa.list_(pa.dictionary(pa.int32(), pa.string()))
        ),
        "decimal": column(lambda at: Decimal(at).scaleb(-2), pa.decimal128(38, 2)),
        "zoned": column(lambda at: MOMENT + dt.timedelta(at), pa.timestamp("ns", "Europe/Berlin")),
        "moment": column(lambda at: MOMENT, pa.timestamp("us")),
        "time": column(lambda at: MOMENT.time(), pa.time64("ns")),
        "duration": column(dt.timedelta, pa.duration("ms")),
        "binary": column(lambda at: bytes([255, at % 256]), pa.large_binary()),
        "fixed": column(lambda at: b"ab", pa.binary(2)),
        "view": column(lambda at: f"a text of more than twelve bytes {at}", pa.string_view()),
        "half": column(float, pa.float16()),
        "nothing": pa.nulls(n),
    }
    required = pa.field("id", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "7"})
    fields = [pa.field(name, column.type) for name, column in columns.items()]
    schema = pa.schema([required, *fields], metadata={"made by": "a test", "ü": "\0"})
    return pa.Table.from_arrays([pa.array(range(n), pa.int64()), *columns.values()], schema=schema)


def rows_of(file: pq.ParquetFile) -> list[dict]:
    """Read group by group, since pyarrow cannot put categories inside of lists together."""
    groups = [file.read_row_group(at) for at in range(file.num_row_groups)]
    return [row for group in groups for row in group.to_pylist()]


def test_every_kind_of_column_survives_with_its_metadata(tmp_path):
    source, target = tmp_path / "x.parquet", tmp_path / "y.parquet"
    pq.write_table(rich_table(500), source, row_group_size=60)
    kept = np.random.default_rng(1).random(500) < 0.6
    copy_rows([source], kept, target)
    before, after = pq.ParquetFile(source), pq.ParquetFile(target)
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert after.schema.equals(before.schema)
    assert after.metadata.metadata[b"made by"] == b"a test"
    expected = [row for row, keep in zip(rows_of(before), kept, strict=True) if keep]
    assert rows_of(after) == expected


cells = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.string(): st.text(max_size=6),
    pa.float64(): st.floats(allow_nan=False),
    pa.list_(pa.string()): st.lists(st.text(max_size=3) | st.none(), max_size=3),
    pa.dictionary(pa.int32(), pa.string()): st.sampled_from("abc"),
}


@st.composite
def tables(draw):
    n = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(list(cells)), min_size=1, max_size=4))
    columns = [
        pa.array(draw(st.lists(cells[kind] | st.none(), min_size=n, max_size=n)), kind)
        for kind in kinds
    ]
    return pa.Table.from_arrays(columns, [f"c{at}" for at in range(len(kinds))])


@given(st.data(), tables(), st.integers(1, 5), st.sampled_from([1, 100, 1 << 20]))
def test_parquet_rows_are_those_of_the_mask(data, table, group, batch):
    kept = data.draw(masks(len(table)))
    stream = io.BytesIO()
    pq.write_table(table, stream, row_group_size=group)
    with mock.patch.object(parquet, "BYTES_PER_BATCH", batch):
        output = copied(stream.getvalue(), kept, ".parquet")
    assert pq.read_table(io.BytesIO(output)).equals(
        pq.read_table(io.BytesIO(stream.getvalue())).filter(pa.array(kept, pa.bool_()))
    )


def test_lists_keep_the_names_that_older_writers_gave_their_items(tmp_path):
    source, target = tmp_path / "x.parquet", tmp_path / "y.parquet"
    pq.write_table(rich_table(9), source, use_compliant_nested_type=False, compression="zstd")
    copy_rows([source], np.arange(9) > 2, target)
    before, after = pq.ParquetFile(source), pq.ParquetFile(target)
    assert after.schema.equals(before.schema)
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)


def test_each_column_keeps_its_compression_and_row_groups_their_size(tmp_path):
    source, target = tmp_path / "x.parquet", tmp_path / "y.pq"
    table = pa.table(
        {"a": range(1000), "b.c": [[str(at)] for at in range(1000)], "d": ["x"] * 1000}
    )
    wanted = {"a": "ZSTD", "b.c.list.element": "GZIP", "d": "UNCOMPRESSED"}
    codecs = {name: codec.replace("UNCOMPRESSED", "NONE") for name, codec in wanted.items()}
    pq.write_table(table, source, compression=codecs, row_group_size=100)
    copy_rows([source], np.arange(1000) % 2 == 0, target)
    metadata = pq.ParquetFile(target).metadata
    group = metadata.row_group(0)
    columns = [group.column(at) for at in range(3)]
    assert {column.path_in_schema: column.compression for column in columns} == wanted
    assert [metadata.row_group(at).num_rows for at in range(5)] == [100] * 5
    assert metadata.num_row_groups == 5


def test_row_groups_stay_within_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BYTES_PER_GROUP", 10_000)
    monkeypatch.setattr(parquet, "BYTES_PER_BATCH", 1_000)
    pq.write_table(pa.table({"a": range(10_000)}), tmp_path / "x.parquet", use_dictionary=False)
    copy_rows([tmp_path / "x.parquet"], np.ones(10_000, np.bool_), tmp_path / "y.parquet")
    metadata = pq.ParquetFile(tmp_path / "y.parquet").metadata
    assert max(metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)) < 1500


@pytest.mark.parametrize("n", [0, 3])
def test_parquet_of_which_nothing_is_kept_has_its_schema(tmp_path, n):
    pq.write_table(rich_table(3).slice(0, n), tmp_path / "x.parquet")
    copy_rows([tmp_path / "x.parquet"], np.zeros(n, np.bool_), tmp_path / "y.parquet")
    before, after = (pq.read_table(tmp_path / name) for name in ("x.parquet", "y.parquet"))
    assert after.num_rows == 0
    assert after.schema.equals(before.schema, check_metadata=True)


def test_the_order_of_categories_survives_and_unused_ones_too(tmp_path):
    values = pd.Categorical(["low", "high"] * 10, categories=NAMES, ordered=True)
    pd.DataFrame({"level": values}).to_parquet(tmp_path / "x.parquet", row_group_size=4)
    copy_rows([tmp_path / "x.parquet"], np.arange(20) % 2 == 1, tmp_path / "y.parquet")
    level = pd.read_parquet(tmp_path / "y.parquet")["level"]
    assert level.tolist() == ["high"] * 10
    assert level.dtype == pd.read_parquet(tmp_path / "x.parquet")["level"].dtype


def test_a_categorical_column_stays_small(tmp_path):
    """Also where row groups that know different categories are put together."""
    groups = [[f"{'long ' * 20}{n}{at % 50}" for at in range(5000)] for n in range(4)]
    schema = pa.schema([("c", pa.dictionary(pa.int32(), pa.string()))])
    with pq.ParquetWriter(tmp_path / "x.parquet", schema, compression="none") as writer:
        for group in groups:
            writer.write_table(pa.table({"c": pa.array(group).dictionary_encode()}))
    kept = np.arange(20_000) % 4 == 0
    copy_rows([tmp_path / "x.parquet"], kept, tmp_path / "y.parquet")
    assert pq.ParquetFile(tmp_path / "y.parquet").num_row_groups == 1
    assert (tmp_path / "y.parquet").stat().st_size < (tmp_path / "x.parquet").stat().st_size


def int96_file(path: Path, moments: list, unit: str) -> None:
    table = pa.table(
        {"t": pa.array(moments, pa.timestamp(unit)), "in": [[each] for each in [*"ab"]]}
    )
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=False)


@pytest.mark.parametrize(
    ("moments", "unit"),
    [
        ([dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)], "us"),
        ([1, 10**18 + 1], "ns"),
    ],
)
def test_old_timestamps_of_spark_survive_however_far_or_fine(tmp_path, moments, unit):
    source, target = tmp_path / "x.parquet", tmp_path / "y.parquet"
    int96_file(source, moments, unit)
    copy_rows([source], mask(True, True), target)
    before, after = (
        pq.ParquetFile(path, coerce_int96_timestamp_unit=unit) for path in (source, target)
    )
    assert after.schema.equals(before.schema)
    assert after.read().to_pylist() == before.read().to_pylist()
    assert pq.read_schema(target).equals(pq.read_schema(source))


def test_old_timestamps_that_are_both_far_and_fine_are_refused(tmp_path):
    int96_file(tmp_path / "1.parquet", [dt.datetime(1, 1, 1), None], "us")
    int96_file(tmp_path / "2.parquet", [1, None], "ns")
    inputs = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    with pytest.raises(InputError, match=r"2\.parquet has INT96 timestamps that are both"):
        copy_rows(inputs, np.ones(4, np.bool_), tmp_path / "y.parquet")
    copy_rows(inputs, np.ones(4, np.bool_), tmp_path / "y")  # each alone is fine


def test_a_column_whose_type_arrow_does_not_know_is_refused(tmp_path):
    source = tmp_path / "x.parquet"
    duckdb.sql(f"copy (select 'a' as text, interval 1 day as span) to '{source}'")
    with pytest.raises(InputError, match=r"the column 'span' of .*cannot be copied unchanged"):
        check_output([source], tmp_path / "y.parquet")


def test_files_of_other_writers_are_copied(tmp_path):
    source, target = tmp_path / "x.parquet", tmp_path / "y.parquet"
    duckdb.sql(
        "copy (select i as id, [i] as l, {'a': 1::utinyint} as s, 1.5::decimal(5, 2) as d, uuid() "
        "as u, now() as t, map {'k': i} as m, '{}'::json as j, 'x'::enum('x') as e "
        f"from range(9) r(i)) to '{source}'"
    )
    copy_rows([source], np.arange(9) > 4, target)
    before, after = (
        duckdb.sql(f"from '{path}' where id > 4").to_arrow_table() for path in (source, target)
    )
    assert after.equals(before)
    assert duckdb.sql(f"from '{target}'").types == duckdb.sql(f"from '{source}'").types


def test_a_damaged_parquet_file_is_named_and_nothing_is_written(tmp_path):
    source = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [str(at) for at in range(1000)]}), source, compression="zstd")
    content = bytearray(source.read_bytes())
    content[100:200] = bytes(100)
    source.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot read .*x\.parquet"):
        copy_rows([source], np.ones(1000, np.bool_), tmp_path / "y.parquet")
    assert list(listing(tmp_path)) == ["x.parquet"]


# ── Several files, folders ────────────────────────────────────────────────────────────────────


def test_several_jsonl_files_become_one_with_an_end_where_a_row_follows(tmp_path):
    (tmp_path / "1.jsonl").write_bytes(MARK + b'{"a": 1}\r\n{"a": 2}')
    (tmp_path / "2.jsonl").write_bytes(MARK + b'\n{"a": 3}\n\n{"a": 4}')
    inputs = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    copy_rows(inputs, mask(True, True, False, True), tmp_path / "y.ndjson")
    expected = MARK + b'{"a": 1}\r\n{"a": 2}\n{"a": 4}'
    assert (tmp_path / "y.ndjson").read_bytes() == expected
    copy_rows(inputs, mask(False, True, False, False), tmp_path / "z.jsonl")
    assert (tmp_path / "z.jsonl").read_bytes() == MARK + b'{"a": 2}'


def test_several_csv_files_become_one_with_one_header(tmp_path):
    (tmp_path / "1.csv").write_bytes(b'a,"b"\r\n1,"x\r\ny"\r\n2,z')
    (tmp_path / "2.csv").write_bytes(MARK + b"a,b\n3,x\n\n4,y\n")
    (tmp_path / "3.csv").write_bytes(b"a,b\r5,x\r")
    inputs = [tmp_path / f"{n}.csv" for n in "123"]
    copy_rows(inputs, mask(True, True, False, True, True), tmp_path / "y.csv")
    expected = b'a,"b"\r\n1,"x\r\ny"\r\n2,z\n4,y\n5,x\r'
    assert (tmp_path / "y.csv").read_bytes() == expected


def test_no_row_can_follow_a_quote_that_is_never_closed(tmp_path):
    (tmp_path / "1.csv").write_bytes(b'a\n"x\n')
    (tmp_path / "2.csv").write_bytes(b"a\n1\n")
    inputs = [tmp_path / "1.csv", tmp_path / "2.csv"]
    with pytest.raises(InputError, match=r"1\.csv opens a quote and never closes it"):
        copy_rows(inputs, mask(True, True), tmp_path / "y.csv")
    copy_rows(inputs[::-1], mask(True, True), tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_bytes() == b'a\n1\n"x\n'


def test_several_parquet_files_become_one_with_the_metadata_of_the_first(tmp_path):
    frames = [pd.DataFrame({"a": pd.Categorical([*text])}) for text in ("xyz", "zw")]
    for at, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{at}.parquet")
    inputs = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    copy_rows(inputs, mask(True, False, True, False, True), tmp_path / "y.parquet")
    assert pd.read_parquet(tmp_path / "y.parquet")["a"].tolist() == ["x", "z", "w"]
    schemas = [pq.read_schema(path) for path in (inputs[0], tmp_path / "y.parquet")]
    assert schemas[0].equals(schemas[1], check_metadata=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_of_different_columns_do_not_fit_one_file(tmp_path, suffix):
    for name, columns in (("1", ["a", "b"]), ("2", ["a", "c"])):
        table = pa.table({column: ["x"] for column in columns})
        write = csv.write_csv if suffix == ".csv" else pq.write_table
        write(table, tmp_path / f"{name}{suffix}")
    inputs = [tmp_path / f"{name}{suffix}" for name in "12"]
    with pytest.raises(InputError, match=rf"2{suffix} does not have .*\(c: string instead"):
        check_output(inputs, tmp_path / f"y{suffix}")
    copy_rows(inputs, mask(True, True), tmp_path / "y")
    assert set(listing(tmp_path / "y")) == {f"1{suffix}", f"2{suffix}"}


def test_a_folder_of_tables_becomes_a_folder_of_tables(tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "b.jsonl").write_bytes(b'{"b": 1}\n{"b": 2}\n')
    (tmp_path / "in" / "sub" / "a.ndjson").write_bytes(b'{"s": 1}')
    (tmp_path / "in" / ".hidden.jsonl").write_bytes(b"not a row")
    (tmp_path / "more.jsonl").write_bytes(b'{"m": 1}\r\n{"m": 2}\r\n')
    kept = mask(False, True, False, True, False)
    copy_rows([tmp_path / "in", tmp_path / "more.jsonl"], kept, tmp_path / "out")
    assert listing(tmp_path / "out") == {
        "b.jsonl": b'{"b": 2}\n',
        "sub/a.ndjson": b"",
        "more.jsonl": b'{"m": 1}\r\n',
    }


def test_a_folder_of_texts_becomes_a_folder_of_the_kept_texts(tmp_path):
    texts = {"a.txt": b"caf\xe9\r\n", "deep/er/b": b"", "deep/c.md": b"x" * 100, "z.csv": b"a,b"}
    for at, (name, content) in enumerate(texts.items()):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, ns=(10**18, 10**18 + at * 1_000_000_001))
    (tmp_path / "in" / "deep" / "c.md").chmod(0o400)
    names = ids_of(open_source(tmp_path / "in")).to_pylist()
    kept = [name in ("a.txt", "deep/c.md") for name in names]
    copy_rows([tmp_path / "in"], mask(*kept), tmp_path / "out")
    assert listing(tmp_path / "out") == {name: texts[name] for name in ("a.txt", "deep/c.md")}
    for name in ("a.txt", "deep/c.md"):
        before, after = ((tmp_path / folder / name).stat() for folder in ("in", "out"))
        assert (after.st_mtime_ns, after.st_mode) == (before.st_mtime_ns, before.st_mode)
    assert not (tmp_path / "out" / "deep" / "er").exists()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_what_is_copied_is_what_was_read(tmp_path, suffix):
    texts = ["", 'a "quoted",\r\nline', "plain", '"', "四 五\n\n", " ", "end"]
    rows = [{"id": str(at), "text": text} for at, text in enumerate(texts)]
    source, target = tmp_path / f"x{suffix}", tmp_path / f"y{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), source, row_group_size=2)
    elif suffix == ".jsonl":
        source.write_text("\n\n".join(map(json.dumps, rows)))
    else:
        with source.open("w", newline="") as file:
            writer = python_csv.DictWriter(file, ["id", "text"])
            writer.writeheader()
            writer.writerows(rows)
    ids, texts = ids_of(open_source(source)).to_pylist(), contents(source)
    for n in range(2 ** len(texts)):
        kept = mask(*(n >> at & 1 for at in range(len(texts))))
        if not kept.any() and suffix == ".jsonl":
            continue  # an empty file is refused by the reader
        copy_rows([source], kept, target, force=True)
        assert ids_of(open_source(target)).to_pylist() == list(compress(ids, kept))
        assert contents(target) == list(compress(texts, kept))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_bytes_depend_on_the_input_and_the_mask_alone(tmp_path, monkeypatch, suffix):
    source = write_rows(tmp_path / f"x{suffix}", 3000)
    kept = np.random.default_rng(2).random(3000) < 0.5
    copy_rows([source], kept, tmp_path / f"1{suffix}")
    if suffix != ".parquet":
        monkeypatch.setattr(lines, "BLOCK", 1000)
    copy_rows([source], kept, tmp_path / f"2{suffix}")
    one, two = ((tmp_path / f"{n}{suffix}").read_bytes() for n in "12")
    assert one == two


# ── Refusals ──────────────────────────────────────────────────────────────────────────────────


def write_rows(path: Path, n: int) -> Path:
    """Write `n` rows that do not compress well; a path without extension is a folder of texts."""
    texts = [os.urandom(40).hex() for _ in range(n)]
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"text": texts}), path, row_group_size=max(n // 4, 1))
    elif path.suffix == ".csv":
        path.write_text("text\n" + "".join(f"{text}\n" for text in texts))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    else:
        path.mkdir()
        for at, text in enumerate(texts):
            (path / f"{at}.txt").write_text(text * 1000)
    return path


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "x.jsonl", "x.parquet", "texts", "tables/x.csv", "tables/y.csv"):
        write_rows(Path(name), 2)
    write_rows(Path("other/x.csv"), 2)
    write_rows(Path("mixed/x.csv"), 1)
    write_rows(Path("mixed/x.jsonl"), 1)
    Path("clash/0.txt").mkdir(parents=True)
    Path("clash/0.txt/file.txt").write_text("x")
    Path("old").mkdir()
    Path("old.csv").write_text("old")
    Path("link.csv").symlink_to("x.csv")
    Path("links").mkdir()
    Path("links/x.csv").symlink_to(Path("tables/x.csv").absolute())
    Path("folder.csv").mkdir()
    Path("file").write_text("old")
    return tmp_path


REFUSED = [
    (["x.csv"], "y.jsonl", UsageError, r"y.jsonl is jsonl, but the inputs are csv .*\.csv or name"),
    (["x.parquet"], "y.csv", UsageError, "is csv, but the inputs are parquet"),
    (["x.csv", "x.jsonl"], "y", UsageError, r"different formats: csv \(x.csv\), jsonl \(x.jsonl\)"),
    (["mixed"], "y", UsageError, "different formats"),
    (["texts", "x.csv"], "y", UsageError, "different formats: text .*, csv"),
    (["texts"], "y.csv", UsageError, "name a folder for them instead of y.csv"),
    ([], "y.csv", UsageError, "no inputs"),
    (["x.csv"], "x.csv", UsageError, "is the input x.csv or inside it"),
    (["link.csv"], "x.csv", UsageError, "is the input link.csv or inside it"),
    (["tables"], "tables", UsageError, "or inside it"),
    (["tables"], "tables/z.csv", UsageError, "or inside it"),
    (["tables"], "tables/deep", UsageError, "or inside it"),
    (["tables/x.csv"], "tables", UsageError, "tables/x.csv is inside the output tables"),
    (["links"], "tables", UsageError, "links/x.csv is inside the output tables"),
    (["tables", "other"], "y", UsageError, "tables/x.csv and other/x.csv would both be"),
    (["x.csv", "other/x.csv"], "y", UsageError, "x.csv and other/x.csv would both be"),
    (["texts", "clash"], "y", UsageError, "cannot be a file and a folder"),
    (["other"], "..", UsageError, "is inside the output"),
    (["missing.csv"], "y.csv", InputError, "does not exist"),
    (["x.csv"], "no/y.csv", OutputError, "no does not exist"),
    (["x.csv"], "no/y", OutputError, "no does not exist"),
    (["x.csv"], "folder.csv", OutputError, "is a folder"),
    (["x.csv"], "file", OutputError, "is a file: name a folder"),
]
EXISTING = [(["x.csv"], "old.csv"), (["x.csv"], "old"), (["texts"], "old")]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(("given", "output", "kind", "message"), REFUSED)
def test_what_cannot_work_is_refused_before_any_work(inputs, given, output, kind, message, force):
    before = listing(inputs)
    paths = [Path(name) for name in given]
    with pytest.raises(kind, match=message):
        check_output(paths, Path(output), force=force)
    with pytest.raises(kind, match=message):
        copy_rows(paths, mask(True, True), Path(output), force=force)
    assert listing(inputs) == before


@pytest.mark.parametrize(("given", "output"), EXISTING)
def test_an_existing_output_is_kept_unless_forced(inputs, given, output):
    paths = [Path(name) for name in given]
    with pytest.raises(OutputError, match=r"exists already: .*--force"):
        check_output(paths, Path(output))
    check_output(paths, Path(output), force=True)


def test_the_current_folder_is_never_replaced(inputs, monkeypatch):
    source = Path("x.csv").absolute()
    monkeypatch.chdir(inputs / "old")
    with pytest.raises(UsageError, match="contains the current folder"):
        check_output([source], Path(), force=True)


def test_a_place_without_permission_is_refused(inputs, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for output in ("y", "y.csv"):
        with pytest.raises(OutputError, match="no permission to write into"):
            check_output([Path("x.csv")], Path(output))


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "texts"])
def test_a_mask_of_another_length_is_refused(inputs, name, n):
    before = listing(inputs)
    output = Path("y").with_suffix(Path(name).suffix)
    with pytest.raises(InputError, match=r"rows.* were read"):
        copy_rows([Path(name)], np.ones(n, np.bool_), output)
    assert listing(inputs) == before


@pytest.mark.parametrize("name", ["tables", "texts"])
def test_files_that_changed_since_they_were_read_are_refused(inputs, name):
    """Also where the rows are as many in sum: one more here, one less there."""
    source = open_source(Path(name))
    before = source.fingerprint()
    copy_rows([Path(name)], np.ones(len(contents(Path(name))), np.bool_), Path("y"), read=before)
    first, second = source.files
    first.path.write_bytes(first.path.read_bytes() + b"more\n")
    second.path.write_bytes(second.path.read_bytes()[:-41])
    with pytest.raises(InputError, match=f"{first.path} has changed since it was read"):
        copy_rows([Path(name)], mask(*[True] * 4), Path("z"), read=before)
    second.path.unlink()
    with pytest.raises(InputError, match="there are 1 files, but 2 were read"):
        copy_rows([Path(name)], mask(*[True] * 4), Path("z"), read=before)
    assert not Path("z").exists()


def test_an_input_that_vanishes_is_named(inputs, monkeypatch):
    """Not the output, whose disk is fine."""

    def vanish(path, *args, **kwargs):
        raise FileNotFoundError(2, "No such file or directory", str(path))

    for name, module, reading in (("texts", copying, "_blocks"), ("x.csv", lines, "blocks")):
        original = getattr(module, reading)

        def broken(path, *args, original=original, **kwargs):
            with mock.patch.object(Path, "open", vanish):
                yield from original(path, *args, **kwargs)

        monkeypatch.setattr(module, reading, broken)
        with pytest.raises(InputError, match=f"cannot read {name}.*: No such file"):
            copy_rows([Path(name)], mask(True, True), Path("y"))
        assert not [name for name in listing(inputs) if ".part" in name]


# ── All or nothing ────────────────────────────────────────────────────────────────────────────


@contextmanager
def small_files_only(size: int):
    """Let the system refuse to write beyond so many bytes of a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def interruption():
    """Press Ctrl-C in the middle of the copy."""
    original, calls = copying._Decisions.take, []

    def take(self, n, path):
        calls.append(path)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, n, path)

    with mock.patch.object(copying._Decisions, "take", take):
        yield


def old_folder(path: Path) -> Path:
    path.mkdir()
    (path / "old.txt").write_text("old")
    return path


@pytest.mark.parametrize(
    ("source", "output"),
    [(f"in{suffix}", f"out{suffix}") for suffix in (".csv", ".jsonl", ".parquet")]
    + [(f"in{suffix}", "out") for suffix in (".csv", ".jsonl", ".parquet", "")],
)
@pytest.mark.parametrize(
    ("failing", "kind", "message"),
    [
        (lambda: small_files_only(30_000), OutputError, "cannot write .*out.*: .*too large"),
        (interruption, KeyboardInterrupt, None),
    ],
    ids=["disk", "ctrl-c"],
)
def test_a_failure_leaves_the_old_output_and_no_half_one(
    tmp_path, monkeypatch, source, output, failing, kind, message
):
    monkeypatch.setattr(lines, "BLOCK", 10_000)
    monkeypatch.chdir(tmp_path)
    n = 2000 if Path(source).suffix else 5
    inputs, target = [write_rows(Path(source), n)], Path(output)
    _ = target.write_text("old") if target.suffix else old_folder(target)
    before = listing(tmp_path)
    with failing(), pytest.raises(kind, match=message):
        copy_rows(inputs, np.ones(n, np.bool_), target, force=True)
    assert listing(tmp_path) == before
    copy_rows(inputs, np.ones(n, np.bool_), target, force=True)
    after = listing(tmp_path)
    assert after != before
    assert not [name for name in after if ".part" in name or "old" in name]


@pytest.mark.parametrize("failure", [PermissionError(13, "Permission denied"), KeyboardInterrupt()])
def test_a_failure_in_the_last_moment_puts_the_old_folder_back(tmp_path, monkeypatch, failure):
    source, output = write_rows(tmp_path / "in.csv", 3), old_folder(tmp_path / "out")
    before, original = listing(tmp_path), Path.rename

    def rename(self, target):
        if self.suffix == ".part":
            raise failure
        return original(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    kind = OutputError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(kind):
        copy_rows([source], mask(True, True, True), output, force=True)
    assert listing(tmp_path) == before


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    source = write_rows(tmp_path / "in.csv", 1)
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    copy_rows([source], mask(True), tmp_path / "out", force=True)
    assert (tmp_path / "out").is_symlink()
    assert listing(tmp_path / "real") == {"in.csv": source.read_bytes()}
