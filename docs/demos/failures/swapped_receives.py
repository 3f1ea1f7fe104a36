# 运行方式: python swapped_receives.py
# 同一对 rank 之间按次序配对：先等第二个的人，收到的是第一个。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    if rank == 0:
        dist.send(torch.tensor([1.0]), dst=1)
        dist.send(torch.tensor([2.0]), dst=1)
        dist.send(torch.tensor([1.0]), dst=1, tag=1)
        dist.send(torch.tensor([2.0]), dst=1, tag=2)
    else:
        first, second = torch.zeros(1), torch.zeros(1)
        works = [dist.irecv(second, src=0), dist.irecv(first, src=0)]
        [work.wait() for work in works]
        print(f"[rank 1] wrong: first {first.tolist()}, second {second.tolist()}")

        works = [dist.irecv(second, src=0, tag=2), dist.irecv(first, src=0, tag=1)]
        [work.wait() for work in works]
        print(f"[rank 1] right: first {first.tolist()}, second {second.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
