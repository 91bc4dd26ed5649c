#!/usr/bin/env bash
# What only a terminal sees: colours, plain bars without UTF-8, the width, progress.
set -euo pipefail
PROGRAM=$(realpath "$1") exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/terminal.py"
