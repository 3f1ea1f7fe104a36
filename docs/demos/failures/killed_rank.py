# 运行方式: python killed_rank.py
# rank 被杀（多半是内存不够）、自己抛错、悄悄退出：mp.spawn 各说一句。

import os
import signal
import sys

import torch.multiprocessing as mp


def worker(rank, how):
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "raises":
        raise KeyError("the real cause")
    sys.exit(3)


if __name__ == "__main__":
    for how in ("killed", "raises", "exits"):
        try:
            mp.spawn(worker, args=(how,), nprocs=1)
        except Exception as error:
            first, *rest = str(error).strip().splitlines()
            print(f"{type(error).__name__}: {first}", *rest[-1:], sep="\n")
