"""Whatever a user brings becomes ids and contents."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import InputError, UsageError
from lookalike.io.readers import join, read

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


def contents(source) -> list[bytes | None]:
    return source.corpus.contents.to_pylist()


def ids(source) -> list:
    return source.corpus.ids.to_pylist()


EXPECTED = [row["text"].encode() for row in ROWS]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.jsonl"])
def test_every_format_gives_the_same_corpus(written, name):
    source = read(str(written / name))
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
    source = read(make(ROWS))
    assert contents(source) == EXPECTED
    assert ids(source) == ["a", "b", "ç", "d"]


@pytest.mark.parametrize(
    "column",
    [pl.Series(["x", "y"]), pd.Series(["x", "y"]), pa.array(["x", "y"]), ["x", "y"], ("x", "y")],
)
def test_a_single_column_is_contents_without_ids(column):
    source = read(column)
    assert contents(source) == [b"x", b"y"]
    assert ids(source) == [0, 1]


def test_several_files_are_one_corpus_in_the_order_given(written):
    other = pa.Table.from_pylist([{"id": "z", "text": "last"}])
    pq.write_table(other, written / "more.parquet")
    source = read([written / "more.parquet", written / "rows.parquet"])
    assert ids(source) == ["z", "a", "b", "ç", "d"]


def test_without_an_id_column_the_ids_count_through_all_files(written):
    source = read([written / "rows.csv", written / "rows.jsonl"], id="")
    assert ids(source) == list(range(8))


def test_a_folder_of_texts_has_relative_paths_as_ids(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "b" / "two.txt").write_bytes(b"caf\xe9")
    (tmp_path / "one.md").write_text("eins", encoding="utf-8")
    source = read(tmp_path)
    assert ids(source) == ["b/two.txt", "one.md"]
    assert contents(source) == [b"caf\xe9", b"eins"]


def test_a_folder_of_tables_is_read_as_tables(written):
    (written / "rows.csv").unlink()
    (written / "rows.jsonl").unlink()
    assert ids(read(written)) == ["a", "b", "ç", "d"]


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
    source = read(pa.table({name: ["x"] for name in columns}))
    assert (source.columns.text, source.columns.id) == (text, id)


@pytest.mark.parametrize("ids_given", [[1, 2], [1.5, 2.5], [True, False], ["x", "y"], [b"x", b"y"]])
def test_ids_may_be_of_any_scalar_type_and_stay_what_they_are(ids_given):
    result = la.find(pa.table({"id": ids_given, "text": ["a b c"] * 2}))
    assert result.pairs["left"].to_pylist() == ids_given[:1]
    assert result.pairs["right"].to_pylist() == ids_given[1:]


def test_ids_of_csv_stay_strings(tmp_path):
    (tmp_path / "x.csv").write_text("id,text\n007,a\n1e5,b\n")
    assert ids(read(tmp_path / "x.csv")) == ["007", "1e5"]


def test_a_date_in_jsonl_stays_the_string_it_is(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": "2024-01-01", "text": "2024-01-02"}\n')
    source = read(tmp_path / "x.jsonl")
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
    assert [len(text) for text in contents(read(path))] == [5, len(long)]


def test_lists_of_tokens_are_read_from_every_place_that_has_lists(tmp_path):
    rows = [{"id": 1, "tokens": ["a", "b"]}, {"id": 2, "tokens": []}, {"id": 3, "tokens": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    expected = [[b"a", b"b"], [], None]
    for source in (tmp_path / "x.parquet", tmp_path / "x.jsonl", pl.DataFrame(rows)):
        assert contents(read(source, unit="tokens")) == expected
    assert contents(read([["a", "b"], [], None], unit="tokens")) == expected


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
    left = read(pa.table({"id": ["a"], "text": ["x y z"]}))
    right = read(pa.table({"id": [1], "text": ["x y z"]}))
    corpus = join(left, right, across=True)
    assert corpus.split == 1
    assert corpus.other_ids.to_pylist() == [1]


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
        read(tmp_path / name)
    assert name in str(raised.value) or "id 1" in str(raised.value)


def test_a_missing_column_names_those_that_exist(written):
    with pytest.raises(InputError, match="no column 'body'; its columns are 'id', 'text', 'extra'"):
        read(written / "rows.parquet", text="body")


def test_a_column_that_is_no_text_is_refused():
    with pytest.raises(InputError, match="are int64, not texts"):
        read(pa.table({"text": [1]}), text="text")
    with pytest.raises(InputError, match="not scalars"):
        read(pa.table({"id": [[1]], "text": ["x"]}))


def test_files_of_different_schemas_are_refused(written):
    (written / "other.csv").write_text("key,body\n1,2\n")
    with pytest.raises(InputError, match="does not have the columns of the files before it"):
        read([written / "rows.csv", written / "other.csv"])


@pytest.mark.parametrize("thing", [5, None, b"bytes", {"a": 1}])
def test_things_that_hold_no_items_are_refused(thing):
    with pytest.raises(UsageError, match="cannot read items"):
        read(thing)


def test_a_list_of_something_else_names_the_item():
    with pytest.raises(InputError, match="item 1 is a int, not a string"):
        read(["x", 5])


def test_an_unreadable_file_is_named(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("text\na\n")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"x\.csv: Permission denied"):
        read(path)
