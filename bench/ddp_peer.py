"""PyTorch's side of bench/pace: DistributedDataParallel over gloo; one process a worker, rank 0 prints one JSON object.

  ddp_peer.py --data DATASET --rank R --workers N --port P --ready FILE --steps N

The model of lstm_peer.py, one thread, flush-to-zero, Adam. The batch is split evenly. FILE appears after the first step,
so that whoever started this can slow it down from then on. One worker alone runs without DistributedDataParallel.
"""
import argparse
import json
import os
import time

import torch
from lstm_peer import Classifier, make_adam, read_texts


def local_batches(texts, options):
    """This worker's part of every batch: (ids, lengths, labels)."""
    size = options.batch_size
    for step in range(options.steps):
        first = step * size % (len(texts) - size + 1)
        begin, end = (first + size * part // options.workers for part in (options.rank, options.rank + 1))
        ids, labels = zip(*texts[begin:end])
        yield torch.stack(ids), torch.tensor([len(row) for row in ids]), torch.tensor(labels)


def train(options):
    torch.set_flush_denormal(True)  # before the first operation: threads inherit it
    torch.set_num_threads(1)
    torch.manual_seed(1)
    texts, vocabulary, classes = read_texts(options.data, 8 * options.batch_size, 200)
    model = Classifier(vocabulary, options.embedding, options.hidden, classes)
    if options.workers > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
        torch.distributed.init_process_group("gloo", rank=options.rank, world_size=options.workers)
        model = torch.nn.parallel.DistributedDataParallel(model)
    adam, _ = make_adam(model.parameters())
    seconds = []
    started = time.perf_counter()
    for ids, lengths, labels in local_batches(texts, options):
        loss = torch.nn.functional.cross_entropy(model(ids, lengths, False), labels)
        adam.zero_grad()
        loss.backward()
        adam.step()
        seconds.append(time.perf_counter() - started)
        started = time.perf_counter()
        if len(seconds) == 1 and options.rank == 0:
            open(options.ready, "w", encoding="ascii").close()
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--port", type=int)
    parser.add_argument("--ready")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--embedding", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=256)
    options = parser.parse_args()
    seconds = train(options)
    if options.rank == 0:
        print(json.dumps({"seconds": seconds, "version": torch.__version__}))


if __name__ == "__main__":
    main()
