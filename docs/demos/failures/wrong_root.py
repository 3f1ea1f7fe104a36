# 运行方式: python wrong_root.py
# src、dst 要是组里真有的 rank，也不能是自己。这里 N = 1。

import torch
import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)

tell(lambda: dist.broadcast(torch.ones(2), src=1))
tell(lambda: dist.reduce(torch.ones(2), dst=1))
tell(lambda: dist.send(torch.ones(2), dst=0))

dist.destroy_process_group()
