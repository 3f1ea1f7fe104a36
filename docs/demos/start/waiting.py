# 运行方式: python waiting.py

import os
import threading
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    store = dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False)
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout, store=store
    )

    tensor = torch.tensor([float(rank + 1)])
    others = range(world_size - 1)
    if rank == world_size - 1:
        # 故意最后到：等别的 rank 都提交了，自己才调用
        store.wait([f"submitted {r}" for r in others])

    work = dist.all_reduce(tensor, async_op=True)  # 提交之后马上返回
    if rank in others:
        print(f"[rank {rank}] 提交之后，完成了吗: {work.is_completed()}")
        store.set(f"submitted {rank}", "yes")

    work.wait()  # 到这里才真的等；没有 async_op 时，调用本身就等到这一步
    print(f"[rank {rank}] wait 之后，结果是: {tensor.tolist()}")

    dist.destroy_process_group()


def run(rank, *args):
    try:
        worker(rank, *args)
    except Exception:
        traceback.print_exc()  # 先说出自己的错：别的 rank 只会说对方断开了
        raise


# 被 torchrun 启动时有好几份在跑，只让 rank 0 那一份往下走
if __name__ == "__main__" and os.environ.get("RANK", "0") == "0":
    world_size = 4
    # 端口写 0，由系统挑一个空闲端口；Windows 版 torch 没有 libuv，所以关掉
    store = dist.TCPStore("127.0.0.1", 0, is_master=True,
                          wait_for_workers=False, use_libuv=False)
    # 万一有 rank 卡住不动，120 秒后强行结束所有 rank
    timer = threading.Timer(120, lambda: [p.kill() for p in mp.active_children()])
    timer.daemon = True
    timer.start()
    ranks = mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=False)
    while not ranks.join(grace_period=2):  # 一个 rank 出了错，其余的最多再留 4 秒
        pass
