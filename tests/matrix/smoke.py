# SPDX-License-Identifier: MIT
"""200 threads of Python's that take turns on a queue."""
import queue
import threading

N = 200
jobs, results = queue.Queue(), queue.Queue()


def work():
    while (job := jobs.get()) is not None:
        results.put(job * job)


threads = [threading.Thread(target=work) for _ in range(N)]
for t in threads:
    t.start()
for job in range(5000):
    jobs.put(job)
for _ in threads:
    jobs.put(None)
for t in threads:
    t.join()
print(sum(results.get() for _ in range(5000)))
