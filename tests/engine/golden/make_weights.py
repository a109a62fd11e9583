#!/usr/bin/env python3
"""Writes weights/: small files of weights as others write them, for weight_files_test.cc and pretrained_test.cc.

Made with torch 2.15.0, numpy 2 and safetensors. Run it in this folder:  python3 make_weights.py
NAME is read; NAME.expected.safetensors has what must come out, as float32.
"""
import collections
import os

import torch
from safetensors.torch import save_file

OUT = "weights"
torch.manual_seed(1)


def hard_numbers(dtype):
    """Zeros, the smallest and largest numbers, denormals, halves to be rounded, and a few hundred others."""
    info = torch.finfo(dtype)
    some = [0.0, -0.0, 1.0, -1.0, 1 / 3, info.max, info.min, info.tiny, -info.tiny, info.smallest_normal / 2, info.eps]
    numbers = torch.tensor(some, dtype=torch.float64).to(dtype)
    wide = torch.randn(200, dtype=torch.float64) * 2.0 ** torch.randint(-160, 130, (200,)).double()
    return torch.cat([numbers, wide.to(dtype), torch.randn(89, dtype=torch.float64).to(dtype)]).reshape(10, 30)


def all_types():
    tensors = {str(dtype).split(".")[1]: hard_numbers(dtype)
               for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16)}
    # Where rounding to float32 is decided: exactly between two, just above, just below, into the denormals.
    ulp = 2.0 ** -24
    tensors["rounding"] = torch.tensor(
        [1 + ulp, 1 + 3 * ulp, 1 + ulp + 2.0 ** -50, 1 + ulp - 2.0 ** -50, 2.0 ** -149, 2.0 ** -150, 3 * 2.0 ** -150,
         2.0 ** -150 * (1 + 2.0 ** -30), 2.0 ** -151, 2.0 ** -126 * (1 - 2.0 ** -25), 2.0 ** -126 * (1 - 2.0 ** -24),
         2.0 ** -1000, 5e-324, 3.4028235e38, 3.4028235677973366e38, 3.5e38, -1e300], dtype=torch.float64)
    tensors["scalar"] = torch.tensor(2.5)
    tensors["empty"] = torch.zeros(0, 3)
    integers = {str(dtype).split(".")[1]: torch.tensor([[0, 1, 2]]).to(dtype)
                for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)}
    return tensors, integers


def expected(name, tensors):
    save_file({key: value.detach().float().clone().contiguous() for key, value in tensors.items()},
              f"{OUT}/{name}.expected.safetensors")


def write_types():
    weights, integers = all_types()
    save_file({**weights, **integers}, f"{OUT}/types.safetensors", {"format": "pt"})
    expected("types.safetensors", weights)
    torch.save({**weights, **integers}, f"{OUT}/types.bin")
    expected("types.bin", weights)


def write_views():
    base = torch.randn(6, 8)
    views = {"base": base, "again": base, "transposed": base.t(), "column": base[:, 3], "rows": base[2:5],
             "steps": base[::2, 1::3], "repeated": base[0].expand(4, 8), "cube": torch.randn(3, 4, 5).permute(2, 0, 1),
             "single": base[5:6, 7:8], "none": base[3:3], "number": base[4, 4]}
    torch.save(views, f"{OUT}/views.bin")
    expected("views.bin", views)
    for protocol in (3, 4, 5):
        torch.save(views, f"{OUT}/protocol{protocol}.bin", pickle_protocol=protocol)
        expected(f"protocol{protocol}.bin", views)


def write_module():
    module = torch.nn.Sequential(collections.OrderedDict(first=torch.nn.Linear(3, 4), norm=torch.nn.LayerNorm(4)))
    torch.save(module.state_dict(), f"{OUT}/state_dict.bin")
    expected("state_dict.bin", module.state_dict())
    parameters = dict(module.named_parameters())
    torch.save({**parameters, "epoch": 3, "rate": 0.5, "done": False, "note": "x", "list": [1, None], "wide": 1 << 40},
               f"{OUT}/parameters.bin")
    expected("parameters.bin", parameters)
    torch.save(module, f"{OUT}/module.bin")
    torch.save(module.state_dict(), f"{OUT}/old.bin", _use_new_zipfile_serialization=False)
    torch.save([torch.zeros(2)], f"{OUT}/list.bin")


def write_bert():
    """A tiny BERT as old files have it: no prefix, gamma and beta, I64 position_ids, no pooler."""
    width, inner = 4, 6
    shapes = {"embeddings.word_embeddings.weight": (7, width), "embeddings.position_embeddings.weight": (5, width),
              "embeddings.token_type_embeddings.weight": (2, width), "embeddings.LayerNorm.gamma": (width,),
              "embeddings.LayerNorm.beta": (width,)}
    layer = "encoder.layer.0."
    for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
        shapes |= {f"{layer}{name}.weight": (width, width), f"{layer}{name}.bias": (width,)}
    shapes |= {f"{layer}intermediate.dense.weight": (inner, width), f"{layer}intermediate.dense.bias": (inner,),
               f"{layer}output.dense.weight": (width, inner), f"{layer}output.dense.bias": (width,)}
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes |= {f"{layer}{name}.gamma": (width,), f"{layer}{name}.beta": (width,)}
    tensors = {name: torch.randn(shape).half() for name, shape in shapes.items()}
    torch.save(collections.OrderedDict({"embeddings.position_ids": torch.arange(5).expand((1, -1)), **tensors}),
               f"{OUT}/bert.bin")
    ours = {"bert." + name.replace("gamma", "weight").replace("beta", "bias"): value for name, value in tensors.items()}
    expected("bert.bin", ours)


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    write_types()
    write_views()
    write_module()
    write_bert()
