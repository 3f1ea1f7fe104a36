# 运行方式: python alltoall_list_cpu_demo.py
#
# Gloo 从 torch 2.12.0 起支持列表形式的 dist.all_to_all()。更早的版本会报错
# "Backend gloo does not support alltoall"，
# 旧版本请改用 alltoall_cpu_demo.py，两者的输出相同。

import os
import threading
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    timeout = timedelta(seconds=30)  # 最多等别的进程 30 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    chunk_size = 2
    # 第 j 段是当前 rank 要发给 rank j 的个性化数据
    input_tensor = torch.cat([
        torch.full((chunk_size,), fill_value=float(rank * 10 + j))
        for j in range(world_size)
    ])
    print(f"[rank {rank}] input_tensor = {input_tensor.tolist()}")

    # 列表形式：input_list[j] 发给 rank j，received[j] 收 rank j 发来的数据
    input_list = list(input_tensor.chunk(world_size))
    received = [torch.zeros(chunk_size) for _ in range(world_size)]
    dist.all_to_all(received, input_list)

    print(f"[rank {rank}] received: {[t.tolist() for t in received]}")

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
    mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=True)
