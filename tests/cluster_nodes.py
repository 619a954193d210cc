"""A Ray cluster of two machines on this one, in a process of its own; it lives until its standard input ends.

Its first line is JSON: the address, and the process of each machine's raylet. The line `remove` takes the second
machine away without a word to anybody; `removed` is the answer.
"""

from __future__ import annotations

import json
import sys

from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "object_store_memory": 100 * 1024 * 1024, "include_dashboard": False}


def main(folder: str) -> None:
    """Serve until the standard input ends."""
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "temp_dir": folder})
    try:
        second = cluster.add_node(**NODE)
        cluster.wait_for_nodes()
        print(json.dumps({"address": cluster.address}), flush=True)
        for line in sys.stdin:
            if line.strip() == "remove":
                cluster.remove_node(second, allow_graceful=False)
                print("removed", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
