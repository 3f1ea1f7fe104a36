# 运行方式: python shared_list.py
# [torch.zeros(2)] * n 是同一个张量的 n 个名字，后收到的盖掉先收到的。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    mine = torch.full((2,), float(rank))

    wrong = [torch.zeros(2)] * 2
    dist.all_gather(wrong, mine)
    print(f"[rank {rank}] wrong: {[t.tolist() for t in wrong]}")

    right = [torch.zeros(2) for _ in range(2)]
    dist.all_gather(right, mine)
    print(f"[rank {rank}] right: {[t.tolist() for t in right]}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
