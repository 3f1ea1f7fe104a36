# 运行方式: env -i PATH="$PATH" torchrun --nproc-per-node=2 environment.py
# 把 torchrun 换成 python，就由 mp.spawn 启动两个进程。

import os


def show(rank):
    for name, value in sorted(os.environ.items()):
        # torchrun 用 python -u 启动进程，print 自己的换行会另写一次，两个进程的行就可能粘在一起
        print(f"[rank {rank}] {name}={value}\n", end="", flush=True)


if __name__ == "__main__":
    if "RANK" in os.environ:
        show(os.environ["RANK"])
    else:
        import torch.multiprocessing as mp

        mp.spawn(show, nprocs=2)
