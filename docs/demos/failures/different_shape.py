# 运行方式: python different_shape.py
# 元素一样多、形状不一样：数按次序填进去，行和列就乱了。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    sent = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])

    wrong = sent.clone() if rank == 0 else torch.zeros(3, 2)
    dist.broadcast(wrong, src=0)
    print(f"[rank {rank}] wrong: {wrong.tolist()}")

    right = sent.clone() if rank == 0 else torch.zeros(2, 3)
    dist.broadcast(right, src=0)
    print(f"[rank {rank}] right: {right.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
