# 运行方式: python lists_on_the_wrong_rank.py
# scatter_list 只给根，gather_list 只给收的人，两边都不能错。

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

    def parts():
        return [torch.zeros(2), torch.zeros(2)]

    tell(rank, lambda: dist.scatter(torch.zeros(2), parts(), src=0) if rank == 1 else None)
    tell(rank, lambda: dist.scatter(torch.zeros(2), None, src=0) if rank == 0 else None)
    tell(rank, lambda: dist.gather(torch.zeros(2), parts(), dst=0) if rank == 1 else None)
    tell(rank, lambda: dist.gather(torch.zeros(2), None, dst=0) if rank == 0 else None)

    mine = torch.zeros(2)
    dist.scatter(mine, parts() if rank == 0 else None, src=0)
    dist.gather(mine, parts() if rank == 0 else None, dst=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
