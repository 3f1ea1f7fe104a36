# 运行方式: python buffer_too_big.py
# 接收缓冲区比发来的大：只填前面一截，后面还是旧数。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    wrong = torch.ones(2) if rank == 0 else torch.full((4,), -1.0)
    dist.broadcast(wrong, src=0)
    print(f"[rank {rank}] broadcast wrong: {wrong.tolist()}")

    if rank == 0:
        dist.send(torch.ones(2), dst=1)
    else:
        wrong = torch.full((4,), -1.0)
        dist.recv(wrong, src=0)
        print(f"[rank 1] recv      wrong: {wrong.tolist()}")

    # 大小不定时先发大小
    size = torch.tensor([2]) if rank == 0 else torch.tensor([0])
    dist.broadcast(size, src=0)
    right = torch.ones(2) if rank == 0 else torch.full((int(size),), -1.0)
    dist.broadcast(right, src=0)
    print(f"[rank {rank}] broadcast right: {right.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
