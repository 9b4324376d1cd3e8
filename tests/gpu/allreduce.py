"""NCCL: a process per GPU, each its own in the archive; ten all-reduces."""
import os
import sys

try:
    import torch
    import torch.distributed
    import torch.multiprocessing
except ImportError as missing:
    print(missing)
    sys.exit(77)
ROUNDS, N = 10, 1 << 20


def work(rank, ranks):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29555")
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=ranks)
    values = torch.full((N,), float(rank + 1), device="cuda")
    for _ in range(ROUNDS):
        torch.distributed.all_reduce(values)
        values /= ranks
    torch.cuda.synchronize()
    if abs(values[7].item() - (ranks + 1) / 2) > 1e-3:
        sys.exit(1)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    count = torch.cuda.device_count()
    torch.multiprocessing.spawn(work, args=(count,), nprocs=count)
    print("expect calls ncclAllReduce", ROUNDS * count)
    if count > 1: # alone, NCCL has nothing to run
        print("expect kernel-named ncclDevKernel_AllReduce", ROUNDS * count)
