# 运行方式: python new_group_lists.py
# new_group 按次序编号，各 rank 靠编号找人。只建自己在里面的组，编号就错开了。

import faulthandler
from datetime import timedelta
from functools import partial

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

    for ranks in ([1], [0, 1]):  # 对：每个 rank 都建每个组
        dist.new_group(ranks)
    print(f"[rank {rank}] every rank makes every group: fine")

    for ranks in ([1], [0, 1]):  # 错：[0, 1] 在 rank 0 是第 3 个组，在 rank 1 是第 4 个
        if rank in ranks:
            tell(rank, partial(dist.new_group, ranks, timeout=timedelta(seconds=3)))

    store.set(f"rank {rank} has waited", "")
    store.wait(["rank 0 has waited", "rank 1 has waited"])
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
