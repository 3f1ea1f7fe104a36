# 运行方式: python both_send_first.py
# 两边都先 send：谁也没有在收。send 要等对方收下才返回。

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

    other = 1 - rank
    mine, theirs = torch.full((2,), float(rank)), torch.zeros(2)
    tell(rank, lambda: dist.send(mine, dst=other, group=quick))

    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, other),
                                    dist.P2POp(dist.irecv, theirs, other)])
    [work.wait() for work in works]
    print(f"[rank {rank}] right: {theirs.tolist()}")
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
