"""Library kernels that copy tensors by TMA on Hopper: products of several types and shapes, attention and a
convolution. Prints a line for each tensor: "tensor OPERATION NAME ADDRESS BYTES"."""
import sys

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError as missing:
    print(missing)
    sys.exit(77)
if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] < 9:
    print("no GPU of compute capability 9.0")
    sys.exit(77)

kept = []


def tell(operation, **tensors):
    """All are kept, so that no two have one address."""
    for name, tensor in tensors.items():
        kept.append(tensor)
        print("tensor", operation, name, tensor.data_ptr(), tensor.numel() * tensor.element_size(), flush=True)


def make(*shape, kind):
    return (torch.rand(*shape, device="cuda") - 0.5).to(kind)


torch.backends.cuda.matmul.allow_tf32 = True
for kind, label in ((torch.bfloat16, "bf16"), (torch.float16, "f16"), (torch.float32, "tf32")):
    for m, n, k in ((1024, 2048, 512), (4096, 4096, 1024)):
        a, b = make(m, k, kind=kind), make(k, n, kind=kind)
        tell(f"{label}-{m}x{n}x{k}", a=a, b=b, d=a @ b)
a, b = make(16, 512, 256, kind=torch.bfloat16), make(16, 256, 1024, kind=torch.bfloat16)
tell("batched", a=a, b=b, d=torch.bmm(a, b))
try:
    a = make(1024, 512, kind=torch.float8_e4m3fn)
    b = make(2048, 512, kind=torch.float8_e4m3fn)
    one = torch.ones((), device="cuda")
    tell("fp8", a=a, b=b, d=torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16))
except (RuntimeError, AttributeError, TypeError) as reason:
    print("without fp8:", reason)
try:
    q, k, v = (make(4, 16, 1024, 64, kind=torch.bfloat16).requires_grad_() for _ in range(3))
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        tell("attention", q=q, k=k, v=v, o=o)
        o.backward(make(*o.shape, kind=torch.bfloat16))
    tell("attention-backward", q=q, k=k, v=v, dq=q.grad, dk=k.grad, dv=v.grad)
except RuntimeError as reason:
    print("without cuDNN's attention:", reason)
image = make(8, 64, 56, 56, kind=torch.bfloat16).to(memory_format=torch.channels_last)
weight = make(64, 64, 3, 3, kind=torch.bfloat16).to(memory_format=torch.channels_last)
tell("convolution", x=image, w=weight, y=torch.nn.functional.conv2d(image, weight, padding=1))
torch.cuda.synchronize()
print("checksum", float(sum(t.float().abs().sum() for t in kept)))
