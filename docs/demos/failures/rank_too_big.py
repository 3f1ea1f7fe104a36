# 运行方式: python rank_too_big.py
# rank 从 0 数起，最大是 world_size - 1。

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
tell(lambda: dist.init_process_group("gloo", store=store, rank=2, world_size=2))
