#!/usr/bin/env python3
"""tokenizers on every line of a file: VOCAB TEXT CHECKSUMS. Prints seconds, writes a checksum of each line's ids."""
import array
import json
import os
import sys
import time
import zlib

os.environ["TOKENIZERS_PARALLELISM"] = "true"
import tokenizers  # noqa: E402
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: E402

BATCH = 10_000


def bert(path):
    """What BertTokenizerFast makes of a vocab.txt."""
    with open(path, encoding="utf-8") as file:
        vocabulary = {line.rstrip("\n"): number for number, line in enumerate(file)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])])
    tokenizer.add_special_tokens(["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"])
    return tokenizer


def main():
    vocab, text, out = sys.argv[1:]
    tokenizer = bert(vocab)
    with open(text, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line in file]
    batches = [lines[i:i + BATCH] for i in range(0, len(lines), BATCH)]
    seconds = {}
    for name, encode in (("batch", tokenizer.encode_batch), ("fast", tokenizer.encode_batch_fast)):
        seconds[name] = 0.0
        sums = array.array("I")
        encode(batches[0])
        for batch in batches:
            started = time.monotonic()
            encodings = encode(batch)
            seconds[name] += time.monotonic() - started
            sums.extend(zlib.crc32(array.array("I", encoding.ids).tobytes()) for encoding in encodings)
    with open(out, "wb") as file:
        sums.tofile(file)
    print(json.dumps({"version": tokenizers.__version__, **seconds}))


main()
