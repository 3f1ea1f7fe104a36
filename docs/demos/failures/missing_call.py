# 运行方式: python missing_call.py
# rank 1 没有调用，rank 0 等到超时。之后这个组就坏了，再用还是报错。

import faulthandler
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def tell(rank, call):
    try:
        call()
    except Exception as error:
        print(f"[rank {rank}] {type(error).__name__}: {error}")


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    quick = dist.new_group(timeout=timedelta(seconds=3))  # 这个组里最多等 3 秒

    if rank == 0:
        tell(0, lambda: dist.all_reduce(torch.ones(2), group=quick))
        tell(0, lambda: dist.all_reduce(torch.ones(2), group=quick))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
