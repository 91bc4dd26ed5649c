"""The share of its cases that a test tries: another one for every commit, all of them with `scripts/test --long` (common.sh)."""
import hashlib
import os

SHARE = int(os.environ.get("FABRISCOPE_TEST_SHARE", "1"))
SEED = os.environ.get("FABRISCOPE_TEST_SEED", "")


def drawn(cases, key=str):
    """One in SHARE of the cases, by a hash of the seed and what `key` makes of each. `key`: the same on every machine."""
    return [case for case in cases if int(hashlib.sha256(f"{SEED} {key(case)}".encode()).hexdigest()[:8], 16) % SHARE == 0]
