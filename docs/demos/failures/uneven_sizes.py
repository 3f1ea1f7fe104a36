# 运行方式: python uneven_sizes.py
# 各 rank 的长度不一样，all_gather、gather 和 all_to_all 都不收。

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

    mine = torch.ones(rank + 1)

    def room():
        return [torch.zeros(1), torch.zeros(2)]

    tell(rank, lambda: dist.all_gather(room(), mine))
    tell(rank, lambda: dist.all_to_all(room(), room()))

    # 补齐到最长的，收下之后再按各自的长度切开
    padded = torch.nn.functional.pad(mine, (0, 2 - len(mine)))
    parts = [torch.zeros(2), torch.zeros(2)]
    dist.all_gather(parts, padded)
    print(f"[rank {rank}] right: {[parts[r][:r + 1].tolist() for r in range(2)]}")
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
