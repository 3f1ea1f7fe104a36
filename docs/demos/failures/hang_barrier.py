# 运行方式: python hang_barrier.py
# rank 1 没有来：monitored_barrier 在 rank 0 上说出缺了谁。

import faulthandler
from datetime import timedelta

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

    if rank == 0:
        timeout = timedelta(seconds=2)
        tell(0, lambda: dist.monitored_barrier(timeout=timeout, wait_all_ranks=True))
        store.set("rank 0 has waited", "")
    store.wait(["rank 0 has waited"])
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
