#!/usr/bin/env python3
"""Opens a bert model of Paceline with Python's transformers. Needs transformers and PyTorch.

    paceline predict RUN --input texts.txt --details --json > answers.jsonl
    python3 read_bert.py RUN/model answers.jsonl

computes ids and logits of every text again, prints the logits, and ends with 1 if an id differs, or a logit by more than
1e-4, relative to the largest of its answer or to 1.
"""
import json
import sys

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def main(folder, answers):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    worst = count = 0
    for line in open(answers, encoding="utf-8"):
        answer = json.loads(line)
        shown = [i for i, mask in zip(answer["input_ids"], answer["attention_mask"]) if mask]
        # As lists: of a pair by itself transformers drops an empty second text.
        second = [answer["text_pair"]] if "text_pair" in answer else None
        inputs = tokenizer([answer["text"]], second, truncation=True, max_length=len(shown), return_tensors="pt")
        if inputs["input_ids"][0].tolist() != shown:
            sys.exit(f"other ids: {shown}, with transformers {inputs['input_ids'][0].tolist()}")
        with torch.no_grad():
            found = model(**inputs).logits[0]
        expected = torch.tensor(answer["logits"])
        worst = max(worst, float((found - expected).abs().max() / max(1, expected.abs().max())))
        count += 1
        labels = [model.config.id2label[c] for c in range(len(found))]
        print("  ".join(f"{label} {value:.5f}" for label, value in zip(labels, found.tolist())), " ", answer["text"][:60])
    print(f"{count} answers, largest difference of a logit {worst:.1e}")
    return 0 if count > 0 and worst <= 1e-4 else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
