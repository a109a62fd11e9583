#!/usr/bin/env python3
"""Reads an ngram model of Paceline with NumPy, and into PyTorch (docs/formats/model.md).

    paceline predict RUN --text "…" --details --json > answers.jsonl
    python3 read_ngram.py RUN/model answers.jsonl [--torch]

computes the logits of every answer again from its input_ids and ends with 1 if one differs by more than
1e-5.
"""
import json
import struct
import sys

import numpy as np


def read_safetensors(path):
    """The tensors of the file by name, as float32 arrays."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"])
    return tensors


MASK = (1 << 64) - 1


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def rows_of(ids, config):
    """The rows of embedding.weight that a text uses: its words, then its n-grams of two words and more."""
    if config["max_length"] > 0:
        ids = ids[: config["max_length"]]
    rows = list(ids)
    for i in range(len(ids)):
        value = ids[i]
        for word in ids[i + 1 : i + config["ngrams"]]:
            value = mix64((value * 0x9E3779B97F4A7C15 + word + 1) & MASK)
            rows.append(config["tokenizer"]["vocabulary_size"] + (((value >> 32) * config["buckets"]) >> 32))
    return rows


def logits(rows, tensors):
    embedding, weight, bias = (tensors[n] for n in ("embedding.weight", "output.weight", "output.bias"))
    hidden = embedding[rows].mean(axis=0) if rows else np.zeros(embedding.shape[1], np.float32)
    return weight @ hidden + bias


def torch_module(tensors):
    """The same model in PyTorch; call it as module(torch.tensor([rows]))."""
    import torch

    class Ngram(torch.nn.Module):
        def __init__(self, rows, dim, classes):
            super().__init__()
            self.embedding = torch.nn.EmbeddingBag(rows, dim, mode="mean")
            self.output = torch.nn.Linear(dim, classes)

        def forward(self, rows):
            return self.output(self.embedding(rows))

    module = Ngram(*tensors["embedding.weight"].shape, len(tensors["output.bias"]))
    module.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in tensors.items()})
    return module


def main(folder, answers, *flags):
    with open(f"{folder}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    if (config["format"], config["version"], config["model"]) != ("paceline-model", 1, "ngram"):
        sys.exit(f"{folder}: not an ngram model of version 1")
    tensors = read_safetensors(f"{folder}/model.safetensors")
    module = torch_module(tensors) if "--torch" in flags else None
    worst = count = 0
    for line in open(answers, encoding="utf-8"):
        answer = json.loads(line)
        ids = [i for i, mask in zip(answer["input_ids"], answer["attention_mask"]) if mask]
        rows = rows_of(ids, config)
        if module is None:
            found = logits(rows, tensors)
        else:
            import torch

            found = module(torch.tensor([rows], dtype=torch.long)).detach().numpy()[0]
        worst = max(worst, float(np.abs(found - np.array(answer["logits"])).max()))
        count += 1
    print(f"{count} answers, largest difference of a logit {worst:.1e}")
    return 0 if count > 0 and worst <= 1e-5 else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
