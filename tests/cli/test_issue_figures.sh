#!/usr/bin/env bash
# Published and derived figures that the program must reproduce, through its JSON.
set -euo pipefail
program=$(realpath "$1")
PROGRAM=$program exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/issue_figures.py"
