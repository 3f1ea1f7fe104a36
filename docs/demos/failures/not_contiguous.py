# 运行方式: python not_contiguous.py
# 有些调用肯检查：张量不连续就报错，而不是悄悄算错。

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

    strided = torch.arange(8.0)[::2]
    tell(rank, lambda: dist.all_to_all_single(torch.zeros(4), strided))
    tell(rank, lambda: dist.send(strided, dst=1) if rank == 0 else None)

    if rank == 0:
        dist.send(strided.contiguous(), dst=1)
    else:
        received = torch.zeros(4)
        dist.recv(received, src=0)
        print(f"[rank 1] right: {received.tolist()}")
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
