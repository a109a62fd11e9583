#!/usr/bin/env python3
"""Writes masked_bert.safetensors and masked_bert.json: what transformers and PyTorch say about model bert that guesses masked
pieces, for masked_bert_golden_test.cc.

Made with torch 2.15.0, transformers 4.57.1, numpy 2 and safetensors. Run it in this folder:  python3 make_masked_bert.py
Which pieces are masked follows from our streams of random numbers, by the rules below. Losses and gradients are computed in
float64 from float32 parameters by autograd, from equations that know our streams of dropout; without dropout they are compared
with transformers' BertForMaskedLM.
"""
import json

import numpy as np
import torch
from make_bert import ACTIVATIONS, DEFAULTS, DROPOUTS, dense, encode, norm, token_types
from make_lstm import MASK, mix64, stream_key
from safetensors.torch import save_file
from transformers import BertConfig, BertForMaskedLM

torch.set_num_threads(1)
MASKING = 9  # kind of the stream
SPECIALS, MASK_ID = 5, 4  # [PAD] [UNK] [CLS] [SEP] [MASK] are the first pieces
EVERY = dict(hidden_dropout=0.2, attention_dropout=0.3)


def draw(key, n):
    return mix64((key + (n + 1) * 0x9E3779B97F4A7C15) & MASK)


def below(number, bound):
    return number * bound >> 64


def units(case, ids):
    """Positions that are chosen together: pieces, or whole words."""
    found = []
    for i, piece in enumerate(ids):
        if piece < SPECIALS:
            continue
        if case["whole_words"] and piece in case["continuations"] and found and found[-1][-1] == i - 1:
            found[-1].append(i)
        else:
            found.append([i])
    return found or [[i] for i in range(len(ids))]


def shown(case, piece, position, key):
    tenth = below(draw(key, 2 * position), 10)
    if tenth < 8:
        return MASK_ID
    return below(draw(key, 2 * position + 1), case["vocabulary"]) if tenth == 8 else piece


def choose_masked(case, ids, key):
    """(position, truth, shown) of 15 % of the pieces, at least one."""
    order, replacement = stream_key(key, 0), stream_key(key, 1)
    words = units(case, ids)
    left = max(1, (sum(map(len, words)) * 15 + 50) // 100)
    places = []
    for i in range(len(words)):
        if left == 0:
            break
        j = i + below(draw(order, i), len(words) - i)
        words[i], words[j] = words[j], words[i]
        if len(words[i]) > left and places:
            continue
        places += [(p, ids[p], shown(case, ids[p], p, replacement)) for p in words[i]]
        left -= min(left, len(words[i]))
    return sorted(places)


def reference(case):
    config = BertConfig(
        vocab_size=case["vocabulary"], hidden_size=case["hidden"], num_hidden_layers=case["layers"],
        num_attention_heads=case["heads"], intermediate_size=case["intermediate"], hidden_act=case["activation"],
        max_position_embeddings=case["positions"], type_vocab_size=case["types"], layer_norm_eps=case["norm_epsilon"],
        attn_implementation="eager")
    return BertForMaskedLM(config).double().eval()


def draw_parameters(case, rng):
    values = {}
    for name, parameter in reference(case).named_parameters():
        scale = 1.0 if "embeddings" in name else 2.0 / case["hidden"] ** 0.5
        value = rng.normal(size=tuple(parameter.shape)) * scale
        if "LayerNorm.weight" in name:
            value = 1 + 0.3 * value
        values[name] = torch.from_numpy(value.astype(np.float32))
    return values


def make_case(name, rng, lengths=(5, 9, 3, 12, 7), others=(), seconds=None, ids=None, **options):
    case = {"name": name, **DEFAULTS, "labels": "none", "classes": 0, "whole_words": False, **options}
    grains = [*others, lengths]
    case["grain"] = len(others)
    case["grain_begin"] = [0, *np.cumsum([len(grain) for grain in grains]).tolist()]
    case["continuations"] = list(range(SPECIALS + 1, case["vocabulary"], 2))
    case["ids"] = ids or [rng.integers(1, case["vocabulary"], n).tolist() for grain in grains for n in grain]
    case["second_begins"] = list(seconds or [0] * len(case["ids"]))
    case["truth"] = [0] * len(case["ids"])
    return case


def cases():
    """(name, options)."""
    yield "plain", {}
    yield "odd widths", {"hidden": 21, "intermediate": 17}
    for activation in ("gelu_new", "relu"):
        yield activation, {"activation": activation}
    yield "epsilon", {"norm_epsilon": 1e-2}
    yield "pairs", {"seconds": (3, 0, 0, 11, 1)}
    yield "several blocks of pieces", {"vocabulary": 1100}
    small = {"hidden": 8, "heads": 2, "intermediate": 12, "layers": 1}
    yield "more masked rows than are computed at once", {"lengths": (128,) * 12, "positions": 128, **small}
    yield "one piece", {"ids": [[2, 9, 3]], "lengths": (3,)}
    yield "nothing but special pieces", {"ids": [[2, 1, 3], [2, 3]], "lengths": (3, 2)}
    before = ((4,), (3, 6))
    yield "later grain", {"step": 7, "seed": 3, "others": before}
    words = {"whole_words": True, "lengths": (14, 13, 9, 1, 40), "positions": 40}
    yield "whole words", words
    yield "one long word", {"whole_words": True, "ids": [[2, 5, *[6] * 10, 3]], "lengths": (13,)}
    yield "every dropout", {**EVERY, **words, "step": 123456789012, "seed": 4294967295, "others": before, "layers": 3}
    yield "one layer frozen", {**EVERY, "freeze": 1, "layers": 3}
    yield "all layers frozen", {"freeze": 2}


def compute(case, parameters, dropout):
    """The places of each text, their probabilities, loss, right guesses and gradients."""
    p = {name: value.double().requires_grad_() for name, value in parameters.items()}
    begin, end = case["grain_begin"][case["grain"]:][:2]
    rows, places = [list(row) for row in case["ids"][begin:end]], []
    for i, row in enumerate(rows):
        key = stream_key(case["seed"], case["step"], case["grain"], MASKING, i)
        places.append(choose_masked(case, row, key))
        for position, _, seen in places[-1]:
            row[position] = seen
    types = token_types(case, rows, case["second_begins"][begin:end])
    firsts = [0, *np.cumsum([len(row) for row in rows])[:-1].tolist()]
    which = torch.tensor([first + place[0] for first, of_text in zip(firsts, places) for place in of_text])
    truths = torch.tensor([place[1] for of_text in places for place in of_text])
    x = encode(case, p, rows, types, dropout)[which]
    head = "cls.predictions.transform"
    x = norm(case, p, head, ACTIVATIONS[case["activation"]](dense(p, head + ".dense", x)))
    logits = x @ p["bert.embeddings.word_embeddings.weight"].T + p["cls.predictions.bias"]
    loss = torch.nn.functional.cross_entropy(logits, truths, reduction="sum")
    loss.backward()
    gradients = {name: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for name, leaf in p.items()}
    return {"rows": rows, "types": types, "places": places, "logits": logits.detach(), "loss": loss.item(),
            "right": int((logits.argmax(1) == truths).sum()), "gradients": gradients}


def check_against_transformers(case, parameters, plain):
    """transformers must say the same as our equations: logits, and every gradient."""
    model = reference(case)
    missing = model.load_state_dict({name: value.double() for name, value in parameters.items()}, strict=False)
    assert all("decoder" in name for name in missing.missing_keys) and not missing.unexpected_keys, missing
    longest = max(map(len, plain["rows"]))
    padded = lambda lists, fill=0: torch.tensor([values + [fill] * (longest - len(values)) for values in lists])
    labels = [[-100] * len(row) for row in plain["rows"]]
    for row, of_text in zip(labels, plain["places"]):
        for position, truth, _ in of_text:
            row[position] = truth
    labels = padded(labels, -100)
    out = model(input_ids=padded(plain["rows"]), attention_mask=padded([[1] * len(row) for row in plain["rows"]]),
                token_type_ids=padded(plain["types"]), labels=labels)
    count = int((labels != -100).sum())
    assert torch.allclose(out.logits[labels != -100], plain["logits"], rtol=1e-9, atol=1e-9), case["name"]
    assert abs(out.loss.item() * count - plain["loss"]) < 1e-9 * plain["loss"], case["name"]
    (out.loss * count).backward()
    for name, parameter in model.named_parameters():
        assert torch.allclose(parameter.grad, plain["gradients"][name], rtol=1e-7, atol=1e-9), (case["name"], name)


def main():
    tensors, found = {}, []
    for number, (name, options) in enumerate(cases()):
        rng = np.random.default_rng([3000, number])
        case = make_case(name, rng, **options)
        parameters = draw_parameters(case, rng)
        plain = compute(case, parameters, False)
        check_against_transformers(case, parameters, plain)
        dropped = compute(case, parameters, True) if any(case[d] for d in DROPOUTS) else plain
        prefix = f"{number}/"
        tensors.update({prefix + name: value for name, value in parameters.items()})
        tensors[prefix + "probabilities"] = torch.softmax(plain["logits"], 1).float()
        tensors.update({prefix + name + ".gradient": value.float() for name, value in dropped["gradients"].items()})
        places = plain["places"]
        found.append({**case, "places": places, "expected_loss": dropped["loss"], "expected_right": dropped["right"],
                      "expected_weight": sum(map(len, places)), "plain_loss": plain["loss"]})
    save_file({name: value.contiguous() for name, value in tensors.items()}, "masked_bert.safetensors")
    with open("masked_bert.json", "w", encoding="ascii") as file:
        json.dump({"cases": found}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
