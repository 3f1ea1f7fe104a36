# 运行方式: python different_sizes.py
# 一个 rank 传 4 个元素，另一个传 8 个：收到的装不下，进程直接中止。

import contextlib
import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    faulthandler.disable()

    with contextlib.suppress(RuntimeError):  # 另一个 rank 只会说对方断开了，见 peer_gone.py
        dist.all_reduce(torch.ones(4 if rank == 0 else 8))


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    try:
        mp.spawn(worker, args=(store.port,), nprocs=2)
    except mp.ProcessExitedException as error:
        print(f"{type(error).__name__}: {error}")
