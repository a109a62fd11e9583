"""transformers' side of bench/bert; runs in the peers' Python and prints one JSON object.

  bert_peer.py gemm                 Gflop/s of float32 matrix products of 2048
  bert_peer.py train --data DATASET --shape LAYERS,WIDTH,HEADS,INNER --batches random|grouped|padded --steps N
  bert_peer.py predict --model FOLDER --texts FILE [--onnx]

train: BertForSequenceClassification, dropout 0.1, AdamW (fused where there is such), flush-to-zero. One pass over the first
texts of the data set, as many as the steps take. Batches are padded to their longest text outside the clock; grouped: 50
batches are sorted by length together, as Trainer's group_by_length does; padded: to 128.
predict: texts sorted by length, in batches of 64, tokenized within the clock; the model is loaded outside of it. --onnx: the
same with ONNX Runtime.
"""
import argparse
import json
import os
import time

import torch

from lstm_peer import gemm_speed, read_texts


def make_batches(texts, size, kind):
    order = torch.randperm(len(texts), generator=torch.Generator().manual_seed(1)).tolist()
    if kind == "grouped":
        window = 50 * size
        order = [i for first in range(0, len(order), window)
                 for i in sorted(order[first : first + window], key=lambda i: -len(texts[i][0]))]
    batches = []
    for first in range(0, len(order) - size + 1, size):
        ids, labels = zip(*(texts[i] for i in order[first : first + size]))
        longest = 128 if kind == "padded" else max(map(len, ids))
        padded, mask = torch.zeros(size, longest, dtype=torch.int64), torch.zeros(size, longest, dtype=torch.int64)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = one[:longest]
            mask[row, : len(one)] = 1
        batches.append({"input_ids": padded, "attention_mask": mask, "labels": torch.tensor(labels)})
    return [batches[i] for i in torch.randperm(len(batches), generator=torch.Generator().manual_seed(2)).tolist()]


def make_model(shape, vocabulary):
    from transformers import BertConfig, BertForSequenceClassification

    layers, width, heads, inner = map(int, shape.split(","))
    config = BertConfig(vocab_size=vocabulary, num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
                        intermediate_size=inner)
    return BertForSequenceClassification(config).train()


def train(options):
    torch.set_flush_denormal(True)
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    texts, vocabulary, _ = read_texts(options.data, options.steps * options.batch_size, 512)
    batches = make_batches(texts, options.batch_size, options.batches)
    batches = batches[: options.skip] + batches  # the first ones are not counted, and come again
    model = make_model(options.shape, vocabulary)
    try:
        adam = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01, fused=True)
    except RuntimeError:
        adam = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01)
    seconds, tokens = [], []
    for batch in batches:
        started = time.perf_counter()
        model(**batch).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()
        seconds.append(time.perf_counter() - started)
        tokens.append(int(batch["attention_mask"].sum()))
    return {"seconds": seconds[options.skip :], "tokens": tokens[options.skip :]}


def runner(options, model):
    """Logits of padded ids and mask."""
    if not options.onnx:
        return lambda batch: model(**batch).logits
    import onnxruntime

    path = os.path.join(options.model, "model.onnx")
    example = {name: torch.ones(2, 8, dtype=torch.int64) for name in ("input_ids", "attention_mask")}
    axes = {name: {0: "texts", 1: "tokens"} for name in example}
    torch.onnx.export(model, tuple(example.values()), path, input_names=list(example), output_names=["logits"],
                      dynamic_axes={**axes, "logits": {0: "texts"}}, dynamo=False)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    return lambda batch: torch.from_numpy(session.run(None, {name: value.numpy() for name, value in batch.items()
                                                             if name in example})[0])


def predict(options):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.set_flush_denormal(True)
    torch.set_num_threads(options.threads)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForSequenceClassification.from_pretrained(options.model).eval()
    model.config.return_dict = not options.onnx
    logits_of = runner(options, model)
    with open(options.texts, encoding="utf-8") as file:
        texts = file.read().split("\n")[:-1]
    with torch.inference_mode():
        started = time.perf_counter()
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        labels = [0] * len(texts)
        for first in range(0, len(order), 64):
            which = order[first : first + 64]
            batch = tokenizer([texts[i] for i in which], padding=True, truncation=True, return_tensors="pt")
            for i, label in zip(which, logits_of(dict(batch)).argmax(1).tolist()):
                labels[i] = label
        seconds = time.perf_counter() - started
    return {"seconds": seconds, "labels": labels}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["gemm", "train", "predict"])
    parser.add_argument("--data")
    parser.add_argument("--shape", default="6,384,12,1536")
    parser.add_argument("--batches", choices=["random", "grouped", "padded"], default="random")
    parser.add_argument("--model")
    parser.add_argument("--texts")
    parser.add_argument("--onnx", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--skip", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()
    if options.what == "gemm":
        print(json.dumps({"one": gemm_speed(1, 1), "threads": gemm_speed(2, 1), "executors": gemm_speed(1, 2)}))
    else:
        print(json.dumps(train(options) if options.what == "train" else predict(options)))


if __name__ == "__main__":
    main()
