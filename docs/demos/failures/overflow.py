# 运行方式: python overflow.py
# 和装不进张量的类型：绕回去、变成 inf，或者加了等于没加。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    for dtype, mine in ((torch.uint8, (200, 200)), (torch.float16, (60000.0, 60000.0)),
                        (torch.bfloat16, (256.0, 1.0))):
        wrong = torch.tensor([mine[rank]], dtype=dtype)
        right = wrong.float()
        dist.all_reduce(wrong)
        dist.all_reduce(right)
        if rank == 0:
            print(f"[rank 0] {mine[0]} + {mine[1]} {dtype} wrong: {wrong.item()}")
            print(f"[rank 0] {mine[0]} + {mine[1]} {dtype} right: {right.item()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
