# 运行方式: python store_gone.py
# 存放地址的那个进程先退出了，别人再去问它，就报这个错。

import faulthandler

import torch.distributed as dist
import torch.multiprocessing as mp


def tell(rank, call):
    try:
        call()
    except Exception as error:
        print(f"[rank {rank}] {type(error).__name__}: {error}")


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    if rank == 0:
        own = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        dist.broadcast_object_list([own.port], src=0)
        dist.barrier()
        del own
        dist.barrier()
    else:
        port = [None]
        dist.broadcast_object_list(port, src=0)
        other = dist.TCPStore("127.0.0.1", port[0])
        [dist.barrier() for _ in range(2)]
        tell(1, lambda: other.get("key"))
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
