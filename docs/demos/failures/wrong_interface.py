# 运行方式: python wrong_interface.py
# GLOO_SOCKET_IFNAME 要写一个真实的网卡名；^lo 是 NCCL 的写法。

import os
import socket

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
for name in ("^lo", "127.0.0.1", "no-such-card"):
    os.environ["GLOO_SOCKET_IFNAME"] = name
    tell(lambda: dist.init_process_group("gloo", store=store, rank=0, world_size=1))
print(f"network interfaces include lo: {'lo' in [name for _, name in socket.if_nameindex()]}")
