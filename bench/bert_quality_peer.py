"""The side of transformers in bench/bert-quality: Trainer with the recipe of `train --model bert --init`; prints one JSON object.

  bert_quality_peer.py --model FOLDER --train FILE.tsv --dev FILE.tsv.gz --epochs N --seed S --out FOLDER

AdamW, 5e-5 that falls linearly to zero, batches of 32, weight decay 0.01 but for biases and norms, clipping at 1, the model's own
dropout; sentences of similar length together (group_by_length), as --bucket-batches does. A call that was interrupted goes on from
its last epoch, and one that was complete only answers.
"""
import argparse
import csv
import gzip
import json
import os
import time

import torch
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments,
                          set_seed)
from transformers.trainer_utils import get_last_checkpoint


def read_tsv(path, tokenizer):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    encoded = tokenizer([row["sentence"] for row in rows], truncation=True, max_length=512)
    return [{"input_ids": ids, "attention_mask": mask, "label": int(row["label"])}
            for ids, mask, row in zip(encoded["input_ids"], encoded["attention_mask"], rows)]


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(1) == prediction.label_ids).mean())}


def train(options):
    torch.set_flush_denormal(True)
    torch.set_num_threads(options.threads)
    set_seed(options.seed)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForSequenceClassification.from_pretrained(options.model, num_labels=2)
    arguments = TrainingArguments(
        output_dir=options.out, seed=options.seed, num_train_epochs=options.epochs, per_device_train_batch_size=32,
        per_device_eval_batch_size=64, learning_rate=5e-5, weight_decay=0.01, lr_scheduler_type="linear", max_grad_norm=1.0,
        group_by_length=True, eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, logging_strategy="no", report_to="none",
        disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model=model, args=arguments, train_dataset=read_tsv(options.train, tokenizer),
                      eval_dataset=read_tsv(options.dev, tokenizer), data_collator=DataCollatorWithPadding(tokenizer),
                      compute_metrics=accuracy)
    started = time.perf_counter()
    trainer.train(resume_from_checkpoint=get_last_checkpoint(options.out) if os.path.isdir(options.out) else None)
    return {"accuracies": [entry["eval_accuracy"] for entry in trainer.state.log_history if "eval_accuracy" in entry],
            "seconds": time.perf_counter() - started}


def main():
    parser = argparse.ArgumentParser()
    for name in ("model", "train", "dev", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    answer = os.path.join(options.out, "answer.json")
    if not os.path.exists(answer):
        result = train(options)
        with open(answer, "w", encoding="utf-8") as file:
            json.dump(result, file)
    with open(answer, encoding="utf-8") as file:
        print(file.read())


if __name__ == "__main__":
    main()
