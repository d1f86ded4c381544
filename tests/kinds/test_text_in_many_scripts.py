"""Texts in many scripts become the tokens that their readers would count.

The rules (standard profile): NFKC, case folding, format characters dropped; runs of letters, digits
and marks are words; in scripts without spaces each letter, with its marks, is a token; an emoji or
a symbol that carries meaning is a token; all else separates.
"""

from __future__ import annotations

import unicodedata

import pytest

import lookalike as la
from lookalike.config import Shingling
from lookalike.kinds.text import tokens

ZWJ, ZWNJ, ZWSP, SHY, BOM = "\u200d", "\u200c", "\u200b", "\u00ad", "\ufeff"


def words(text):
    """Return the word tokens of a text or of raw bytes."""
    return tokens(text if isinstance(text, bytes) else text.encode(), Shingling())


def characters(text, normalise="standard"):
    return tokens(text.encode(), Shingling(unit="chars", k=1, normalise=normalise))


def composed(*parts):
    return [unicodedata.normalize("NFC", part) for part in parts]


def test_english_words_lose_case_and_punctuation():
    assert words("The cat's 3.14 Hats, U.S.A.!") == [
        *("the", "cat", "s", "3", "14", "hats", "u", "s", "a"),
    ]


def test_an_apostrophe_separates_whichever_way_it_is_typed():
    assert words("don't") == words("don’t") == words("don‘t") == words("don`t") == ["don", "t"]


def test_an_accent_typed_as_an_apostrophe_separates_as_well():
    assert words("don´t") == ["don", "t"]


def test_accents_count_and_may_be_typed_in_one_piece_or_two():
    assert words("Café naïve") == words("Cafe\u0301 nai\u0308ve") == ["café", "naïve"]
    assert words("cafe") != words("café")


def test_german_sharp_s_is_double_s():
    assert words("STRASSE Straße STRAẞE") == ["strasse"] * 3


def test_the_turkish_dotless_i_stays_a_letter_of_its_own():
    assert words("ISTANBUL istanbul") == ["istanbul"] * 2
    assert words("ılık") == ["ılık"]


def test_greek_final_sigma_is_a_sigma():
    assert words("ΟΔΟΣ οδος οδοσ") == ["οδοσ"] * 3


def test_greek_accents_may_be_decomposed_and_of_either_encoding():
    """Tonos and oxia are canonically the same accent."""
    text = "Ἄνθρωπος, ὁ λόγος τῷ ἀγαθῷ"
    assert words(text) == words(unicodedata.normalize("NFD", text))
    assert words("\u03ac\u03bb\u03c6\u03b1") == words("\u1f71\u03bb\u03c6\u03b1") == ["άλφα"]


def test_cyrillic_keeps_its_letters_apart():
    assert words("Ещё Й-и") == composed("ещё", "й", "и")


def test_hindi_conjuncts_and_vowel_signs_stay_in_their_word():
    assert words("हिन्दी में, लिखना।") == ["हिन्दी", "में", "लिखना"]


def test_hindi_nukta_may_be_one_code_point_or_two():
    assert words("\u0958लम") == words("\u0915\u093cलम") == ["क\u093cलम"]


@pytest.mark.parametrize("joiner", [ZWJ, ZWNJ])
def test_joiners_change_the_shape_of_a_hindi_conjunct_and_not_the_word(joiner):
    assert words(f"क्{joiner}षमा") == words("क्षमा") == ["क्षमा"]


@pytest.mark.parametrize(
    "sentence", ["বাংলা ভাষা", "தமிழ் மொழி", "తెలుగు భాష", "ಕನ್ನಡ ಭಾಷೆ", "മലയാളം ഭാഷ", "ਪੰਜਾਬੀ ਬੋਲੀ"]
)
def test_other_scripts_of_india_are_split_at_their_spaces_only(sentence):
    assert words(sentence) == sentence.split()


def test_arabic_words_and_punctuation():
    assert words("السلام عليكم، كيف حالك؟") == ["السلام", "عليكم", "كيف", "حالك"]


def test_arabic_presentation_forms_are_the_letters_they_show():
    assert words("ﻣﺤﻤﺪ") == words("محمد") == ["محمد"]
    assert words("ﺳﻼم") == words("سلام")
    assert words("ﷺ") == ["صلى", "الله", "عليه", "وسلم"]


def test_arabic_vowel_marks_stay_in_their_word_in_any_order():
    """Shadda and fatha are typed in both orders and look the same."""
    assert words("مُحَمَّد") == words("مُحَم\u064e\u0651د")
    assert len(words("السَّلَامُ عَلَيْكُمْ")) == 2


def test_arabic_digits_are_digits_of_one_number():
    assert words("٢٠٢٤ سنة") == ["٢٠٢٤", "سنة"]


def test_a_persian_word_is_one_with_and_without_its_joint():
    assert words(f"می{ZWNJ}خواهم") == words("میخواهم")


def test_hebrew_points_stay_in_their_word_and_hyphens_separate():
    assert words("שָׁלוֹם־עולם") == [unicodedata.normalize("NFC", "שָׁלוֹם"), "עולם"]
    assert words("\ufb2aלום") == words("ש\u05c1לום")


def test_hebrew_abbreviations_are_the_same_with_either_mark():
    assert words("צה״ל") == words('צה"ל')


def test_chinese_characters_are_tokens():
    assert words("我能吞下玻璃，而不伤身体。") == list("我能吞下玻璃而不伤身体")
    assert words("\U00020000\u4e00") == ["\U00020000", "\u4e00"]


def test_chinese_compatibility_characters_are_the_ordinary_ones():
    assert words("\uf900") == words("\u8c48")
    assert words("\u2f00") == words("\u4e00")


def test_japanese_kana_and_kanji_are_tokens_and_small_signs_among_them():
    assert words("東京タワー、人々") == list("東京タワー人々")


def test_japanese_half_width_kana_are_the_full_width_ones():
    assert words("ｶﾞｷﾞﾊﾟｰ") == list("ガギパー")


def test_japanese_voiced_marks_may_be_apart():
    assert words("か\u3099は\u309a") == ["が", "ぱ"]


def test_korean_syllables_and_their_parts_are_the_same_words():
    text = "한국어 글자"
    assert words(unicodedata.normalize("NFD", text)) == words(text) == ["한국어", "글자"]


def test_thai_letters_carry_their_vowels_and_tones():
    assert words("ที่นี่") == ["ที่", "นี่"]
    assert words("ไทย ๑๒") == ["ไ", "ท", "ย", "๑๒"]


def test_thai_sara_am_is_its_two_parts():
    assert words("น้ำ") == words("น้\u0e4d\u0e32")


@pytest.mark.parametrize(
    ("text", "count"),
    [("ພາສາລາວ", 7), ("ភាសាខ្មែរ", 5), ("မြန်မာ", 3)],
    ids=["lao", "khmer", "burmese"],
)
def test_other_scripts_without_spaces_have_one_token_per_letter(text, count):
    assert len(words(text)) == count
    assert "".join(words(text)) == text


def test_tibetan_syllables_are_words():
    assert words("བོད་ཡིག") == ["བོད", "ཡིག"]


def test_each_emoji_is_a_token():
    assert words("ok👍👍fine🎉") == ["ok", "👍", "👍", "fine", "🎉"]


def test_a_skin_tone_belongs_to_its_emoji():
    assert words("👍🏽👍") == ["👍🏽", "👍"]


def test_a_family_is_its_members_joined_or_not():
    assert words(f"👨{ZWJ}👩{ZWJ}👧") == words("👨👩👧") == ["👨", "👩", "👧"]


def test_the_colour_selector_of_an_emoji_does_not_count():
    assert words("❤\ufe0f") == words("❤\ufe0e") == words("❤") == ["❤"]


def test_flags_differ_by_their_letters():
    assert words("🇬🇷") == ["🇬", "🇷"]
    assert words("🇬🇷") != words("🇩🇪")


def test_a_keycap_is_a_token():
    assert words("1\ufe0f\u20e3 2\u20e3") == ["1\u20e3", "2\u20e3"]


def test_scripts_in_one_sentence_are_each_split_their_own_way():
    assert words("iPhone的价格是$999元, για τον Νίκο 👍") == [
        *("iphone", "的", "价", "格", "是", "$", "999", "元"),
        *("για", "τον", "νίκο", "👍"),
    ]


def test_currency_and_mathematics_carry_meaning():
    assert words("€5 $5 £5") == ["€", "5", "$", "5", "£", "5"]
    assert words("x ≠ y ∈ A → ∞") == ["x", "≠", "y", "∈", "a", "→", "∞"]


def test_ascii_punctuation_and_rules_only_separate():
    assert words("a+b=c | d_e <f> ───── g•h") == list("abcdefgh")


def test_what_cannot_be_seen_does_not_count():
    assert words(f"soft{SHY}hyphen zero{ZWSP}width {BOM}mark wo\u2060rd") == [
        *("softhyphen", "zerowidth", "mark", "word"),
    ]


def test_text_that_runs_both_ways_does_not_keep_its_controls():
    assert words("\u202bשלום\u202c \u200fabc\u200e") == ["שלום", "abc"]


def test_compatibility_forms_are_what_they_stand_for():
    assert words("Ｆｕｌｌ１２３") == ["full123"]
    assert words("ﬁne ﬂow oﬃce") == ["fine", "flow", "office"]
    assert words("Ⅻ ㎏ №") == ["xii", "kg", "no"]
    assert words("𝒜𝓫𝕔") == ["abc"]


@pytest.mark.parametrize("space", " \t\n\r\v\f\u0085\u00a0\u1680\u2003\u2028\u202f\u3000")
def test_every_kind_of_white_space_separates_words_and_is_one_character(space):
    assert words(f"a{space}b") == ["a", "b"]
    assert characters(f"{space}a{space}{space} b{space}") == ["a", " ", "b"]


def test_bytes_that_are_not_utf_8_stand_for_a_damaged_letter():
    assert words(b"caf\xe9 noir") == ["caf\ufffd", "noir"]
    assert words(b"\xff\xfe") == ["\ufffd\ufffd"]
    assert words(b"cut \xf0\x9f\x91") == ["cut", "\ufffd"]
    assert words(b"\xc0\x80 \xed\xa0\x80") == ["\ufffd" * 2, "\ufffd" * 3]


def test_a_nul_separates_and_does_not_end_the_text():
    assert words(b"before\0after") == ["before", "after"]


def test_a_word_may_be_very_long():
    assert words("x" * 1_000_000 + " y") == ["x" * 1_000_000, "y"]
    assert words("e" + "\u0301" * 100_000) == ["é" + "\u0301" * 99_999]


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t", "?!… — «»", "-----", SHY + ZWSP, "\0", "۔،؟ 。、"]
)
def test_a_text_of_punctuation_is_empty_and_like_nothing(text):
    assert words(text) == []
    assert la.similarity(text, text) == 0
    assert la.similarity(text, "a word") == 0


def test_characters_keep_punctuation_but_for_white_space():
    assert characters("A,  b!\n") == ["a", ",", " ", "b", "!"]


def test_without_normalisation_characters_are_those_of_the_text():
    text = f" A{SHY}\u0301  Ⅻ\n"
    assert characters(text, "none") == list(text)


def test_fewer_words_than_a_shingle_has_are_one_shingle():
    assert la.similarity("Hello, world", "hello world!") == 1
    assert la.similarity("hello world", "world hello") == 0
    assert la.similarity("hello world", "hello") == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Quick Brown Fox jumps over", "the quick brown fox, jumps over."),
        ("ΤΟΥΣ ΑΛΛΟΥΣ ΦΙΛΟΥΣ ΜΑΣ ΕΔΩ ΠΕΡΑ", "τους αλλους φιλους μας εδω περα"),
        ("ｶﾞﾗｽを食べられます", "ガラスを食べられます"),
        (
            "한국어로 쓴 짧은 글을 하나 봅니다",
            unicodedata.normalize("NFD", "한국어로 쓴 짧은 글을 하나 봅니다"),
        ),
        ("ﺍﻟﺴﻼﻡ ﻋﻠﻴﻜﻢ", "السلام عليكم"),
        (f"क्{ZWJ}षमा करें", "क्षमा करें"),
        ("ＡＢＣ　１２３", "abc 123"),
    ],
)
@pytest.mark.parametrize("shingle", ["words:1", "words:3", "words:5"])
def test_texts_a_reader_would_call_the_same_are_the_same(one, other, shingle):
    assert la.similarity(one, other, shingle=shingle) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("中华人民共和国", "中华民国"),
        ("ภาษาไทยง่าย", "ภาษาไทยยาก"),
        ("Все люди рождаются свободными", "Все люди рождаются равными"),
        ("सभी मनुष्य स्वतंत्र हैं", "सभी मनुष्य समान हैं"),
        ("👍👍🎉", "👍🎉🎉"),
    ],
)
def test_texts_in_every_script_are_similar_by_degrees(one, other):
    for shingle in ("words:2", "chars:2"):
        assert 0 < la.similarity(one, other, shingle=shingle) < 1
