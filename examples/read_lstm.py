#!/usr/bin/env python3
"""Reads an lstm model of Paceline into PyTorch modules (docs/formats/model.md). Needs NumPy and PyTorch.

    paceline predict RUN --text "…" --details --json > answers.jsonl
    python3 read_lstm.py RUN/model answers.jsonl

computes the logits of every answer again from its input_ids, prints them beside the words that the model saw,
and ends with 1 if one differs by more than 1e-5, relative to the largest of its answer or to 1.
"""
import json
import struct
import sys

import numpy as np
import torch


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


class Lstm(torch.nn.Module):
    """The whole model; its state_dict has the names of model.safetensors."""

    def __init__(self, config):
        super().__init__()
        rnn = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[config["cell"]]
        self.hidden, self.pooling = config["hidden"], config["pooling"]
        width = self.hidden * (2 if config["bidirectional"] else 1)
        self.embedding = torch.nn.Embedding(config["tokenizer"]["vocabulary_size"], config["embedding"])
        self.rnn = rnn(config["embedding"], self.hidden, config["layers"], bidirectional=config["bidirectional"])
        if self.pooling == "attention":
            self.attention = torch.nn.Linear(width, 1, bias=False)
        self.output = torch.nn.Linear(width, len(config["classes"]))

    def forward(self, ids):
        """Logits of one text, a tensor of ids."""
        states, _ = self.rnn(self.embedding(ids))
        return self.output(self.pool(states))

    def pool(self, states):
        """One vector from the states of all positions."""
        if self.pooling == "last":  # of both directions: each where it has read the whole text
            return torch.cat([states[-1, : self.hidden], states[0, self.hidden :]])
        if self.pooling == "mean":
            return states.mean(0)
        if self.pooling == "max":
            return states.max(0).values
        return torch.softmax(self.attention(states), 0).T[0] @ states


def load(folder):
    """(config, words by id, module) of a model folder."""
    with open(f"{folder}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    if (config["format"], config["version"], config["model"]) != ("paceline-model", 1, "lstm"):
        sys.exit(f"{folder}: not an lstm model of version 1")
    with open(f"{folder}/vocab.txt", encoding="utf-8", newline="\n") as file:
        words = file.read().rstrip("\n").split("\n")
    module = Lstm(config)
    tensors = read_safetensors(f"{folder}/model.safetensors")
    module.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in tensors.items()})
    return config, words, module.eval()


def ids_of(answer, config):
    """The ids that the model reads: without padding, cut to max_length; a text without words is one unknown word."""
    ids = [i for i, mask in zip(answer["input_ids"], answer["attention_mask"]) if mask]
    if config["max_length"] > 0:
        ids = ids[: config["max_length"]]
    return ids or [1]


def main(folder, answers):
    config, words, module = load(folder)
    worst = count = 0
    for line in open(answers, encoding="utf-8"):
        answer = json.loads(line)
        ids = ids_of(answer, config)
        with torch.no_grad():
            found = module(torch.tensor(ids)).numpy()
        expected = np.array(answer["logits"])
        worst = max(worst, float(np.abs(found - expected).max() / max(1, np.abs(expected).max())))
        count += 1
        print(" ".join(f"{value:9.5f}" for value in found), " ", " ".join(words[i] for i in ids[:12]), "…" if len(ids) > 12 else "")
    print(f"{count} answers, largest difference of a logit {worst:.1e}")
    return 0 if count > 0 and worst <= 1e-5 else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
