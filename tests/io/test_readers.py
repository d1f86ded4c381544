"""Whatever a user brings becomes ids and contents, in batches that can be read again."""

from __future__ import annotations

import csv as python_csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import InputError, UsageError
from lookalike.io import formats, lines, sources
from lookalike.io.files import fingerprint
from lookalike.io.readers import open_source

if TYPE_CHECKING:
    from lookalike.data import Batch

ROWS = [
    {"id": "a", "text": "one, “two” three", "extra": 1},
    {"id": "b", "text": 'with "quotes",\ncommas and\r\nlines', "extra": 2},
    {"id": "ç", "text": "", "extra": 3},
    {"id": "d", "text": "四 五 🙂", "extra": 4},
]


@pytest.fixture
def written(tmp_path):
    """The same rows in every format."""
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table, tmp_path / "rows.parquet")
    pd.DataFrame(ROWS).to_csv(tmp_path / "rows.csv", index=False)
    lines = [json.dumps(row) for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def contents(source, size: int = 1 << 20) -> list[bytes | None]:
    return [item for batch in source.batches(size) for item in batch.contents.to_pylist()]


def ids(source) -> list:
    """Return the ids, or row numbers where there are none."""
    batches = list(source.batches(1 << 20))
    if batches[0].ids is None:
        return list(range(sum(len(batch.contents) for batch in batches)))
    return [id for batch in batches for id in batch.ids.to_pylist()]


EXPECTED = [row["text"].encode() for row in ROWS]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.jsonl"])
def test_every_format_gives_the_same_corpus(written, name):
    source = open_source(str(written / name))
    assert contents(source) == EXPECTED
    assert ids(source) == ["a", "b", "ç", "d"]
    assert str(source.columns) == "contents from column 'text', ids from column 'id'"
    assert set(source.columns.guessed) == {"id", "text"}


@pytest.mark.parametrize(
    "make",
    [
        pa.Table.from_pylist,
        lambda rows: pa.Table.from_pylist(rows).to_reader(),
        pd.DataFrame,
        pl.DataFrame,
        lambda rows: duckdb.from_arrow(pa.Table.from_pylist(rows)),
        lambda rows: pd.DataFrame(rows).astype({"id": "category", "text": "category"}),
        lambda rows: pl.DataFrame(rows).with_columns(pl.col("text").cast(pl.Categorical)),
    ],
    ids=["arrow", "reader", "pandas", "polars", "duckdb", "categories", "polars-categories"],
)
def test_every_table_gives_the_same_corpus(make):
    source = open_source(make(ROWS))
    assert contents(source) == EXPECTED
    assert ids(source) == ["a", "b", "ç", "d"]


@pytest.mark.parametrize(
    "column",
    [pl.Series(["x", "y"]), pd.Series(["x", "y"]), pa.array(["x", "y"]), ["x", "y"], ("x", "y")],
)
def test_a_single_column_is_contents_without_ids(column):
    source = open_source(column)
    assert contents(source) == [b"x", b"y"]
    assert ids(source) == [0, 1]


def test_several_files_are_one_corpus_in_the_order_given(written):
    other = pa.Table.from_pylist([{"id": "z", "text": "last"}])
    pq.write_table(other, written / "more.parquet")
    source = open_source([written / "more.parquet", written / "rows.parquet"])
    assert ids(source) == ["z", "a", "b", "ç", "d"]


def test_without_an_id_column_the_ids_count_through_all_files(written):
    source = open_source([written / "rows.csv", written / "rows.jsonl"], id="")
    assert ids(source) == list(range(8))


def test_a_folder_of_texts_has_relative_paths_as_ids(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "b" / "two.txt").write_bytes(b"caf\xe9")
    (tmp_path / "one.md").write_text("eins", encoding="utf-8")
    source = open_source(tmp_path)
    assert ids(source) == ["b/two.txt", "one.md"]
    assert contents(source) == [b"caf\xe9", b"eins"]


def test_a_folder_of_tables_is_read_as_tables(written):
    (written / "rows.csv").unlink()
    (written / "rows.jsonl").unlink()
    assert ids(open_source(written)) == ["a", "b", "ç", "d"]


@pytest.mark.parametrize(
    ("columns", "text", "id"),
    [
        (["id", "text"], "text", "id"),
        (["url", "body", "title"], "body", "url"),
        (["content", "body"], "content", None),
        (["headline"], "headline", None),
        (["key", "headline"], "headline", "key"),
    ],
)
def test_columns_are_guessed_by_name_or_because_only_one_can_be_meant(columns, text, id):
    source = open_source(pa.table({name: ["x"] for name in columns}))
    assert (source.columns.text, source.columns.id) == (text, id)


@pytest.mark.parametrize("ids_given", [[1, 2], [1.5, 2.5], [True, False], ["x", "y"], [b"x", b"y"]])
def test_ids_may_be_of_any_scalar_type_and_stay_what_they_are(ids_given):
    result = la.find(pa.table({"id": ids_given, "text": ["a b c"] * 2}))
    assert result.pairs["left"].to_pylist() == ids_given[:1]
    assert result.pairs["right"].to_pylist() == ids_given[1:]


def test_ids_of_csv_stay_strings(tmp_path):
    (tmp_path / "x.csv").write_text("id,text\n007,a\n1e5,b\n")
    assert ids(open_source(tmp_path / "x.csv")) == ["007", "1e5"]


def test_a_date_in_jsonl_stays_the_string_it_is(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": "2024-01-01", "text": "2024-01-02"}\n')
    source = open_source(tmp_path / "x.jsonl")
    assert ids(source) == ["2024-01-01"]
    assert contents(source) == [b"2024-01-02"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_row_longer_than_a_block_is_read(tmp_path, suffix):
    long = "word " * 8_000_000  # 40 MB
    path = tmp_path / f"x.{suffix}"
    rows = [{"id": "1", "text": "short"}, {"id": "2", "text": long}]
    if suffix == "csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    assert [len(text) for text in contents(open_source(path))] == [5, len(long)]


def test_lists_of_tokens_are_read_from_every_place_that_has_lists(tmp_path):
    rows = [{"id": 1, "tokens": ["a", "b"]}, {"id": 2, "tokens": []}, {"id": 3, "tokens": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    expected = [[b"a", b"b"], [], None]
    for source in (tmp_path / "x.parquet", tmp_path / "x.jsonl", pl.DataFrame(rows)):
        assert contents(open_source(source, unit="tokens")) == expected
    assert contents(open_source([["a", "b"], [], None], unit="tokens")) == expected


def test_tokens_may_be_numbers():
    table = pa.table({"tokens": [[1, 2, 3], [3, 2, 1], [4]]})
    assert la.find(table, shingle="tokens").pairs["similarity"].to_pylist() == [1.0]


def test_nulls_are_empty_items():
    result = la.find(pa.table({"text": ["a b", None, "a b", None]}))
    assert len(result) == 1
    assert result.as_dict()["empty_items"] == 2


def test_lone_surrogates_are_compared_as_damaged_characters():
    result = la.find(["damaged \ud800 text here now", "damaged \udc00 text here now"])
    assert len(result) == 1


def test_two_sides_keep_their_own_ids():
    left = pa.table({"id": ["a"], "text": ["x y z"]})
    right = pa.table({"id": [1], "text": ["x y z"]})
    corpus = la.find(left, against=right).corpus
    assert corpus.split == 1
    assert corpus.other_ids.to_pylist() == [1]


# ── Batches ───────────────────────────────────────────────────────────────────────────────────

TEXTS = ["", 'a "quoted",\r\nline', "plain", '"', "四 五\n\n", " ", "x" * 500, None, "end"] * 40
SIZES = [1, 100, 1000, 1 << 40]


def rows_to_write(tokens: bool) -> list[dict]:
    lists = [None if text is None else text.split() for text in TEXTS]
    name, values = ("tokens", lists) if tokens else ("text", TEXTS)
    return [{"id": f"{at:03}", name: value} for at, value in enumerate(values)]


def jsonl(rows: list[dict], end: str = "\n", ascii: bool = True) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=ascii) + end for row in rows).encode()


def csv_file(rows: list[dict], end: str = "\n") -> bytes:
    return (
        pd.DataFrame(rows)
        .to_csv(index=False, lineterminator=end, quoting=python_csv.QUOTE_ALL)
        .encode()
    )


def parquet_file(rows: list[dict], group: int) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream, row_group_size=group)
    return stream.getvalue()


def make_source(folder: Path, kind: str):
    """Return a source of one kind, and the unit it has to be read with."""
    tokens = "tokens" in kind
    rows = rows_to_write(tokens)
    thirds = [rows[:100], rows[100:101], rows[101:]]
    table = pa.Table.from_pylist(rows)
    lists = [row["tokens" if tokens else "text"] for row in rows]
    match kind:
        case "table":
            return pa.concat_tables([table.slice(0, 70), table.slice(70)]), "words"
        case "categories":
            return table.to_pandas().astype({"text": "category"}), "words"
        case "list" | "tokens in a list":
            return lists, "tokens" if tokens else "words"
        case "tokens in a table":
            return table, "tokens"
        case "texts":
            for row in rows:
                (folder / f"{row['id']}.txt").write_bytes((row["text"] or "").encode())
            return folder, "words"
    suffix, write = {
        "jsonl": ("jsonl", jsonl),
        "tokens in jsonl": ("jsonl", jsonl),
        "jsonl with blank lines": ("jsonl", lambda part: jsonl(part, "\r\n \n\n", ascii=False)),
        "jsonl with mark and no last end": ("jsonl", lambda part: lines.MARK + jsonl(part)[:-1]),
        "csv": ("csv", csv_file),
        "csv with carriage returns": ("csv", lambda part: csv_file(part, "\r")),
        "csv with mark and blank lines": (
            "csv",
            lambda part: lines.MARK + csv_file(part).replace(b'plain"\n', b'plain"\r\n\r\n\n'),
        ),
        "parquet": ("parquet", lambda part: parquet_file(part, 1000)),
        "tokens in parquet": ("parquet", lambda part: parquet_file(part, 1000)),
        "parquet in small groups": ("parquet", lambda part: parquet_file(part, 7)),
    }[kind]
    for at, part in enumerate(thirds):
        (folder / f"{at}.{suffix}").write_bytes(write(part))
    return folder, "tokens" if tokens else "words"


KINDS = [
    "table",
    "categories",
    "list",
    "tokens in a list",
    "tokens in a table",
    "texts",
    "jsonl",
    "tokens in jsonl",
    "jsonl with blank lines",
    "jsonl with mark and no last end",
    "csv",
    "csv with carriage returns",
    "csv with mark and blank lines",
    "parquet",
    "tokens in parquet",
    "parquet in small groups",
]


@pytest.fixture
def small_pieces(monkeypatch):
    """Cut files into many pieces, so that batches begin and end anywhere in them."""
    monkeypatch.setattr(lines, "BLOCK", 300)
    monkeypatch.setattr(formats, "CSV_BLOCK", 64)
    monkeypatch.setattr(formats, "BYTES_PER_PIECE", 400)
    monkeypatch.setattr(sources, "ROWS_PER_PIECE", 13)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_batches_hold_all_items_and_can_be_read_again_from_each_cursor(
    tmp_path, small_pieces, kind, size
):
    data, unit = make_source(tmp_path, kind)
    source = open_source(data, unit=unit)
    batches = list(source.batches(size))
    expected = [
        row["tokens" if unit == "tokens" else "text"] for row in rows_to_write(unit == "tokens")
    ]
    found = [item for batch in batches for item in batch.contents.to_pylist()]
    assert [as_text(item) or None for item in found] == [item or None for item in expected]
    check_sizes(batches, size, source.size)
    step = max(len(batches) // 12, 1)
    for at in range(0, len(batches), step):
        again = list(source.batches(size, batches[at].cursor))
        assert [as_plain(batch) for batch in again] == [as_plain(b) for b in batches[at + 1 :]]


def as_text(item):
    if isinstance(item, list):
        return [token.decode() for token in item]
    return item and item.decode()


def as_plain(batch: Batch) -> tuple:
    ids = batch.ids and batch.ids.to_pylist()
    return batch.contents.to_pylist(), ids, batch.cursor, batch.read


def check_sizes(batches: list[Batch], size: int, whole: int) -> None:
    """Batches are as large as they may be: one item, or no larger than asked for."""
    for batch in batches:
        assert len(batch.contents) == 1 or batch.contents.nbytes <= size + 8 + 1 + len(
            batch.contents
        )
    if size == 1:
        assert all(len(batch.contents) == 1 for batch in batches)
    if size == SIZES[-1]:
        assert len(batches) == 1
    assert [batch.read for batch in batches] == sorted(batch.read for batch in batches)
    assert batches[-1].read == whole


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_few_pieces_of_a_file_are_in_memory_at_a_time(tmp_path, monkeypatch, suffix):
    """In files of lines, one piece for each thread; in Parquet, one of the only row group."""
    for module, name in ((lines, "BLOCK"), (formats, "BYTES_PER_PIECE")):
        monkeypatch.setattr(module, name, 1 << 18)
    path, text = tmp_path / f"x.{suffix}", "some words of text " * 50
    rows = [{"id": str(at), "text": f"{at} {text}"} for at in range(20_000)]
    write = {"csv": csv_file, "jsonl": jsonl, "parquet": lambda rows: parquet_file(rows, 10**9)}
    path.write_bytes(write[suffix](rows))
    before, most = pa.total_allocated_bytes(), 0
    for batch in open_source(path).batches(1 << 19):
        assert len(batch.contents) > 1
        most = max(most, pa.total_allocated_bytes() - before)
    assert path.stat().st_size > 15_000_000 or suffix == "parquet"
    assert most < 6_000_000


@pytest.mark.parametrize("kind", ["table", "texts", "jsonl", "csv", "parquet", "tokens in jsonl"])
def test_some_items_are_taken_in_the_order_asked_for(tmp_path, small_pieces, kind):
    data, unit = make_source(tmp_path, kind)
    source = open_source(data, unit=unit)
    everything = contents(source)
    wanted = [250, 3, 3, 0, len(everything) - 1]
    assert source.take(wanted).to_pylist() == [everything[at] for at in wanted]
    assert len(source.take([])) == 0


def test_an_item_that_is_not_there_cannot_be_taken(written):
    with pytest.raises(InputError, match="no item 4: the input has 4 items"):
        open_source(written / "rows.csv").take([0, 4])


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_without_rows_has_no_batches(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    if suffix == "parquet":
        pq.write_table(
            pa.table({"id": pa.array([], "string"), "text": pa.array([], "string")}), path
        )
    else:
        path.write_bytes(b"id,text" if suffix == "csv" else b'{"id": 1, "text": "a"}')
    (tmp_path / "empty.jsonl").write_bytes(b" \n")
    paths = [path, tmp_path / "empty.jsonl"] if suffix == "jsonl" else [path]
    assert len(contents(open_source(paths))) == (suffix == "jsonl")


def test_an_empty_jsonl_file_among_others_has_no_rows(tmp_path):
    (tmp_path / "1.jsonl").write_bytes(b"")
    (tmp_path / "2.jsonl").write_bytes(b'{"id": 1, "text": "a", "n": 5}\n')
    (tmp_path / "3.jsonl").write_bytes(b"\n")
    source = open_source(tmp_path)
    assert contents(source) == [b"a"]
    assert source.column("n").to_pylist() == [5]


def test_a_fingerprint_tells_other_ids_of_the_same_texts(tmp_path):
    for name in ("b", "c"):
        (tmp_path / "a" / name).mkdir(parents=True)
        (tmp_path / "a" / name / f"{name}.txt").write_text(name)
    whole = open_source(tmp_path / "a").fingerprint()
    parts = open_source([tmp_path / "a" / "b", tmp_path / "a" / "c"]).fingerprint()
    assert [each["id"] for each in whole] == ["b/b.txt", "c/c.txt"]
    assert [each["id"] for each in parts] == ["b.txt", "c.txt"]
    assert [{**each, "id": ""} for each in whole] == [{**each, "id": ""} for each in parts]


def test_a_fingerprint_is_the_same_however_a_file_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.chdir(tmp_path)
    absolute = open_source(tmp_path / "a.jsonl").fingerprint()
    assert open_source(Path("a.jsonl")).fingerprint() == absolute
    assert absolute[0]["path"] == str(tmp_path / "a.jsonl")


@pytest.mark.parametrize("kind", KINDS)
def test_a_fingerprint_tells_a_changed_source(tmp_path, kind):
    data, unit = make_source(tmp_path, kind)
    before = open_source(data, unit=unit).fingerprint()
    assert open_source(data, unit=unit).fingerprint() == before
    json.dumps(before)
    if isinstance(data, Path):
        path = max(data.iterdir())
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        assert fingerprint(path)["hash"] != before[-1]["hash"]
        assert before[-1]["size"] == path.stat().st_size
    else:
        assert before[0]["rows"] == len(TEXTS)


def test_a_change_of_the_last_item_in_memory_is_seen():
    one, other = (open_source([*TEXTS, last]).fingerprint() for last in ("a", "b"))
    assert one != other


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_column_is_read_whole_however_its_type_changes(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(lines, "BLOCK", 100)
    values = [1, 2] * 20 + [2.5, 3.5] * 20
    rows = [{"text": "a", "n": value} for value in values]
    path = tmp_path / f"x.{suffix}"
    written_rows = {
        "jsonl": lambda: jsonl(rows),
        "csv": lambda: b"text,n\n" + b"".join(f"a,{value}\n".encode() for value in values),
        "parquet": lambda: parquet_file(rows, 9),
    }[suffix]()
    path.write_bytes(written_rows)
    column = open_source(path).column("n")
    assert column.type == pa.float64()
    assert column.to_pylist() == values


def test_a_csv_column_of_numbers_and_words_is_read_as_words(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", 100)
    (tmp_path / "x.csv").write_text("text,n\n" + "a,1\n" * 40 + "a,x\n" * 40)
    assert open_source(tmp_path / "x.csv").column("n").to_pylist() == ["1"] * 40 + ["x"] * 40


# ── Refusals ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "start", "row", "bad", "message"),
    [
        ("x.jsonl", b"", b'{"text": "a"}\n', b'{"text":\n', "line 101: this is not JSON"),
        ("x.jsonl", b"", b'\n{"id": 1, "text": "a"}\n', b'{"text": "b"}\n', "row 100 .* no id"),
        ("x.jsonl", b"", b'\n{"text": "a"}\n', b'{"text": 5}\n', "line 201: 'text' is 5"),
        ("x.csv", b"id,text\n", b"1,2\n\n", b"1,2,3\n", r"row 100: Expected 2 columns, got 3"),
        ("x.csv", b"id,text\n", b"1,2\n\n", b"\xff,2\n", r"row 100: .*invalid UTF8"),
    ],
)
def test_an_error_far_inside_names_its_line_or_row_when_its_batch_is_reached(
    tmp_path, monkeypatch, name, start, row, bad, message
):
    monkeypatch.setattr(lines, "BLOCK", 300)
    (tmp_path / name).write_bytes(start + row * 100 + bad + row * 100)
    source = open_source(tmp_path / name)
    batches, cursor = source.batches(30), None
    for _ in range(10):
        cursor = next(batches).cursor
    for again in (batches, source.batches(30, cursor)):
        with pytest.raises(InputError, match=message) as raised:
            list(again)
        assert name in str(raised.value)


def test_ids_of_different_types_in_different_files_are_refused(tmp_path):
    (tmp_path / "1.jsonl").write_bytes(b'{"id": 1, "text": "a"}\n')
    (tmp_path / "2.jsonl").write_bytes(b'{"id": "1", "text": "a"}\n')
    with pytest.raises(InputError, match=r"int64 \(.*1\.jsonl\), string \(.*2\.jsonl\)"):
        open_source(tmp_path)


def test_texts_among_tables_are_refused(written):
    (written / "texts").mkdir()
    (written / "texts" / "a.txt").write_text("a")
    with pytest.raises(InputError, match=r"a\.txt is a text file among files of rows"):
        open_source([written / "rows.csv", written / "texts"])


WRONG = {
    "no.csv": (None, "does not exist"),
    "x.docx": (b"", "cannot tell the format"),
    "empty.jsonl": (b"", "is empty"),
    "blank.jsonl": (b"\n\n", "is empty"),
    "empty.csv": (b"", "is empty"),
    "empty.parquet": (b"", "cannot read"),
    "cut.parquet": (b"PAR1abcdef", "cannot read"),
    "broken.jsonl": (b'{"text": "a"}\n{"text": "b"}\n{"text":\n', "line 3: this is not JSON"),
    "array.jsonl": (b"[1]\n", "line 1: a list instead of an object"),
    "later.jsonl": (b'{"text": "a"}\n17\n', "line 2: a int instead of an object"),
    "number.jsonl": (b'{"text": "a"}\n{"text": 5}\n', "line 2: 'text' is 5"),
    "mixed.jsonl": (b'{"id": 1, "text": "a"}\n{"id": "x", "text": "a"}\n', "line 2: 'id' is 'x'"),
    "twice.jsonl": (
        b'{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n',
        "the id 1 stands at 2 rows",
    ),
    "noid.jsonl": (b'{"id": 1, "text": "a"}\n{"text": "b"}\n', "row 1 .* has no id"),
    "columns.csv": (b"foo,bar\n1,2\n", "its columns are 'foo', 'bar'"),
    "ragged.csv": (b"id,text\n1,2,3\n", "cannot read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_is_said_clearly(tmp_path, name):
    content, message = WRONG[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as raised:
        la.find(tmp_path / name)
    assert name in str(raised.value) or "id 1" in str(raised.value)


def test_a_missing_column_names_those_that_exist(written):
    with pytest.raises(InputError, match="no column 'body'; its columns are 'id', 'text', 'extra'"):
        open_source(written / "rows.parquet", text="body")


def test_a_column_that_is_no_text_is_refused():
    with pytest.raises(InputError, match="are int64, not texts"):
        contents(open_source(pa.table({"text": [1]}), text="text"))
    with pytest.raises(InputError, match="not scalars"):
        contents(open_source(pa.table({"id": [[1]], "text": ["x"]})))


def test_files_of_different_schemas_are_refused(written):
    (written / "other.csv").write_text("key,body\n1,2\n")
    with pytest.raises(InputError, match="does not have the columns of the files before it"):
        open_source([written / "rows.csv", written / "other.csv"])


@pytest.mark.parametrize("thing", [5, None, b"bytes", {"a": 1}])
def test_things_that_hold_no_items_are_refused(thing):
    with pytest.raises(UsageError, match="cannot read items"):
        open_source(thing)


def test_a_list_of_something_else_names_the_item():
    with pytest.raises(InputError, match="item 1 is a int, not a string"):
        open_source(["x", 5])


def test_an_unreadable_file_is_named(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("text\na\n")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"x\.csv: Permission denied"):
        open_source(path)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_row_too_long_for_the_memory_is_refused_before_it_is_parsed(tmp_path, suffix):
    path, long = tmp_path / f"rows{suffix}", "x" * (lines.BLOCK + 100)
    if suffix == ".csv":
        path.write_text(f"id,text\n1,a b c\n2,{long}\n")
    else:
        path.write_text(
            json.dumps({"id": 1, "text": "a"}) + "\n" + json.dumps({"id": 2, "text": long})
        )
    assert len(contents(open_source(path, longest=2 * lines.BLOCK))) == 2
    with pytest.raises(InputError, match=r"a row of [\d,]+ bytes at byte \d+.*--memory"):
        contents(open_source(path, longest=1000))
