"""A few steps of training: PyTorch's kernels, its copies, and cuBLAS below it. With an argument: that
many steps, timed in five batches (ns)."""
import sys
import time

try:
    import torch
except ImportError as missing:
    print(missing)
    sys.exit(77)
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(),
                            torch.nn.Linear(512, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(64, 512).cuda()
target = torch.randint(0, 10, (64,)).cuda()


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()


if len(sys.argv) > 1:
    train(20)
    for _ in range(5):
        start = time.perf_counter_ns()
        train(int(sys.argv[1]))
        print(time.perf_counter_ns() - start)
else:
    STEPS = 10
    train(STEPS)
    print("expect at-least-kernels", 10 * STEPS)
    print("expect kernel-named softmax_warp_forward", STEPS)
    print("expect kernel-named nll_loss_backward", STEPS)
    print("expect threads", 2) # backward has a thread of its own
