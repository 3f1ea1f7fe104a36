# 运行方式: python peer_gone.py
# rank 1 先出了错，rank 0 才说「对方断开了」。原因永远在另一个 rank 那里。

import faulthandler

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

    def step():
        if rank == 1:
            raise KeyError("the real cause")
        dist.all_reduce(torch.ones(2))

    tell(rank, step)


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
