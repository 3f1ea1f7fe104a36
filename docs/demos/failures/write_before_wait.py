# 运行方式: python write_before_wait.py
# async_op=True 之后、wait() 之前改了张量：发出去的是改过的数。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    for label in ("wrong", "right"):
        gradient = torch.ones(1 << 23)  # 32 MB，一下子发不完
        if rank == 1:
            store.wait([f"{label}: rank 0 goes on"])

        work = dist.all_reduce(gradient, async_op=True)
        if rank == 0:
            if label == "right":
                store.set("right: rank 0 goes on", "")
                work.wait()
            total = gradient[-1].item()
            gradient.zero_()  # 为下一步清零
            store.set(f"{label}: rank 0 goes on", "")
        work.wait()
        if rank == 1:
            print(f"[rank 1] {label}: the last element is {gradient[-1].item()}")
        elif label == "right":
            print(f"[rank 0] {label}: the last element was {total}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
