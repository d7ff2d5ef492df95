"""Runs the bars that are named, and prints the table. The program's start is Server/bench/run."""
import platform
import signal
import subprocess
import sys

from bars import chaos, cold, fleet, overload, report, soak, warm

BARS = {
    "cold": cold.throughput, "overload": overload.run, "warm": warm.run, "fleet": fleet.run, "chaos": chaos.run,
    "soak": soak.run,
}


def _version(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout + done.stderr).splitlines()[0].strip()


# A run that is ended ends its servers.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
names = sys.argv[1:] or [name for name in BARS if name != "soak"]
if unknown := set(names) - set(BARS):
    sys.exit(f"There is no bar {', '.join(sorted(unknown))}: {' '.join(BARS)}")
processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
report.note(
    "machine", system=platform.platform(), processor=processor, count=len(open("/proc/cpuinfo").read().split("\n\n")) - 1,
    nginx=_version("nginx", "-v"), redis=_version("redis-server", "--version"), wrk=_version("wrk", "-v"),
    thumbor=_version(f"{sys.prefix}/bin/thumbor", "--version"))
for name in names:
    BARS[name]()
sys.exit(0 if report.table() else 1)
