"""A kernel that Triton compiles."""
import sys

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as missing:
    print(missing)
    sys.exit(77)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask),
             mask=mask)


n = 100000
x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
out = torch.empty_like(x)
for _ in range(7):
    add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
torch.cuda.synchronize()
if not torch.equal(out, x + y):
    sys.exit(1)
print("expect kernel add_kernel", 7)
