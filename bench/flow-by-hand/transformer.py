#!/usr/bin/env python3
"""A training step of a transformer block (PyTorch, bf16 autocast, AdamW).

    transformer.py before|once [REPEATS]
    transformer.py after [REPEATS] [CHANGE,...]      changes that `flow` proposes: see CHANGES

One step lies between cudaProfilerStart and cudaProfilerStop; then REPEATS steps are timed. `once` does two steps: what to
record. Sizes: WIDTH, BATCH and LENGTH in the environment.
"""
import json
import os
import statistics
import sys

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as missing:
    print(missing)
    sys.exit(77)

CHANGES = ("adamw",)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        split = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.view(split).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Training:
    def __init__(self, changes):
        torch.manual_seed(1)
        width = int(os.environ.get("WIDTH", 2048))
        shape = (int(os.environ.get("BATCH", 4)), int(os.environ.get("LENGTH", 2048)), width)
        self.block = Block(width, width // 128).cuda()
        self.data, self.target = torch.randn(shape, device="cuda"), torch.randn(shape, device="cuda")
        self.optimizer = torch.optim.AdamW(self.block.parameters(), lr=1e-3, fused="adamw" in changes or None)

    def step(self):
        self.optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = functional.mse_loss(self.block(self.data), self.target)
        loss.backward()
        self.optimizer.step()
        return loss


def timed(step):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    step()
    end.record()
    end.synchronize()
    return 1e3 * begin.elapsed_time(end)


def main():
    version = sys.argv[1] if len(sys.argv) > 1 else ""
    if version not in ("before", "after", "once"):
        sys.exit(__doc__)
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    changes = sys.argv[3].split(",") if len(sys.argv) > 3 else CHANGES
    training = Training(changes if version == "after" else ())
    training.step()
    result = training.step().item()
    if version == "once":
        print(f"transformer: {result:.7g}")
        return
    training.step()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    training.step()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()
    times = [timed(training.step) for _ in range(repeats)]
    print(json.dumps({"program": "transformer", "version": version, "median_us": round(statistics.median(times), 1),
                      "least_us": round(min(times), 1), "largest_us": round(max(times), 1), "repeats": repeats,
                      "sum": round(result, 7)}))


if __name__ == "__main__":
    main()
