# 运行方式: python no_main_guard.py
# 少了 if __name__ == "__main__"：子进程一导入这个文件，又要起子进程。

import torch.multiprocessing as mp


def worker(rank):
    print(f"[rank {rank}] started")


mp.spawn(worker, nprocs=1)  # 应当放在 if __name__ == "__main__": 下面
