# SPDX-License-Identifier: GPL-2.0-or-later
"""Two processes count in one line of shared memory.

gcc -shared -fPIC -o libmarkers.so markers.c
s80lab exec --markers --add counter.py --add libmarkers.so -- /usr/bin/python3 counter.py
"""

import ctypes
import multiprocessing

markers = ctypes.CDLL("./libmarkers.so")
ROUNDS = 20000


def count(totals: "ctypes.Array[ctypes.c_long]", number: int) -> None:
    for _ in range(ROUNDS):
        totals[number] += 1


if __name__ == "__main__":
    totals = multiprocessing.Array(ctypes.c_long, 2, lock=False)
    other = multiprocessing.Process(target=count, args=(totals, 1))
    other.start()
    markers.s80lab_begin()
    count(totals, 0)
    markers.s80lab_end()
    other.join()
    print(list(totals))
