#!/usr/bin/env python3
"""Writes bert.safetensors and bert.json: what transformers and PyTorch say about model bert, for bert_golden_test.cc.

Made with torch 2.15.0, transformers 4.57.1, numpy 2 and safetensors. Run it in this folder:  python3 make_bert.py
Hidden states are transformers' own. Logits, losses and gradients are computed in float64 from float32 parameters by autograd,
from the equations below, which know our streams of dropout; without dropout they are compared with transformers'
BertForSequenceClassification.
"""
import json

import numpy as np
import torch
from make_lstm import dropout_mask, sample_loss
from safetensors.torch import save_file
from transformers import BertConfig, BertForSequenceClassification

torch.set_num_threads(1)
EMBEDDING, OUTPUT, PROBABILITIES, ATTENTION, FEED_FORWARD = 2, 5, 6, 7, 8  # kinds of dropout streams

DEFAULTS = {
    "hidden": 18, "layers": 2, "heads": 3, "intermediate": 27, "positions": 14, "types": 2, "activation": "gelu",
    "norm_epsilon": 1e-12, "hidden_dropout": 0.0, "attention_dropout": 0.0, "classifier_dropout": 0.0, "freeze": 0,
    "loss": "cross-entropy", "focal_gamma": 2.0, "labels": "single", "classes": 3, "class_weights": [],
    "vocabulary": 30, "seed": 1, "step": 0, "grain": 0,
}
DROPOUTS = [name for name in DEFAULTS if name.endswith("_dropout")]
ACTIVATIONS = {
    "gelu": torch.nn.functional.gelu, "relu": torch.relu,
    "gelu_new": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}


def reference(case):
    config = BertConfig(
        vocab_size=case["vocabulary"], hidden_size=case["hidden"], num_hidden_layers=case["layers"],
        num_attention_heads=case["heads"], intermediate_size=case["intermediate"], hidden_act=case["activation"],
        max_position_embeddings=case["positions"], type_vocab_size=case["types"], layer_norm_eps=case["norm_epsilon"],
        num_labels=case["classes"], attn_implementation="eager")
    return BertForSequenceClassification(config).double().eval()


def draw_parameters(case, rng):
    """float32 values, large enough that the attention is far from even."""
    values = {}
    for name, parameter in reference(case).named_parameters():
        scale = 1.0 if "embeddings" in name else 2.0 / case["hidden"] ** 0.5
        value = rng.normal(size=tuple(parameter.shape)) * scale
        if "LayerNorm.weight" in name:
            value = 1 + 0.3 * value
        values[name] = torch.from_numpy(value.astype(np.float32))
    return values


def make_case(name, rng, lengths=(5, 9, 1, 12, 7), others=(), words=None, seconds=None, **options):
    """others: lengths of the samples in each grain before; words: how many distinct ones occur; seconds: where the second
    text of each pair begins, 0: there is none."""
    case = {"name": name, **DEFAULTS, **options}
    grains = [*others, lengths]
    case["grain"] = len(others)
    case["grain_begin"] = [0, *np.cumsum([len(grain) for grain in grains]).tolist()]
    case["ids"] = [rng.integers(1, words or case["vocabulary"], n).tolist() for grain in grains for n in grain]
    case["second_begins"] = list(seconds or [0] * len(case["ids"]))
    if case["labels"] == "single":
        case["truth"] = rng.integers(0, case["classes"], len(case["ids"])).tolist()
    else:
        case["truth"] = rng.integers(0, 2, (len(case["ids"]), case["classes"])).tolist()
    return case


def cases():
    """(name, options) for every option of the model, alone and together."""
    yield "plain", {}
    yield "one layer, one head", {"layers": 1, "heads": 1}
    yield "odd widths", {"hidden": 21, "heads": 3, "intermediate": 17}
    yield "wide", {"hidden": 40, "heads": 2, "intermediate": 70, "layers": 3}
    for activation in ("gelu_new", "gelu_pytorch_tanh", "relu"):
        yield activation, {"activation": activation}
    yield "epsilon", {"norm_epsilon": 1e-2}
    yield "one word", {"lengths": (1,)}
    yield "one text", {"lengths": (13,)}
    yield "all positions", {"lengths": (14, 2)}
    yield "every length to 40", {"lengths": range(40, 0, -1), "positions": 40}
    small = {"hidden": 8, "heads": 2, "intermediate": 12, "layers": 2}
    yield "lengths to 512", {"lengths": (512, 511, 257, 256, 255, 129, 128, 127, 65, 64, 63), "positions": 512, **small}
    yield "pairs", {"seconds": (3, 0, 0, 11, 1)}
    yield "pairs of one type", {"seconds": (3, 0, 0, 11, 1), "types": 1}
    yield "four types", {"seconds": (3, 0, 0, 11, 1), "types": 4}
    yield "equal lengths", {"lengths": (8,) * 5}
    yield "words that repeat", {"lengths": (6, 9, 14), "words": 4}
    before = ((4,), (3, 6))
    for name in DROPOUTS:
        yield name, {name: 0.4, "step": 7, "seed": 3, "others": before}
    every = dict(hidden_dropout=0.2, attention_dropout=0.3, classifier_dropout=0.4)
    yield "every dropout", {**every, "step": 123456789012, "seed": 4294967295, "others": before, "layers": 3}
    yield "one layer frozen", {**every, "freeze": 1, "layers": 3}
    yield "all layers frozen", {"freeze": 2}
    yield "weighted", {"class_weights": [1.0, 3.5, 0.25]}
    yield "focal", {"loss": "focal"}
    yield "labels", {"labels": "multiple", "classes": 6}
    yield "labels weighted", {"labels": "multiple", "classes": 4, "class_weights": [1.0, 3.5, 0.25, 20.0], **every}


def norm(case, p, name, x):
    return torch.nn.functional.layer_norm(x, (case["hidden"],), p[name + ".LayerNorm.weight"], p[name + ".LayerNorm.bias"],
                                          case["norm_epsilon"])


def dense(p, name, x):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def token_types(case, rows, seconds):
    """1 for the second text of a pair, for each text."""
    return [[int(case["types"] > 1 and 0 < second <= i) for i in range(len(row))] for row, second in zip(rows, seconds)]


def dropper(case, dropout):
    def drop(x, kind, share, layer=0, first=0):
        if not dropout or share == 0:
            return x
        return x * dropout_mask(case, kind, layer, share, first, x.numel()).reshape(x.shape)

    return drop


def encode(case, p, rows, types, dropout):
    """Output of the last layer, text after text. rows: the ids of each."""
    width, heads, drop = case["hidden"], case["heads"], dropper(case, dropout)
    e = "bert.embeddings."
    ids = torch.tensor([i for row in rows for i in row])
    places = torch.tensor([i for row in rows for i in range(len(row))])
    kinds = torch.tensor([kind for row in types for kind in row])
    words = torch.nn.functional.embedding(ids, p[e + "word_embeddings.weight"], padding_idx=0)  # as transformers has it
    x = words + p[e + "token_type_embeddings.weight"][kinds] \
        + p[e + "position_embeddings.weight"][places]
    x = drop(norm(case, p, "bert.embeddings", x), EMBEDDING, case["hidden_dropout"])
    for layer in range(case["layers"]):
        name = f"bert.encoder.layer.{layer}."
        q, k, v = (dense(p, name + "attention.self." + part, x) for part in ("query", "key", "value"))
        contexts, begin, first = [], 0, 0
        for row in rows:
            n = len(row)
            split = lambda m: m[begin:begin + n].reshape(n, heads, width // heads).transpose(0, 1)
            scores = split(q) @ split(k).transpose(1, 2) / (width // heads) ** 0.5
            weights = drop(torch.softmax(scores, -1), PROBABILITIES, case["attention_dropout"], layer, first)
            contexts.append((weights @ split(v)).transpose(0, 1).reshape(n, width))
            begin, first = begin + n, first + heads * n * n
        out = drop(dense(p, name + "attention.output.dense", torch.cat(contexts)), ATTENTION, case["hidden_dropout"], layer)
        x = norm(case, p, name + "attention.output", out + x)
        inner = ACTIVATIONS[case["activation"]](dense(p, name + "intermediate.dense", x))
        out = drop(dense(p, name + "output.dense", inner), FEED_FORWARD, case["hidden_dropout"], layer)
        x = norm(case, p, name + "output", out + x)
    return x


def forward(case, p, rows, types, dropout):
    """Logits of the grain's texts."""
    x, drop = encode(case, p, rows, types, dropout), dropper(case, dropout)
    firsts = torch.tensor([0, *np.cumsum([len(row) for row in rows])[:-1].tolist()])
    pooled = torch.tanh(dense(p, "bert.pooler.dense", x[firsts]))
    return dense(p, "classifier", drop(pooled, OUTPUT, case["classifier_dropout"]))


def compute(case, parameters, dropout):
    leaves = {name: value.double().requires_grad_() for name, value in parameters.items()}
    begin, end = case["grain_begin"][case["grain"]:][:2]
    rows = case["ids"][begin:end]
    logits = forward(case, leaves, rows, token_types(case, rows, case["second_begins"][begin:end]), dropout)
    parts = [sample_loss(case, row, truth) for row, truth in zip(logits, case["truth"][begin:end])]
    total = sum(part[0] for part in parts)
    total.backward()
    return logits.detach(), total.item(), sum(part[1] for part in parts), {name: leaf.grad for name, leaf in leaves.items()}


def check_against_transformers(case, parameters, plain):
    """transformers must say the same as our equations: logits, and every gradient. Returns what its layers say about the
    tokens of the first text."""
    model = reference(case)
    model.load_state_dict({name: value.double() for name, value in parameters.items()})
    begin, end = case["grain_begin"][case["grain"]:][:2]
    rows = case["ids"][begin:end]
    longest = max(map(len, rows))
    padded = lambda lists: torch.tensor([values + [0] * (longest - len(values)) for values in lists])
    types = token_types(case, rows, case["second_begins"][begin:end])
    mask = [[1] * len(row) for row in rows]
    answer = model(input_ids=padded(rows), attention_mask=padded(mask), token_type_ids=padded(types), output_hidden_states=True)
    logits = answer.logits
    assert torch.allclose(logits, plain[0], rtol=1e-9, atol=1e-9), case["name"]
    sum(sample_loss(case, row, truth)[0] for row, truth in zip(logits, case["truth"][begin:end])).backward()
    for name, parameter in model.named_parameters():
        assert torch.allclose(parameter.grad, plain[3][name], rtol=1e-7, atol=1e-9), (case["name"], name)
    return torch.stack([layer[0, :len(rows[0])].detach() for layer in answer.hidden_states[1:]])


def main():
    tensors, found = {}, []
    for number, (name, options) in enumerate(cases()):
        rng = np.random.default_rng([2000, number])
        case = make_case(name, rng, **options)
        parameters = draw_parameters(case, rng)
        plain = compute(case, parameters, False)
        states = check_against_transformers(case, parameters, plain)
        dropped = compute(case, parameters, True) if any(case[d] for d in DROPOUTS) else plain
        prefix = f"{number}/"
        tensors.update({prefix + name: value for name, value in parameters.items()})
        tensors[prefix + "logits"] = plain[0].float()
        tensors[prefix + "states"] = states.float()
        tensors.update({prefix + name + ".gradient": value.float() for name, value in dropped[3].items()})
        found.append({**case, "expected_loss": dropped[1], "expected_weight": dropped[2]})
    save_file({name: value.contiguous() for name, value in tensors.items()}, "bert.safetensors")
    with open("bert.json", "w", encoding="ascii") as file:
        json.dump({"cases": found}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
