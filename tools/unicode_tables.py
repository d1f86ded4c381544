"""Write the frozen Unicode tables from the files of the Unicode Character Database.

    python tools/unicode_tables.py /usr/share/unicode

reads UnicodeData.txt, DerivedNormalizationProps.txt, PropList.txt and Scripts.txt (on Debian:
the package ``unicode-data``) and writes the same facts twice:

* ``src/lookalike/kernels/unicode-VERSION.json``: plain ranges and mappings, for the specification;
* ``native/unicode_tables.hpp``: two-stage tables, for the kernels.

Run it only to move to another Unicode version. That changes what normalisation profiles mean, so
it needs a new profile revision (``lookalike.config.PROFILES``) and new golden vectors.

Each code point gets one token class:

* ``WORD``   letters, digits and other numbers: runs of them are one token;
* ``ALONE``  letters of scripts written without spaces, and symbols that carry meaning (emoji,
  currency, mathematics beyond ASCII): each is a token of its own;
* ``MARK``   combining marks, format characters, emoji modifiers: they extend the token they follow;
* ``GAP``    everything else: it separates tokens.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

GAP, WORD, ALONE, MARK = range(4)
LIMIT = 0x110000
BLOCK = 128
UNSPACED = {
    *("Han", "Hiragana", "Katakana", "Bopomofo", "Yi", "Tangut", "Nushu", "Khitan_Small_Script"),
    *("Thai", "Lao", "Khmer", "Myanmar", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Ahom"),
    *("Javanese", "Balinese"),
}
PROLONGED_SOUND = 0x30FC  # of script Common, but part of Japanese words
REPLACEMENT = 0xFFFD  # stands for a damaged letter
EMOJI_MODIFIERS = range(0x1F3FB, 0x1F400)
RULES_AND_BLOCKS = range(0x2500, 0x25A0)  # box drawing, block elements: decoration
IDEOGRAPHIC_PLANES = range(0x20000, 0x40000)


def properties(path: Path) -> list[tuple[int, int, list[str]]]:
    """Read one UCD file of ``code[..code] ; value ; …`` lines."""
    rows = []
    for line in path.read_text("utf-8").splitlines():
        fields = [field.strip() for field in line.partition("#")[0].split(";")]
        if len(fields) > 1:
            first, _, last = fields[0].partition("..")
            rows.append((int(first, 16), int(last or first, 16), fields[1:]))
    return rows


class Database:
    """The columns of the UCD that lookalike uses, one entry per code point."""

    def __init__(self, folder: Path) -> None:
        self.category = ["Cn"] * LIMIT
        self.combining = [0] * LIMIT
        self.canonical: dict[int, list[int]] = {}
        self.version = (
            (folder / "PropList.txt").read_text("utf-8").split("-", 1)[1].split(".txt")[0]
        )
        self._read_unicode_data(folder / "UnicodeData.txt")
        self.script = ["Unknown"] * LIMIT
        for first, last, (name, *_) in properties(folder / "Scripts.txt"):
            self.script[first : last + 1] = [name] * (last + 1 - first)
        self.whitespace = {
            code
            for first, last, (name, *_) in properties(folder / "PropList.txt")
            if name == "White_Space"
            for code in range(first, last + 1)
        }
        self.folded: dict[int, list[int]] = {}
        self.excluded: set[int] = set()
        self.maybe_second: set[int] = set()
        self._read_normalisation(folder / "DerivedNormalizationProps.txt")

    def _read_unicode_data(self, path: Path) -> None:
        begin = None
        for line in path.read_text("utf-8").splitlines():
            fields = line.split(";")
            code = int(fields[0], 16)
            if fields[1].endswith("First>"):
                begin = code
                continue
            first, begin = (code, None) if begin is None else (begin, None)
            for each in range(first, code + 1):
                self.category[each] = fields[2]
                self.combining[each] = int(fields[3])
            if fields[5] and not fields[5].startswith("<"):
                self.canonical[code] = [int(part, 16) for part in fields[5].split()]

    def _read_normalisation(self, path: Path) -> None:
        for first, last, (name, *values) in properties(path):
            for code in range(first, last + 1):
                if name == "NFKC_CF":
                    self.folded[code] = [int(part, 16) for part in values[0].split()]
                elif name == "Full_Composition_Exclusion":
                    self.excluded.add(code)
                elif name == "NFC_QC" and values[0] == "M":
                    self.maybe_second.add(code)

    def decompose(self, code: int) -> list[int]:
        """Return the full canonical decomposition (Hangul is left to arithmetic)."""
        if code not in self.canonical:
            return [code]
        return [part for each in self.canonical[code] for part in self.decompose(each)]

    def token_class(self, code: int) -> int:
        """Return GAP, WORD, ALONE or MARK."""
        category = self.category[code]
        if code in EMOJI_MODIFIERS or category[0] == "M" or category == "Cf":
            return MARK
        if code == REPLACEMENT or category == "Nd":
            return WORD
        if category[0] in "LN":
            unspaced = self.script[code] in UNSPACED or code == PROLONGED_SOUND
            return ALONE if unspaced else WORD
        if category in {"So", "Sc"} or (category == "Sm" and code > 0x7F):
            return GAP if code in RULES_AND_BLOCKS else ALONE
        if category == "Cn":  # assigned later, perhaps: most new characters are letters
            return ALONE if code in IDEOGRAPHIC_PLANES else WORD
        return ALONE if category == "Co" else GAP

    def fold(self, code: int) -> list[int]:
        """Return NFKC_Casefold of one code point, and nothing for a format character."""
        return [] if self.category[code] == "Cf" else self.folded.get(code, [code])

    def starts_segment(self, code: int) -> bool:
        """Return whether nothing before this code point can interact with it or its folded form."""
        folded = self.fold(code)
        starters = bool(folded) and not self.combining[code] and not self.combining[folded[0]]
        return starters and folded[0] not in self.maybe_second


def ranges(values: list[int]) -> list[list[int]]:
    """Return [first, last, value] for every run of equal values other than zero."""
    found: list[list[int]] = []
    for code, value in enumerate(values):
        if value and found and found[-1][1] == code - 1 and found[-1][2] == value:
            found[-1][1] = code
        elif value:
            found.append([code, code, value])
    return found


def two_stage(values: list[int]) -> tuple[list[int], list[int]]:
    """Split a table of one entry per code point into shared blocks and an index of them."""
    blocks: dict[tuple[int, ...], int] = {}
    index = []
    for start in range(0, LIMIT, BLOCK):
        block = tuple(values[start : start + BLOCK])
        index.append(blocks.setdefault(block, len(blocks)))
    return index, [value for block in blocks for value in block]


def array(kind: str, name: str, values: list[int]) -> str:
    """Return a C++ array, wrapped at 100 columns."""
    lines, line = [], "   "
    for value in values:
        item = f" {value},"
        if len(line) + len(item) > 100:
            lines.append(line)
            line = "   "
        line += item
    return f"inline constexpr {kind} {name}[] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


def pool(mappings: dict[int, list[int]]) -> tuple[list[int], list[int]]:
    """Return per code point 0 or a position in the pool, and the pool of length-prefixed lists."""
    places, flat, known = [0] * LIMIT, [0], {}
    for code, mapped in mappings.items():
        key = tuple(mapped)
        if key not in known:
            known[key] = len(flat)
            flat += [len(mapped), *mapped]
        places[code] = known[key]
    return places, flat


def main(folder: Path) -> None:
    """Write both forms of the tables."""
    root = Path(__file__).resolve().parent.parent
    ucd = Database(folder)
    classes = [ucd.token_class(code) for code in range(LIMIT)]
    folds = {code: ucd.fold(code) for code in range(LIMIT) if ucd.fold(code) != [code]}
    decompositions = {code: ucd.decompose(code) for code in sorted(ucd.canonical)}
    compositions = sorted(
        [*pair, code]
        for code, pair in ucd.canonical.items()
        if len(pair) == 2 and code not in ucd.excluded
    )
    short_version = ".".join(ucd.version.split(".")[:2])
    facts = {
        "version": ucd.version,
        "classes": ranges(classes),
        "whitespace": sorted(ucd.whitespace),
        "combining": ranges(ucd.combining),
        "fold": folds,
        "decompose": decompositions,
        "compose": compositions,
    }
    target = root / f"src/lookalike/kernels/unicode-{short_version}.json"
    target.write_text(json.dumps(facts, separators=(",", ":")) + "\n", "ascii")

    packed = [
        classes[code]
        | (code in ucd.whitespace) << 2
        | ucd.starts_segment(code) << 3
        | ucd.combining[code] << 8
        for code in range(LIMIT)
    ]
    property_index, property_blocks = two_stage(packed)
    fold_places, fold_pool = pool(folds)
    fold_index, fold_blocks = two_stage(fold_places)
    decompose_places, decompose_pool = pool(decompositions)
    decompose_index, decompose_blocks = two_stage(decompose_places)
    pieces = [
        f"// Unicode {ucd.version}, written by tools/unicode_tables.py; not edited by hand.\n"
        "#pragma once\n\n#include <cstdint>\n\nnamespace lookalike::unicode {\n",
        f'inline constexpr char version[] = "{ucd.version}";\n',
        f"inline constexpr uint32_t block = {BLOCK};\n",
        f"inline constexpr uint32_t longest_fold = {max(map(len, folds.values()))};\n",
        "// Bits 0-1 token class, 2 white space, 3 starts a segment, 8-15 combining class.\n",
        array("uint16_t", "property_index", property_index),
        array("uint16_t", "property_blocks", property_blocks),
        "// 0: unchanged; otherwise the position of a length-prefixed list in the pool.\n",
        array("uint16_t", "fold_index", fold_index),
        array("uint16_t", "fold_blocks", fold_blocks),
        array("uint32_t", "fold_pool", fold_pool),
        array("uint16_t", "decompose_index", decompose_index),
        array("uint16_t", "decompose_blocks", decompose_blocks),
        array("uint32_t", "decompose_pool", decompose_pool),
        "// first, second, composite; sorted by (first, second).\n",
        array("uint32_t", "compositions", [code for row in compositions for code in row]),
        "} // namespace lookalike::unicode\n",
    ]
    assert max(len(fold_pool), len(decompose_pool)) < 1 << 16
    (root / "native/unicode_tables.hpp").write_text("\n".join(pieces), "ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
