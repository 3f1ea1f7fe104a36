# 运行方式: python ddp_models.py
# DDP 的前提：有参数要训练，每个 rank 的模型一样，每个参数都参与算出损失。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def tell(rank, call):
    try:
        call()
    except Exception as error:
        print(f"[rank {rank}] {type(error).__name__}: {' '.join(str(error).split())}")


class HalfUsed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.used(x)


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    tell(rank, lambda: DDP(torch.nn.ReLU()))
    model = DDP(HalfUsed())
    tell(rank, lambda: [model(torch.ones(1, 2)).sum().backward() for _ in range(2)])
    layers = [torch.nn.Linear(2, 2) for _ in range(1 + rank)]
    tell(rank, lambda: DDP(torch.nn.Sequential(*layers)))
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
