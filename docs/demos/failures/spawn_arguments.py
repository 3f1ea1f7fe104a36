# 运行方式: python spawn_arguments.py
# mp.spawn 先传 rank，再传 args 里的；args 要是元组；函数要能被子进程找到。

import torch.multiprocessing as mp


def worker(world_size):  # 少了 rank
    print(world_size)


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    tell(lambda: mp.spawn(worker, args=(2,), nprocs=1))
    tell(lambda: mp.spawn(worker, args=2, nprocs=1))
    tell(lambda: mp.spawn(lambda rank: None, nprocs=1))
