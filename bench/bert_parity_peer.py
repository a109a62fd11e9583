"""The side of transformers in bench/bert-parity.

  bert_parity_peer.py make VOCABULARY FOLDER safetensors|bin     a small random BERT, saved as transformers does
  bert_parity_peer.py compare MODEL STATE ANSWERS SAVED          logits and gradients of MODEL against ours; saves it again
"""
import json
import shutil
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig, BertModel, BertTokenizerFast

torch.set_num_threads(2)


def make(vocabulary, folder, kind):
    torch.manual_seed(1)
    tokenizer = BertTokenizerFast(vocabulary)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=96, num_hidden_layers=3, num_attention_heads=4, intermediate_size=200,
                        initializer_range=0.1)
    BertModel(config).save_pretrained(folder, safe_serialization=kind == "safetensors")
    tokenizer.save_pretrained(folder)
    return {}


def compare(folder, state, answers, saved):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    ours = json.load(open(answers, encoding="utf-8"))
    same, longest, logits, losses = True, 0, [], []
    for number, answer in enumerate(ours):
        inputs = tokenizer(answer["text"], truncation=True, return_tensors="pt")
        same = same and inputs["input_ids"][0].tolist() == answer["input_ids"]
        longest = max(longest, inputs["input_ids"].shape[1])
        out = model(**inputs, labels=torch.tensor([model.config.label2id[("no", "yes")[number % 2]]]))
        (out.loss / len(ours)).backward()
        logits.append(out.logits[0].detach())
        losses.append(out.loss.item())
    found, worst = 0.0, ""
    gradients = load_file(state)
    for name, parameter in model.named_parameters():
        # The gradient of a key's bias is 0 but for rounding: a softmax does not see what all its inputs share.
        scale = parameter.grad if not name.endswith("key.bias") else model.get_parameter(name.replace("key.bias", "key.weight")).grad
        gap = float((gradients["first." + name] - parameter.grad).abs().max() / scale.abs().max())
        found, worst = max((found, worst), (gap, name))
    shutil.rmtree(saved, ignore_errors=True)
    model.save_pretrained(saved)
    tokenizer.save_pretrained(saved)
    theirs = torch.tensor([answer["logits"] for answer in ours])
    return {"ids": same, "longest": longest, "tensors": len(list(model.named_parameters())), "gradients": found, "worst": worst,
            "logits": float((theirs - torch.stack(logits)).abs().max() / torch.stack(logits).abs().max().clamp(min=1)),
            "loss": sum(losses) / len(losses), "all_logits": [row.tolist() for row in logits]}


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    print(json.dumps({"make": make, "compare": compare}[command](*arguments)))
