# 运行方式: python bad_address.py
# init_method 要写成 tcp://主机:端口，并同时给出 rank 和 world_size。

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


tell(lambda: dist.init_process_group("gloo", init_method="tcp://127.0.0.1", rank=0, world_size=1))
tell(lambda: dist.init_process_group("gloo", init_method="127.0.0.1:29500", rank=0, world_size=1))
tell(lambda: dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500"))

store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
tell(lambda: dist.init_process_group("gloo", init_method="env://", store=store,
                                     rank=0, world_size=1))
tell(lambda: dist.init_process_group("gloo", store=store))
