# 运行方式: python busy_port.py
# 端口已经有人在听，再要它就报错。端口写 0，让系统挑一个空闲的，就撞不上。

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


first = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
address = f"tcp://127.0.0.1:{first.port}"
tell(lambda: dist.init_process_group("gloo", init_method=address, rank=0, world_size=1))

second = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
print(f"two stores, two ports: {first.port != second.port}")
