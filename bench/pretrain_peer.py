"""transformers' side of bench/pretrain; runs in the peers' Python and prints one JSON object.

  pretrain_peer.py train --data DATASET [--steps N] [--batch-size N]
  pretrain_peer.py fill --model FOLDER --answers FILE     largest difference of a probability in the answers of predict --json

train: BertForMaskedLM of the same shape on the same rows, 15 % of the pieces masked as transformers' collator does, dropout 0.1, AdamW (fused
where there is such), clipping, flush-to-zero. Masks are drawn outside the clock. The first step is not counted.
"""
import argparse
import json
import os
import time

import h5py
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM

IGNORED = -100
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def read_rows(folder, count):
    """The first full rows of the split train, and the pieces of the vocabulary."""
    with open(os.path.join(folder, "dataset.json"), encoding="utf-8") as file:
        info = json.load(file)
    length = info["tokenizer"]["max_length"]
    shard = info["splits"][0]["shards"][0]["file"]
    with h5py.File(os.path.join(folder, shard)) as file:
        rows = torch.from_numpy(file["ids"][: count * length].astype("int64")).reshape(count, length)
    with open(os.path.join(folder, "vocab.txt"), encoding="utf-8") as file:
        return rows, file.read().split("\n")[:-1]


def masked(rows, pieces):
    """What is shown, and what is to be guessed."""
    special = torch.tensor([pieces.index(piece) for piece in SPECIAL if piece in pieces])
    chosen = (torch.rand(rows.shape) < 0.15) & ~torch.isin(rows, special)
    fate = torch.rand(rows.shape)
    shown = torch.where(chosen & (fate < 0.8), pieces.index("[MASK]"), rows)
    shown = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), torch.randint(len(pieces), rows.shape), shown)
    return shown, torch.where(chosen, rows, IGNORED)


def fill(options):
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForMaskedLM.from_pretrained(options.model).eval()
    largest, masks = 0.0, 0
    with open(options.answers, encoding="utf-8") as file, torch.inference_mode():
        for answer in map(json.loads, file):
            inputs = tokenizer(answer["text"], return_tensors="pt")
            probabilities = model(**inputs).logits[0].softmax(-1)
            for mask in answer["masks"]:
                assert inputs["input_ids"][0, mask["position"]] == tokenizer.mask_token_id
                for guess in mask["words"]:
                    theirs = probabilities[mask["position"], tokenizer.convert_tokens_to_ids(guess["word"])].item()
                    largest = max(largest, abs(theirs - guess["probability"]) / theirs)
                masks += 1
    return {"largest": largest, "masks": masks}


def train(options):
    torch.manual_seed(1)
    size, steps = options.batch_size, options.steps + 1
    rows, pieces = read_rows(options.data, size * steps)
    model = BertForMaskedLM(BertConfig(vocab_size=len(pieces), num_hidden_layers=4, hidden_size=256, num_attention_heads=4,
                                       intermediate_size=1024, max_position_embeddings=128)).train()
    try:
        adam = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    except RuntimeError:
        adam = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    seconds = []
    for step in range(steps):
        shown, labels = masked(rows[step * size : (step + 1) * size], pieces)
        started = time.perf_counter()
        model(input_ids=shown, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()
        seconds.append(time.perf_counter() - started)
    return {"samples_a_second": size * options.steps / sum(seconds[1:])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["train", "fill"])
    parser.add_argument("--data")
    parser.add_argument("--model")
    parser.add_argument("--answers")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_flush_denormal(True)
    torch.set_num_threads(options.threads)
    print(json.dumps({"train": train, "fill": fill}[options.what](options)))


if __name__ == "__main__":
    main()
