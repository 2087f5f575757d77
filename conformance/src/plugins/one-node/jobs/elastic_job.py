"""Adds the squares of two elastic PyTorch workers."""

import socket
import urllib.request

from flytekit import Resources, task, workflow
from flytekitplugins.kfpytorch import Elastic

small = {"requests": Resources(cpu="100m", mem="300Mi"), "limits": Resources(cpu="1", mem="2Gi")}


@task(task_config=Elastic(nnodes=2, nproc_per_node=1), **small)
def squares(n: int, release: str) -> tuple[int, list[str]]:
    import torch
    from torch import distributed

    distributed.init_process_group(backend="gloo")
    rank, size = distributed.get_rank(), distributed.get_world_size()
    total = torch.tensor(sum(number * number for number in range(rank, n, size)))
    distributed.all_reduce(total)
    hosts: list[str] = [""] * size
    distributed.all_gather_object(hosts, socket.gethostname())
    print(f"rank {rank} has the squares", flush=True)
    urllib.request.urlopen(release).read()
    distributed.barrier()
    return int(total), sorted(hosts)


@workflow
def run(n: int, release: str) -> tuple[int, list[str]]:
    return squares(n=n, release=release)
