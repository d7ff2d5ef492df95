"""Chaos: processes of a fleet are killed, and Redis comes and goes, while the fleet answers."""
import asyncio
import os
import random
import signal
import time

from . import load, pictures, report
from .fleet import COUNT, Check, Fleet, jobs, path
from .servers import origin, redis

SECONDS = int(os.environ.get("CHAOS_SECONDS", 60))
PICTURES = 120


async def _kill_each_second(fleet, state):
    loop = asyncio.get_running_loop()
    while not state["ended"]:
        victim = fleet.servers[state["kills"] % COUNT]
        victim.kill()
        state["kills"] += 1
        await loop.run_in_executor(None, victim.start)
        await asyncio.sleep(max(0, 1 - (time.monotonic() - state["began"]) % 1))


async def _stop_and_start(store, state):
    """Redis is killed and comes back empty, then it hangs, and so on, two seconds each."""
    while not state["ended"]:
        store.kill()
        state["stops"] += 1
        await asyncio.sleep(2)
        store.start()
        await asyncio.sleep(2)
        os.kill(store.process.pid, signal.SIGSTOP)
        await asyncio.sleep(2)
        os.kill(store.process.pid, signal.SIGCONT)
        await asyncio.sleep(2)


async def _for_a_while(fleet, paths, check, seconds, trouble, state):
    """Asks for random paths while there is trouble. Returns the answers a second."""
    random_paths = random.Random(28)
    state.update(began=time.monotonic(), ended=False, kills=0, stops=0)
    task = asyncio.create_task(trouble(state)) if trouble else None
    count = 0

    async def client():
        nonlocal count
        while time.monotonic() - state["began"] < seconds:
            one = random_paths.choice(paths)
            check(one, *await load.ask(fleet.front.port, one))
            count += 1

    await asyncio.gather(*(client() for _ in range(8)))
    state["ended"] = True
    if task:
        await task
    return count / seconds


def _row(what, check):
    lost = sum(count for status, count in check.statuses.items() if status != 200)
    report.row("chaos", f"{what}: requests that were lost", lost, 0, least=False)
    report.row("chaos", f"{what}: wrong bytes", check.wrong, 0, least=False)


def run():
    pictures.ensure()
    source = origin(pictures.FOLDER)
    wanted, reference = jobs(PICTURES), Check()
    reference.learn(wanted, source)
    paths = list(reference.expected)
    store = redis().start()
    address = f"redis://127.0.0.1:{store.port}"

    def phase(what, trouble, seconds, **settings):
        check, state, fleet = Check(), {}, Fleet("chaos", **settings).start()
        check.expected = reference.expected
        rate = asyncio.run(_for_a_while(
            fleet, paths, check, seconds, (lambda state: trouble(fleet, state)) if trouble else None, state))
        report.note("chaos", phase=what, rate=rate, seconds=seconds, statuses=dict(check.statuses), kills=state["kills"],
                    stops=state["stops"], failures=check.failures, proxy=fleet.complaints())
        _row(what, check)
        fleet.stop()
        return rate

    # The answers are made and found in these phases: memory is too small to have them all.
    phase("one process killed each second", _kill_each_second, SECONDS, cache_redis=address)
    without = phase("without Redis", None, SECONDS / 2, cache_memory_bytes=0)
    flapping = phase("Redis stopped and started", lambda _, state: _stop_and_start(store, state), SECONDS / 2,
                     cache_memory_bytes=0, cache_redis=address)
    report.row("chaos", "throughput with Redis that comes and goes, beside none", flapping / without, 0.95, unit=" x")
    for server in [store, source]:
        server.stop()
