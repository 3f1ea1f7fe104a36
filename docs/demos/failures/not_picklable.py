# 运行方式: python not_picklable.py
# 对象版的集合通信先用 pickle 打包；打不了包的对象发不出去。

from pathlib import Path

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)

with Path(__file__).open(encoding="utf-8") as file:
    tell(lambda: dist.broadcast_object_list([file], src=0))
tell(lambda: dist.all_gather_object([None], lambda: 0))

dist.destroy_process_group()
