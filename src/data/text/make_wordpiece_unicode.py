#!/usr/bin/env python3
"""Writes wordpiece_unicode.cc: what the reference tokenizer makes of every code point.

Made with tokenizers 0.22.1. Run it in this folder:  python3 make_wordpiece_unicode.py
Each rule of the reference is asked by itself, with the others switched off. Assertions hold what the C++ code relies on.
"""
import sys
import unicodedata

import tokenizers
from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)
IDEOGRAPHS = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]


def rule(**on):
    every = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return BertNormalizer(**{**every, **on}).normalize_str


clean, ideograph, strip, lower = rule(clean_text=True), rule(handle_chinese_chars=True), rule(strip_accents=True), rule(lowercase=True)
decompose = NFD().normalize_str
split = BertPreTokenizer().pre_tokenize_str


def combining_class_is_zero(text):
    """Whether a mark of the lowest or of the highest class changes places with it."""
    low, high = "\u0334", "\u0345"
    return decompose(text + low).endswith(low) and decompose(high + text).startswith(high)


# One mark of each class, the first that the reference knows.
PROBES = {}
for c in range(0x300, 0x20000):
    if unicodedata.combining(chr(c)) and not combining_class_is_zero(chr(c)):
        PROBES.setdefault(unicodedata.combining(chr(c)), chr(c))


def combining_class(text):
    """By comparison with the probes."""
    below = [k for k, mark in PROBES.items() if mark != text and decompose(text + mark) == mark + text]
    above = [k for k, mark in PROBES.items() if mark != text and decompose(mark + text) == text + mark]
    equal = set(PROBES) - set(below) - set(above)
    assert len(equal) == 1, (text, equal)
    return equal.pop()


def ranges(values):
    found = []
    for value in sorted(values):
        if found and found[-1][1] == value - 1:
            found[-1][1] = value
        else:
            found.append([value, value])
    return found


def shifts(mapping):
    """Runs of equal distance, with a step of one or two."""
    found = []
    for value in sorted(mapping):
        distance = mapping[value] - value
        if found and found[-1][3] == distance:
            first, last, step, _ = found[-1]
            if (first == last and value - last <= 2) or value - last == step:
                found[-1][1:3] = [value, value - last]
                continue
        found.append([value, value, 1, distance])
    return found


def number(value):
    return str(value) if -10 < value < 10 else f"-{-value:#x}" if value < 0 else f"{value:#x}"


def write(out, name, kind, items):
    out.write(f"constexpr {kind} {name}_list[] = {{\n")
    line = ""
    for item in items:
        text = "{" + ",".join(map(number, item)) + "}," if isinstance(item, (list, tuple)) else number(item) + ","
        if len(line) + len(text) > 118:
            out.write(line + "\n")
            line = ""
        line += text
    out.write(line + "};\n")


def main():
    removed, spaces, punctuation, dropped_marks, dropped_starters, kept, chinese = [], [], [], [], [], [], []
    lowered, several, decomposed = {}, [], []
    for c in CODE_POINTS:
        text = chr(c)
        cleaned = clean(text)
        if cleaned == "":
            removed.append(c)
        elif cleaned != text:
            assert cleaned == " "
            spaces.append(c)
        words = [word for word, _ in split("a" + text + "b")]
        if words == ["a", text, "b"]:
            punctuation.append(c)
        elif words == ["a", "b"]:
            assert cleaned in ("", " "), hex(c)
        else:
            assert words == ["a" + text + "b"]
        apart = ideograph(text) != text
        if apart:
            assert ideograph(text) == f" {text} " and words == ["a" + text + "b"]
            chinese.append(c)

        small = lower(text)
        if len(small) > 1:
            several += [c, len(small), *map(ord, small)]
        elif small != text:
            lowered[c] = ord(small)

        bare = strip(text)
        if c in HANGUL:
            index = c - 0xAC00
            jamo = [0x1100 + index // 588, 0x1161 + index % 588 // 28] + ([0x11A7 + index % 28] if index % 28 else [])
            assert bare == "".join(map(chr, jamo))
        elif bare == "":
            starter = any(combining_class_is_zero(part) for part in decompose(text))
            (dropped_starters if starter else dropped_marks).append(c)
        else:
            if bare != text:
                decomposed += [c, len(bare), *map(ord, bare)]
            elif not combining_class_is_zero(text):
                kept.append((c, combining_class(text)))
            # A dropped starter behind a kept mark would stop the ordering inside of one decomposition.
            parts = decompose(text)
            for a, b in zip(parts, parts[1:]):
                assert not (strip(a) and not combining_class_is_zero(a) and combining_class_is_zero(b)), hex(c)
        result = lower(bare)
        apart = apart or len(split("a" + result + "b")) > 1
        assert len(result.encode()) + 2 * apart <= 3 * len(text.encode()) or c < 0x80, hex(c)
        assert all(lower(ch) == ch and strip(ch) == ch for ch in result), hex(c)

    assert [tuple(r) for r in ranges(chinese)] == [tuple(r) for r in ranges(
        {c for first, last in IDEOGRAPHS for c in range(first, last + 1)})]

    marks = []
    for c, order in kept:
        if marks and marks[-1][1] == c - 1 and marks[-1][2] == order:
            marks[-1][1] = c
        else:
            marks.append([c, c, order])

    with open("wordpiece_unicode.cc", "w", encoding="ascii") as out:
        out.write(f"// Made by make_wordpiece_unicode.py from tokenizers {tokenizers.__version__}. Not to be edited.\n")
        out.write('#include "data/text/wordpiece_unicode.h"\n\nnamespace paceline::wordpiece_unicode {\nnamespace {\n\n')
        out.write("// clang-format off\n")
        lists = [("removed", "Range", ranges(removed)), ("spaces", "Range", ranges(spaces)),
                 ("punctuation", "Range", ranges(punctuation)), ("dropped_marks", "Range", ranges(dropped_marks)),
                 ("dropped_starters", "Range", ranges(dropped_starters)), ("kept_marks", "OrderedMark", marks),
                 ("lower", "Shift", shifts(lowered)), ("lower_to_several", "char32_t", several),
                 ("decompositions", "char32_t", decomposed)]
        for name, kind, items in lists:
            write(out, name, kind, items)
        out.write("// clang-format on\n\n}  // namespace\n\n")
        for name, kind, _ in lists:
            out.write(f"const std::span<const {kind}> {name} = {name}_list;\n")
        out.write("\n}  // namespace paceline::wordpiece_unicode\n")
    return 0


sys.exit(main())
