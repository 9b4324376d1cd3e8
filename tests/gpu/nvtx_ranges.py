"""NVTX ranges of a Python program become regions of its thread."""
import sys

try:
    import torch
except ImportError as missing:
    print(missing)
    sys.exit(77)
a = torch.rand(256, 256, device="cuda")
for _ in range(4):
    with torch.cuda.nvtx.range("one step"):
        a = torch.sigmoid(a)
torch.cuda.synchronize()
print("expect kernel-named sigmoid", 4)
print("expect calls one step", 4)
