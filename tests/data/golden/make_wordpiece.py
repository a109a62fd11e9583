#!/usr/bin/env python3
"""Writes wordpiece.json and wordpiece_vocab.txt: what the reference says about WordPiece, for wordpiece_golden_test.cc.

Made with transformers 4.57.1 and tokenizers 0.22.1. Run it in this folder:  python3 make_wordpiece.py [BERT_VOCAB]
The vocabulary is made of our own words. BERT_VOCAB: the vocab.txt of the uncased BERT; of it only checksums are kept:
one for each 4,096 code points, over the ids of every code point alone and between two letters.
"""
import array
import json
import random
import sys
import zlib

import tokenizers
import transformers
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers import BertTokenizerFast

BLOCK = 4096
SHORT = "a b i x the cat sat on mat un want run runn quick brown fox do don t naive café cafe istanbul strasse straße \
internationalization exactlysixteen1 counterrevolutionaries привет мир йод ёж ελλας ς σ 中 国 漢 豈 日本 かな か ゙ ᄀ ᄒ \
한 क ि . , ! ? ' \" - _ ( ) [ ] # $ % ^ ~ ` | … – “ ” ¿ 。 € © 🙂 A B The Cat CAFE Café É Å Ω K [unused1] cls sep 0 1 2024 𝅘𝅥 𝅘".split()
CONTINUED = "a b c d e f g h i j k l m n o p q r s t u v w x y z ed ing able tion ization é è ß ς σ ё а б в г ᅡ ᆨ ᅵ ᆫ ी 2 24 \
़ ् 🙂 中 A B É longcontinuationpiece 𝅥 𝅮 ᭄ 〮".split()
# The special ones stand elsewhere than in BERT's own, so that no id can be a habit.
VOCABULARY = ["[PAD]"] + SHORT[:7] + ["[SEP]", "[MASK]"] + SHORT[7:] + ["[CLS]", "[UNK]"] + ["##" + piece for piece in CONTINUED]

LINES = [
    "", " ", "The cat sat on the mat.", "unwanted running", "THE CAT", "don't", "a_b-c", "quick,brown!fox?",
    "café CAFÉ cafe\u0301 CAFE\u0301", "na\u00efve naive", "\u0130stanbul ISTANBUL \u0131", "Stra\u00dfe STRA\u1e9eE",
    "ΕΛΛΑΣ Σ σς", "ПРИВЕТ, МИР! Ёж йод", "\u01c4 \u01c5 \u01c6 \ufb01 \u2126 \u212a \u212b",
    "中国日本", "a中b国c", "漢字かな\u304b\u3099 \u304c", "\uf900\uf900x", "\U00020000 \U0002f800", "한국어 \uac01 \ud7a3", "a\u0300\u0301b",
    "\u0915\u093f \u0958 \u0928\u093c", "\u0344 \u0f73 \u0f43", "a\U0001d165\u0301\U0001d16db", "\U0001d160 \U0001d15e",
    "x\U0001d165\u1b44y \u1b44\U0001d165", "x\U0001d165\u0001\u1b44y", "x\u302e\u1b44\u05b0\u302fy", "x\U0001d165\u0901\u1b44y",
    "tab\there\nand\rthere\u000bno\u000cform", "zero\u0000byte", "soft\u00adhyphen zero\u200bwidth \ufeffbom", "nel\u0085x nbsp\u00a0x",
    "line\u2028para\u2029x ideographic\u3000space \u1680x \u202fx", "private \ue000 use \U000f0000 x", "un\U000e0001tagged", "re\ufffdplaced",
    "unassigned \u0378 \U0001fbff x", "“quoted” ‘x’ – — … ¿que? 。", "$5.99 €5 ^_^ a|b ~x `y` <b>c</b>", "100% #1 @home a/b\\c a=b+c",
    "[CLS] [SEP] [MASK] [PAD] [UNK]", "the[SEP]cat[MASK]", "[sep] [Cls] [MASK", "[[CLS]]", "cafe[SEP]\u0301cafe", "[ SEP ]", "[unused1]",
    "a" * 100, "a" * 101, "é" * 100, "é" * 101, "中" * 101, ("a" * 63 + " ") * 3, "ab" * 40 + "." + "b" * 64, "\U0001d160" * 34, "가" * 34, "가" * 50,
    "internationalization", "exactlysixteen1 exactlysixteen12", "counterrevolutionaries", "alongcontinuationpieces", "xlongcontinuationpiecez",
    "unknownqqq ###", "#hash ##ing", "1024 2024 024 0x1", "🙂 a🙂b 👍🏽 👨‍👩‍👧", "e\u0327\u0301 \u1e1d", "\u1fef \u037e \u2329x\u232a \u0387", "\u0374", "\u00c5ngstr\u00f6m",
    "\ufdfa \ufb4e \u0622 \u06c0", "ﬀ ① ㎏ ﾊﾟ", "אבג\u05b0 שׁ", "ไทย ສວັດດີ", "\u1100\u1161\u11a8 \u1112\u1161\u11ab", "ᏣᎳᎩ ꭰ Ა ა", "\U00010400\U00010428 \U0001e900",
    "the " * 600, "unwanted " * 300,
]
PAIRS = [("the cat", "sat on"), ("the " * 30, "a"), ("a", "the " * 30), ("the " * 30, "cat " * 30), ("the " * 31, "cat " * 30),
         ("the " * 7, "cat " * 8), ("", "the"), ("the [SEP] cat", "[MASK]")]
LENGTHS = [5, 6, 7, 8, 16, 17, 31, 32, 512]


def reference(vocabulary, lowercase):
    return BertTokenizerFast(vocab_file=vocabulary, do_lower_case=lowercase)


def sequence(tokenizer, text, second, length):
    out = tokenizer(text, second, truncation=True, max_length=length)
    types = out["token_type_ids"]
    return {"ids": out["input_ids"], "second_begin": types.index(1) if 1 in types else 0}


def words(normalizer, text):
    return [word for word, _ in BertPreTokenizer().pre_tokenize_str(normalizer.normalize_str(text))]


def code_points(block):
    return [chr(c) for c in range(block, block + BLOCK) if not 0xD800 <= c <= 0xDFFF]


def checksums(bytes_of):
    """One for each block, over bytes_of(text) for every code point alone and between two letters."""
    sums = []
    for block in range(0, 0x110000, BLOCK):
        content = b"".join(bytes_of(text) for c in code_points(block) for text in (c, "a" + c + "b"))
        sums.append(zlib.crc32(content))
    return sums


def id_bytes(tokenizer):
    backend = tokenizer.backend_tokenizer
    return lambda text: array.array("I", backend.encode(text).ids + [0xFFFFFFFF]).tobytes()


def word_bytes(normalizer):
    return lambda text: ("\n".join(words(normalizer, text)) + "\0").encode()


def mixtures(count):
    """Strings in which marks of all kinds meet."""
    numbers = random.Random(6)
    parts = list("ab. é中가각") + [chr(c) for c in (0x301, 0x327, 0x345, 0x334, 0x901, 0x93C, 0x94D, 0xF3F, 0x1B44, 0x1BAA, 0x1BF2, 0x302E, 0x302F,
        0xA953, 0xA9C0, 0x1D165, 0x1D166, 0x1D16D, 0x1D160, 0x16FF0, 0x11235, 0x1134D, 0x344, 0xF73, 0x1E9E, 0x130, 0x37E, 1, 9, 0xAD, 0x85, 0x200D, 0x2028,
        0x1E8D0, 0x1E944, 0x11F41, 0x10EFD, 0x1ABF, 0x8D3, 0x1CF7, 0x1193D, 0xF900, 0x2F800, 0xFFFD, 0x345)]
    return ["".join(numbers.choice(parts) for _ in range(numbers.randrange(2, 14))) for _ in range(count)]


def main():
    with open("wordpiece_vocab.txt", "w", encoding="utf-8") as file:
        assert len(set(VOCABULARY)) == len(VOCABULARY)
        file.write("".join(piece + "\n" for piece in VOCABULARY))
    golden = {"made_with": {"transformers": transformers.__version__, "tokenizers": tokenizers.__version__}}
    casings = {"uncased": True, "cased": False}
    both = {name: reference("wordpiece_vocab.txt", lowercase) for name, lowercase in casings.items()}
    golden["lines"] = [{"text": line, **{name: sequence(t, line, None, 512) for name, t in both.items()}} for line in LINES]
    golden["cut"] = [{"text": first, "second": second, "length": length, **{name: sequence(t, first, second, length) for name, t in both.items()}}
                     for first, second in PAIRS + [("the " * 40, None), ("the cat", None)] for length in LENGTHS]

    rules = {f"{'lower' if lower else 'keep'}-{'strip' if strip else 'keep'}":
             BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=strip, lowercase=lower)
             for lower in (True, False) for strip in (True, False)}
    golden["mixtures"] = [{"text": text, **{name: words(normalizer, text) for name, normalizer in rules.items()}} for text in mixtures(300)]
    golden["code_point_words"] = {name: checksums(word_bytes(normalizer)) for name, normalizer in rules.items()}
    if len(sys.argv) > 1:
        golden["code_point_ids"] = {name: checksums(id_bytes(reference(sys.argv[1], lowercase))) for name, lowercase in casings.items()}
    with open("wordpiece.json", "w", encoding="ascii") as file:
        json.dump(golden, file, separators=(",", ":"))
        file.write("\n")
    return 0


sys.exit(main())
