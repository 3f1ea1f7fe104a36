# 运行方式: python leftover_file.py
# file:// 的文件是上次留下的，里面的地址没有人在听。两个 rank 相连，地址大的去连，地址小的等人来连，
# 所以报什么要看谁大：这里把旧地址改小、改大各试一次。

import os
import socket
import tempfile
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist


def run(path, ranks, seconds, copy=None):
    for rank in ranks:
        if os.fork() == 0:
            try:
                dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank,
                                        world_size=2, timeout=timedelta(seconds=seconds))
                dist.barrier()
                if copy and rank == 0:
                    copy.write_bytes(path.read_bytes())
                dist.barrier()
                dist.destroy_process_group()
            except Exception as error:
                print(f"[rank {rank}] {type(error).__name__}: {error}", flush=True)
            os._exit(0)
    for _ in ranks:
        os.wait()


os.environ["GLOO_SOCKET_IFNAME"] = "lo"
with tempfile.TemporaryDirectory() as folder:
    old = Path(folder, "left-over")
    run(Path(folder, "new"), [0, 1], 15, copy=old)
    print("first run: fine", flush=True)
    for host in "127.0.0.0", "127.0.0.2":
        path = Path(folder, host)
        path.write_bytes(old.read_bytes().replace(*map(socket.inet_aton, ("127.0.0.1", host))))
        run(path, [0], 1)  # 等的那一次要等 5 个 timeout
