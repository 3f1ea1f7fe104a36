# 运行方式: python orphan.py
# 上一次的运行被杀，它起的进程还活着，端口也还占着。找出这个孤儿的 PID 并结束它，端口才空出来。

import contextlib
import os
import signal
import time
from pathlib import Path

import torch.distributed as dist

reader, writer = os.pipe()
if (last_run := os.fork()) == 0:
    if os.fork() == 0:
        signal.alarm(20)  # 万一没有人来结束它，20 秒后自己结束
        store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        os.write(writer, store.port.to_bytes(2, "big"))
    signal.pause()
port = int.from_bytes(os.read(reader, 2), "big")
os.kill(last_run, signal.SIGKILL)


def holder():
    """和 ss -ltnp 一样找：听着端口的 socket 是几号，哪个进程打开了它。"""
    tables = [path.read_text() for path in Path("/proc/net").glob("tcp*")]
    rows = [row.split() for table in tables for row in table.splitlines()]
    here = {f"socket:[{row[9]}]" for row in rows if row[3] == "0A" and row[1][-4:] == f"{port:04X}"}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # 别人的进程看不了
            if here & {str(fd.readlink()) for fd in (process / "fd").iterdir()}:
                return int(process.name)
    return None


try:
    dist.TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False)
except Exception as error:
    print(f"{type(error).__name__}: {error}")

os.kill(holder(), signal.SIGKILL)
while holder():
    time.sleep(0.1)
print("the orphan is gone, nobody holds the port")
