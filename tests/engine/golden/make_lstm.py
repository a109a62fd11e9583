#!/usr/bin/env python3
"""Writes lstm.safetensors and lstm.json: what PyTorch says about model lstm, for lstm_golden_test.cc.

Made with torch 2.15.0, numpy 2 and safetensors. Run it in this folder:  python3 make_lstm.py
Logits, losses and gradients are computed in float64 from float32 parameters by autograd; wherever
torch.nn.LSTM or GRU can do the same (no recurrent dropout), both are compared. Courses of training are
float32, with torch.nn and torch.optim. The safetensors file holds float32 alone.
"""
import json

import numpy as np
import torch
from safetensors.torch import save_file

torch.set_num_threads(1)

CELLS = ("lstm", "gru")
WORD, EMBEDDING, RECURRENT, LAYER, OUTPUT = 1, 2, 3, 4, 5  # kinds of dropout streams

MASK = (1 << 64) - 1


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def stream_key(*parts):
    key = 0x243F6A8885A308D3
    for part in parts:
        key = mix64((key + 0x9E3779B97F4A7C15 + mix64((part + 0x13198A2E03707344) & MASK)) & MASK)
    return key


def draw(key, n):
    """The n-th 32-bit number of a stream: two to each 64-bit word, the low half first."""
    word = mix64((key + (n // 2 + 1) * 0x9E3779B97F4A7C15) & MASK)
    return word >> 32 if n % 2 else word & 0xFFFFFFFF


def dropout_mask(case, kind, layer, p, first, count):
    """The factors of elements [first, first + count): 0, or 1 / (1 - p) as float32."""
    key = stream_key(case["seed"], case["step"], case["grain"], kind, layer)
    kept = float(np.float32(1 / (1 - p)))
    limit = int(p * 2**32)
    return torch.tensor([0.0 if draw(key, n) < limit else kept for n in range(first, first + count)], dtype=torch.float64)


def cell_step(cell, x, h_used, state, weights):
    """One step of torch's equations; h_used is the h that enters W_hh."""
    w_ih, w_hh, b_ih, b_hh = weights
    a, b = w_ih @ x + b_ih, w_hh @ h_used + b_hh
    if cell == "lstm":
        i, f, g, o = (a + b).chunk(4)
        c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
    (ar, az, an), (br, bz, bn) = a.chunk(3), b.chunk(3)
    z = torch.sigmoid(az + bz)
    n = torch.tanh(an + torch.sigmoid(ar + br) * bn)
    return (1 - z) * n + z * state[0], None


def run_direction(case, parameters, inputs, layer, reverse, recurrent):
    """The states at every position of one sequence, in the order of the positions."""
    suffix = f"_l{layer}" + ("_reverse" if reverse else "")
    weights = [parameters["rnn." + name + suffix] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    zero = torch.zeros(case["hidden"], dtype=torch.float64)
    state, states = (zero, zero), [None] * len(inputs)
    for t in reversed(range(len(inputs))) if reverse else range(len(inputs)):
        used = state[0] if recurrent is None else state[0] * recurrent
        state = cell_step(case["cell"], inputs[t], used, state, weights)
        states[t] = state[0]
    return torch.stack(states)


def pool(case, parameters, states):
    """One vector from the states [length, D] of a sequence."""
    hidden = case["hidden"]
    if case["pooling"] == "last":
        return torch.cat([states[-1, :hidden], states[0, hidden:]])
    if case["pooling"] == "mean":
        return states.mean(0)
    if case["pooling"] == "max":
        return states.max(0).values
    return torch.softmax(states @ parameters["attention.weight"][0], 0) @ states


def forward(case, parameters, s, first_token, dropout):
    """Logits of sample s of the grain; also the states of the last layer."""
    ids = case["ids"][case["grain_begin"][case["grain"]] + s]
    length, width = len(ids), case["width"]

    def mask(kind, p, first, count, layer=0):
        return dropout_mask(case, kind, layer, p, first, count) if dropout and p > 0 else None

    x = parameters["embedding.weight"][torch.tensor(ids)]
    words = mask(WORD, case["word_dropout"], first_token, length)
    x = x if words is None else x * words[:, None]
    values = mask(EMBEDDING, case["embedding_dropout"], first_token * case["embedding"], length * case["embedding"])
    x = x if values is None else x * values.reshape(x.shape)
    for layer in range(case["layers"]):
        sides = []
        for reverse in range(2 if case["bidirectional"] else 1):
            recurrent = mask(RECURRENT, case["recurrent_dropout"], s * case["hidden"], case["hidden"], layer * 2 + reverse)
            sides.append(run_direction(case, parameters, x, layer, reverse, recurrent))
        x = torch.cat(sides, 1)
        if layer + 1 < case["layers"]:
            values = mask(LAYER, case["layer_dropout"], first_token * width, length * width, layer)
            x = x if values is None else x * values.reshape(x.shape)
    pooled = pool(case, parameters, x)
    values = mask(OUTPUT, case["output_dropout"], s * width, width)
    pooled = pooled if values is None else pooled * values
    return parameters["output.weight"] @ pooled + parameters["output.bias"], x


def sample_loss(case, logits, truth):
    """(loss, weight) of one sample; truth: a class, or a 0 or 1 for each."""
    weights = torch.tensor(case["class_weights"] or [1.0] * case["classes"], dtype=logits.dtype)
    gamma = case["focal_gamma"] if case["loss"] == "focal" else None
    if case["labels"] == "single":
        log_p = torch.log_softmax(logits, 0)[truth]
        focus = 1 if gamma is None else (1 - log_p.exp()) ** gamma
        return -weights[truth] * focus * log_p, float(weights[truth])
    flags = torch.tensor(truth, dtype=logits.dtype)
    terms = torch.nn.functional.binary_cross_entropy_with_logits(logits, flags, pos_weight=weights, reduction="none")
    if gamma is not None:
        p = torch.sigmoid(logits)
        terms = terms * (1 - torch.where(flags > 0, p, 1 - p)) ** gamma
    return terms.mean(), 1.0


class Reference(torch.nn.Module):
    """The model without dropout, from torch's own modules; its state_dict has the names of the file."""

    def __init__(self, case):
        super().__init__()
        self.case = case
        rnn = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[case["cell"]]
        self.embedding = torch.nn.Embedding(case["vocabulary"], case["embedding"])
        self.rnn = rnn(case["embedding"], case["hidden"], case["layers"], bidirectional=case["bidirectional"])
        if case["pooling"] == "attention":
            self.attention = torch.nn.Linear(case["width"], 1, bias=False)
        self.output = torch.nn.Linear(case["width"], case["classes"])

    def forward(self, ids):
        states, _ = self.rnn(self.embedding(torch.tensor(ids)))
        return self.output(pool(self.case, dict(self.named_parameters()), states))


def draw_parameters(case, rng):
    """float32 values, large enough that gates leave their linear range."""
    values = {}
    for name, parameter in Reference(case).named_parameters():
        scale = 1.0 if name.startswith("embedding") else 1.5 / case["hidden"] ** 0.5
        values[name] = torch.from_numpy((rng.normal(size=tuple(parameter.shape)) * scale).astype(np.float32))
    return values


DEFAULTS = {
    "cell": "lstm", "embedding": 12, "hidden": 13, "layers": 1, "bidirectional": False, "pooling": "last",
    "word_dropout": 0.0, "embedding_dropout": 0.0, "recurrent_dropout": 0.0, "layer_dropout": 0.0, "output_dropout": 0.0,
    "loss": "cross-entropy", "focal_gamma": 2.0, "labels": "single", "classes": 3, "class_weights": [],
    "vocabulary": 40, "seed": 1, "step": 0, "grain": 0,
}
DROPOUTS = [name for name in DEFAULTS if name.endswith("_dropout")]


def make_case(name, rng, lengths=(5, 9, 1, 12, 7), others=(), words=None, **options):
    """others: lengths of the samples in each grain before; words: how many distinct ones occur."""
    case = {"name": name, **DEFAULTS, **options}
    case["width"] = case["hidden"] * (2 if case["bidirectional"] else 1)
    grains = [*others, lengths]
    case["grain"] = len(others)
    case["grain_begin"] = [0, *np.cumsum([len(grain) for grain in grains]).tolist()]
    case["ids"] = [rng.integers(0, words or case["vocabulary"], n).tolist() for grain in grains for n in grain]
    if case["labels"] == "single":
        case["truth"] = rng.integers(0, case["classes"], len(case["ids"])).tolist()
    else:
        case["truth"] = rng.integers(0, 2, (len(case["ids"]), case["classes"])).tolist()
    return case


def model_cases():
    """(name, options) for every option of the model, alone and together."""
    sizes = [(5, 7), (24, 40), (8, 6), (12, 13), (16, 33), (9, 16)]
    n = 0
    for cell in CELLS:
        for bidirectional in (False, True):
            for pooling in ("last", "mean", "max", "attention"):
                embedding, hidden = sizes[n % len(sizes)]
                n += 1
                yield f"{cell} {'both directions' if bidirectional else 'forward'} {pooling}", {
                    "cell": cell, "bidirectional": bidirectional, "pooling": pooling, "embedding": embedding, "hidden": hidden}
    for cell, layers, bidirectional, pooling in [("lstm", 2, False, "last"), ("lstm", 2, True, "max"), ("lstm", 3, True, "last"),
                                                 ("gru", 2, False, "mean"), ("gru", 2, True, "last"), ("gru", 3, True, "attention")]:
        yield f"{cell} {layers} layers {'both directions' if bidirectional else 'forward'}", {
            "cell": cell, "layers": layers, "bidirectional": bidirectional, "pooling": pooling, "embedding": 10, "hidden": 7}

    before = ((4,), (3, 6))
    for name in DROPOUTS:
        for cell in CELLS:
            yield f"{name} {cell}", {name: 0.4, "cell": cell, "layers": 2, "bidirectional": cell == "lstm", "hidden": 9,
                                     "pooling": "mean", "step": 7, "seed": 3, "others": before}
    every = dict(word_dropout=0.1, embedding_dropout=0.2, recurrent_dropout=0.3, layer_dropout=0.4, output_dropout=0.5)
    for cell, layers, bidirectional, pooling in [("lstm", 2, True, "attention"), ("lstm", 3, False, "max"), ("lstm", 1, True, "last"),
                                                 ("gru", 2, True, "mean"), ("gru", 3, True, "last"), ("gru", 1, False, "max")]:
        yield f"every dropout {cell} {layers} layers {pooling}", {
            **every, "cell": cell, "layers": layers, "bidirectional": bidirectional, "pooling": pooling, "hidden": 11,
            "embedding": 7, "step": 123456789012, "seed": 4294967295, "others": before}

    yield "two classes", {"classes": 2}
    yield "five classes", {"classes": 5}
    yield "weighted", {"class_weights": [1.0, 3.5, 0.25]}
    yield "weighted as by balanced", {"classes": 2, "class_weights": [0.5625, 4.5]}
    yield "focal", {"loss": "focal"}
    yield "focal of gamma 0.5", {"loss": "focal", "focal_gamma": 0.5}
    yield "focal of gamma 0", {"loss": "focal", "focal_gamma": 0.0}
    yield "focal weighted", {"loss": "focal", "classes": 5, "class_weights": [1.0, 3.5, 0.25, 2.0, 0.0]}
    several = {"labels": "multiple", "classes": 4, "pooling": "max"}
    yield "labels", several
    yield "labels weighted", {**several, "class_weights": [1.0, 3.5, 0.25, 20.0]}
    yield "labels focal", {**several, "loss": "focal", "focal_gamma": 1.5}
    yield "labels focal weighted", {**several, "loss": "focal", "class_weights": [1.0, 3.5, 0.25, 20.0]}
    yield "labels, both directions, every dropout", {**several, **every, "bidirectional": True, "layers": 2, "hidden": 7, "step": 1}
    yield "a single label", {"labels": "multiple", "classes": 1}

    for cell in CELLS:
        both = {"cell": cell, "bidirectional": True, "pooling": "attention", "hidden": 7}
        yield f"one word {cell}", {**both, "lengths": (1,)}
        yield f"one text {cell}", {**both, "lengths": (17,)}
        yield f"one word each {cell}", {**both, "lengths": (1, 1, 1)}
        yield f"equal lengths {cell}", {**both, "lengths": (8,) * 6}
        yield f"nine texts, one long {cell}", {**both, "lengths": (2, 25, 3, 3, 70, 1, 11, 24, 8), "hidden": 13, "vocabulary": 50}
        yield f"words that repeat {cell}", {**both, "lengths": (6, 9, 14), "words": 3, "vocabulary": 30, "word_dropout": 0.3}


def ambiguous(case, states):
    """Whether rounding could choose another position for a maximum."""
    if case["pooling"] != "max" or len(states) < 2:
        return False
    top = states.detach().topk(2, dim=0).values
    return float((top[0] - top[1]).min()) < 1e-4


def compute(case, parameters, dropout):
    """Logits [samples, classes], loss, weight, gradients of the loss; None when a maximum is ambiguous."""
    leaves = {name: value.double().requires_grad_() for name, value in parameters.items()}
    begin, end = case["grain_begin"][case["grain"]:][:2]
    rows, total, weight, token = [], torch.zeros((), dtype=torch.float64), 0.0, 0
    for s in range(end - begin):
        logits, states = forward(case, leaves, s, token, dropout)
        if ambiguous(case, states):
            return None
        token += len(case["ids"][begin + s])
        loss, w = sample_loss(case, logits, case["truth"][begin + s])
        rows.append(logits.detach())
        total, weight = total + loss, weight + w
    total.backward()
    return torch.stack(rows), total.item(), weight, {name: leaf.grad for name, leaf in leaves.items()}


def check_against_modules(case, parameters, logits):
    """torch.nn must say the same as our equations where it has them."""
    module = Reference(case).double()
    module.load_state_dict(parameters)
    begin, end = case["grain_begin"][case["grain"]:][:2]
    with torch.no_grad():
        found = torch.stack([module(case["ids"][i]) for i in range(begin, end)])
    assert torch.allclose(found, logits, rtol=1e-12, atol=1e-12), case["name"]


def add_model_case(name, options, tensors, cases):
    for attempt in range(100):
        rng = np.random.default_rng([len(cases), attempt])
        case = make_case(name, rng, **options)
        parameters = draw_parameters(case, rng)
        plain = compute(case, parameters, False)
        dropped = compute(case, parameters, True) if any(case[d] for d in DROPOUTS) else plain
        if plain and dropped:
            break
    check_against_modules(case, parameters, plain[0])
    prefix = f"{len(cases)}/"
    tensors.update({prefix + name: value for name, value in parameters.items()})
    tensors[prefix + "logits"] = plain[0].float()
    if dropped is not plain:
        tensors[prefix + "logits.dropout"] = dropped[0].float()
    tensors.update({prefix + name + ".gradient": value.float() for name, value in dropped[3].items()})
    cases.append({**case, "expected_loss": dropped[1], "expected_weight": dropped[2]})


def train(case, parameters, batches, dtype):
    """The loss of every step, as a mean over the batch."""
    module = Reference(case).to(dtype)
    module.load_state_dict(parameters)
    optimizer, rate = case["optimizer"], case["learning_rate"]
    if optimizer == "sgd":
        steps = torch.optim.SGD(module.parameters(), lr=rate, momentum=case["momentum"])
    elif optimizer == "adam":
        steps = torch.optim.Adam(module.parameters(), lr=rate)
    else:
        decayed = [p for name, p in module.named_parameters() if "bias" not in name]
        others = [p for name, p in module.named_parameters() if "bias" in name]
        steps = torch.optim.AdamW([{"params": decayed, "weight_decay": case["weight_decay"]},
                                   {"params": others, "weight_decay": 0.0}], lr=rate)
    losses = []
    for step in range(case["steps"]):
        ids, truth = batches[step % len(batches)]
        parts = [sample_loss(case, module(i), t) for i, t in zip(ids, truth)]
        loss = sum(part[0] for part in parts) / sum(part[1] for part in parts)
        steps.zero_grad()
        loss.backward()
        if case["clip"]:
            torch.nn.utils.clip_grad_norm_(module.parameters(), case["clip"])
        steps.step()
        losses.append(float(loss.detach()))
    return np.array(losses)


def add_course(name, tensors, courses, **options):
    """A course of training over four small batches, again and again."""
    rng = np.random.default_rng([1000, len(courses)])
    settings = {"steps": 200, "momentum": 0.0, "weight_decay": 0.0, "clip": 0.0}
    case = make_case(name, rng, lengths=(), **{**settings, **options})
    for key in ("ids", "truth", "grain_begin", "grain"):
        del case[key]
    parameters = draw_parameters(case, rng)
    batches = []
    for _ in range(4):
        ids = [rng.integers(0, case["vocabulary"], n).tolist() for n in rng.integers(1, 12, 8)]
        batches.append((ids, rng.integers(0, case["classes"], 8).tolist()))
    single, double = (train(case, parameters, batches, dtype) for dtype in (torch.float32, torch.float64))
    spread = np.abs(single / double - 1)
    print(f"{name}: loss {single[0]:.4f} to {single[-1]:.4g}, float32 against float64 at most {spread.max():.1e}, last {spread[-1]:.1e}")
    prefix = f"course {len(courses)}/"
    tensors.update({prefix + name: value for name, value in parameters.items()})
    tensors[prefix + "losses"] = torch.from_numpy(single.astype(np.float32))
    courses.append({**case, "grain_begin": [0, 3, 8],
                    "batches": [{"ids": ids, "truth": truth} for ids, truth in batches]})


def main():
    tensors, cases, courses = {}, [], []
    for name, options in model_cases():
        add_model_case(name, options, tensors, cases)
    small = {"embedding": 8, "hidden": 9, "pooling": "mean"}
    add_course("200 steps of Adam", tensors, courses, **small, optimizer="adam", learning_rate=1e-3)
    add_course("200 steps of SGD with momentum", tensors, courses, **small, cell="gru", bidirectional=True, optimizer="sgd",
               learning_rate=0.05, momentum=0.9, class_weights=[1.0, 2.0, 0.5])
    add_course("50 steps of AdamW with weight decay and clipping", tensors, courses, **{**small, "pooling": "last"}, layers=2,
               optimizer="adamw", learning_rate=1e-2, weight_decay=0.1, clip=0.5, steps=50)
    save_file({name: value.contiguous() for name, value in tensors.items()}, "lstm.safetensors")
    with open("lstm.json", "w") as out:
        for opening, part, closing in (('{"cases": [\n', cases, "\n],\n"), ('"courses": [\n', courses, "\n]}\n")):
            out.write(opening + ",\n".join(json.dumps(c, allow_nan=False) for c in part) + closing)
    print(f"{len(cases)} cases, {len(courses)} courses")


if __name__ == "__main__":
    main()
