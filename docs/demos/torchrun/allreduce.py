# 运行方式: torchrun --nproc-per-node=4 allreduce.py

from datetime import timedelta

import torch
import torch.distributed as dist

# 编号、总数、在哪里碰头，都写在 torchrun 给的环境变量里
dist.init_process_group("gloo", timeout=timedelta(seconds=15))
rank = dist.get_rank()

tensor = torch.full((4,), fill_value=float(rank + 1))
dist.all_reduce(tensor)
# torchrun 用 python -u 启动进程，print 自己的换行会另写一次，几个进程的行就可能粘在一起
print(f"[rank {rank}] after : {tensor.tolist()}\n", end="")

dist.destroy_process_group()
