"""A few steps of training: PyTorch's kernels, its copies, and cuBLAS below it."""
import sys

try:
    import torch
except ImportError:
    sys.exit(77)
STEPS = 5
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(),
                            torch.nn.Linear(512, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(64, 512).cuda()
target = torch.randint(0, 10, (64,)).cuda()
for _ in range(STEPS):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(data), target)
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
print("expect at-least-kernels", 10 * STEPS)
print("expect kernel-named softmax_warp_forward", STEPS)
print("expect kernel-named nll_loss_backward", STEPS)
print("expect threads", 2) # backward has a thread of its own
