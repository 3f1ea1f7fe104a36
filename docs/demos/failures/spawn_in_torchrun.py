# 运行方式: python spawn_in_torchrun.py
# 脚本自己会 mp.spawn，却又用 torchrun 启动：tcp:// 的端口上没有人听，谁也连不上。

import faulthandler
import os
import socket
import subprocess
import sys
from datetime import timedelta


def worker(rank, address):
    import torch.distributed as dist

    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    try:
        dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2,
                                timeout=timedelta(seconds=1))
    except Exception as error:
        print(f"[rank {rank}] {type(error).__name__}: {error}")


if __name__ == "__main__":
    if "TORCHELASTIC_RUN_ID" in os.environ:
        import torch.multiprocessing as mp

        # mp.spawn 也一样，fork 起得快
        mp.start_processes(worker, args=sys.argv[1:], nprocs=2, start_method="fork")
        sys.exit()

    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1"]
    command += [__file__, f"tcp://127.0.0.1:{free.getsockname()[1]}"]
    run = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", timeout=28)
    print(run.stdout, end="")
