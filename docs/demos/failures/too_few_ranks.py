# 运行方式: python too_few_ranks.py
# 说好 2 个 rank，只起了 1 个：默认等 30 分钟，这里只等 2 秒。

from datetime import timedelta

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


timeout = timedelta(seconds=2)
tell(lambda: dist.TCPStore("127.0.0.1", 0, world_size=2, is_master=True, timeout=timeout))

store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
tell(lambda: dist.init_process_group("gloo", store=store, rank=0, world_size=2, timeout=timeout))
