# 运行方式: python nobody_listens.py
# rank 0 没有起来，或者 MASTER_ADDR、端口写错：别的 rank 一直连不上。主机名写错，还会说它解析不了。

import socket
from datetime import timedelta
from functools import partial

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


taken = socket.socket()
taken.bind(("127.0.0.1", 0))  # 占住一个端口，但不听
address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
unknown = "-".join(5 * ["no-such-host"])  # 主机名最长 63 个字符，这个哪里也解析不出来
for method in address, f"tcp://{unknown}:1":
    tell(partial(dist.init_process_group, "gloo", init_method=method, rank=1, world_size=2,
                 timeout=timedelta(seconds=2)))
