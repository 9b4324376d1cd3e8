"""A program that starts another profiler (PyTorch's, which wants CUPTI too) while it is recorded."""
import sys

try:
    import torch
    from torch.profiler import ProfilerActivity, profile
except ImportError as missing:
    print(missing)
    sys.exit(77)
a = torch.rand(256, 256, device="cuda")
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
    for _ in range(4):
        a = torch.sigmoid(a)
    torch.cuda.synchronize()
for _ in range(3):
    a = torch.sigmoid(a)
torch.cuda.synchronize()
print("expect kernel-named sigmoid", 7)
