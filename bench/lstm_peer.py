"""PyTorch's side of bench/lstm; runs in the peers' Python and prints one JSON object.

  lstm_peer.py gemm                 Gflop/s of float32 matrix products of 2048
  lstm_peer.py train --data DATASET --threads N [--flush] [--packed] [--grouped] --steps N

The model: Embedding with dense gradients, LSTM, last state, Linear, Adam. Texts of a batch are padded to its longest
outside the clock; --packed packs them, which is the model's work. --grouped sorts 16 batches by length together.
"""
import argparse
import json
import threading
import time

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence


def gemm_speed(threads, executors, size=2048, repeats=12):
    """Gflop/s of `executors` threads that multiply at once, each with `threads` intra-op threads."""
    torch.set_num_threads(threads)
    ready = threading.Barrier(executors + 1)

    def work():
        torch.set_num_threads(threads)
        a, b = torch.rand(size, size), torch.rand(size, size)
        out = a @ b
        ready.wait()
        for _ in range(repeats):
            torch.mm(a, b, out=out)
        ready.wait()

    crew = [threading.Thread(target=work) for _ in range(executors)]
    for thread in crew:
        thread.start()
    ready.wait()
    started = time.perf_counter()
    ready.wait()
    seconds = time.perf_counter() - started
    for thread in crew:
        thread.join()
    return executors * repeats * 2 * size**3 / seconds / 1e9


class Classifier(torch.nn.Module):
    def __init__(self, vocabulary, embedding, hidden, classes):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, embedding)
        self.rnn = torch.nn.LSTM(embedding, hidden, batch_first=True)
        self.output = torch.nn.Linear(hidden, classes)

    def forward(self, ids, lengths, packed):
        inputs = self.embedding(ids)
        if packed:
            inputs = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        states, (last, _) = self.rnn(inputs)
        if packed or lengths.min() == lengths.max():
            return self.output(last[-1])
        return self.output(states[torch.arange(len(ids)), lengths - 1])


def read_texts(folder, most, max_length):
    """Up to `most` texts of the split train as (ids, label), and the size of the vocabulary."""
    import h5py

    with open(f"{folder}/dataset.json", encoding="utf-8") as file:
        info = json.load(file)
    texts = []
    for shard in next(split for split in info["splits"] if split["name"] == "train")["shards"]:
        with h5py.File(f"{folder}/{shard['file']}") as h5:
            ids, offsets, labels = h5["ids"][:].astype("int64"), h5["offsets"][:], h5["labels"][:]
        for row in range(min(shard["rows"], most - len(texts))):
            end = min(offsets[row + 1], offsets[row] + max_length)
            texts.append((torch.from_numpy(ids[offsets[row] : end]), int(labels[row])))
    return texts, info["tokenizer"]["vocabulary_size"], len(info["classes"])


def make_batches(texts, size, grouped, generator):
    """(padded ids, lengths, labels) of every batch."""
    order = torch.randperm(len(texts), generator=generator).tolist()
    if grouped:
        window = 16 * size
        order = [i for first in range(0, len(order), window)
                 for i in sorted(order[first : first + window], key=lambda i: len(texts[i][0]))]
    batches = []
    for first in range(0, len(order) - size + 1, size):
        ids, labels = zip(*(texts[i] for i in order[first : first + size]))
        batches.append((pad_sequence(ids, True), torch.tensor([len(row) for row in ids]), torch.tensor(labels)))
    return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]


def make_adam(parameters):
    try:
        return torch.optim.Adam(parameters, lr=1e-3, fused=True), "fused"
    except (RuntimeError, TypeError):
        return torch.optim.Adam(parameters, lr=1e-3), "default"


def train(options):
    torch.set_flush_denormal(options.flush)  # before the first operation: threads inherit it
    torch.set_num_threads(options.threads)
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(1)
    texts, vocabulary, classes = read_texts(options.data, (options.steps + options.skip) * options.batch_size, options.max_length)
    batches = make_batches(texts, options.batch_size, options.grouped, generator)
    model = Classifier(vocabulary, options.embedding, options.hidden, classes)
    adam, kind = make_adam(model.parameters())
    seconds, tokens = [], []
    for ids, lengths, labels in batches:
        started = time.perf_counter()
        logits = model(ids, lengths, options.packed)
        loss = torch.nn.functional.cross_entropy(logits, labels)
        adam.zero_grad()
        loss.backward()
        adam.step()
        seconds.append(time.perf_counter() - started)
        tokens.append(int(lengths.sum()))
    return {"seconds": seconds[options.skip :], "tokens": tokens[options.skip :], "adam": kind, "loss": loss.item(),
            "version": torch.__version__}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["gemm", "train"])
    parser.add_argument("--data")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--flush", action="store_true")
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--grouped", action="store_true")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--skip", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--embedding", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--max-length", type=int, default=2500)
    options = parser.parse_args()
    if options.what == "gemm":
        print(json.dumps({"one": gemm_speed(1, 1), "threads": gemm_speed(2, 1), "executors": gemm_speed(1, 2)}))
    else:
        print(json.dumps(train(options)))


if __name__ == "__main__":
    main()
