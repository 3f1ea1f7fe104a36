# 运行方式: torchrun --nproc-per-node=4 all_primitives.py

import faulthandler
import os
from datetime import timedelta

import torch
import torch.distributed as dist

faulthandler.dump_traceback_later(28, exit=True)  # 万一卡住，28 秒后说出停在哪一行

local_rank = int(os.environ["LOCAL_RANK"])
ranks_here = int(os.environ["LOCAL_WORLD_SIZE"])  # 本机有几个 rank
# GPU 够本机的 rank 一人一张，就用 NCCL，否则用 Gloo
backend = "nccl" if torch.cuda.device_count() >= ranks_here else "gloo"
device = torch.device("cpu")
if backend == "nccl":  # 这一支没有在本站的 CI 里运行过
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)

dist.init_process_group(backend, timeout=timedelta(seconds=15))  # 最多等别的 rank 15 秒
rank, world_size = dist.get_rank(), dist.get_world_size()


def full(value, size=2):
    return torch.full((size,), fill_value=float(value), device=device)


def empty_list():
    return [full(-1) for _ in range(world_size)]


def tell(name, result):
    if isinstance(result, torch.Tensor):
        values = result.tolist()
    else:
        values = [tensor.tolist() for tensor in result]
    # torchrun 用 python -u 启动进程，print 自己的换行会另写一次，几个进程的行就可能粘在一起
    print(f"[rank {rank}] {name:<14} {values}\n", end="", flush=True)


if rank == 0:
    tensor = torch.tensor([1.0, 2.0, 3.0], device=device)
else:
    tensor = full(0, size=3)
dist.broadcast(tensor, src=0)
tell("broadcast", tensor)

pieces = list(torch.arange(2.0 * world_size, device=device).chunk(world_size))
piece = full(-1)
dist.scatter(piece, scatter_list=pieces if rank == 0 else None, src=0)
tell("scatter", piece)

gathered = empty_list()
dist.gather(full(rank), gather_list=gathered if rank == 0 else None, dst=0)
if rank == 0:
    tell("gather", gathered)

tensor = full(rank + 1, size=4)
dist.reduce(tensor, dst=0, op=dist.ReduceOp.SUM)
if rank == 0:  # 别的 rank 上，tensor 现在是未定义的
    tell("reduce", tensor)

gathered = empty_list()
dist.all_gather(gathered, full(rank))
tell("all_gather", gathered)

output = full(-1)
dist.reduce_scatter(output, [full(rank * 10 + j) for j in range(world_size)])
tell("reduce_scatter", output)

tensor = full(rank + 1, size=4)
dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
tell("all_reduce", tensor)

received = full(-1, size=2 * world_size)
pieces = [full(rank * 10 + j) for j in range(world_size)]
dist.all_to_all_single(received, torch.cat(pieces))
tell("all_to_all", received.chunk(world_size))

dist.destroy_process_group()
