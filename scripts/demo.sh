#!/usr/bin/env bash
# The main job: one network on four devices from datacenter to phone, then a sweep over batch and context.
# usage: demo.sh PATH_OF_TOKENROOF
set -euo pipefail
tokenroof=$1

run() {
  echo
  echo "\$ tokenroof $*"
  "$tokenroof" "$@"
}

run predict --model llama-3.1-8b --device h100_sxm --weights bf16 --batch 1 --prompt 2048 --output 256
run predict --model llama-3.1-8b --device rtx_4090 --weights bf16 --batch 1 --prompt 2048 --output 256
run predict --model llama-3.1-8b --device apple_m3_max_40c@64GiB --weights Q4_K_M --batch 1 --prompt 2048 --output 256
run predict --model llama-3.2-1b --device snapdragon_8_elite@12GiB --weights Q4_0 --batch 1 --prompt 512 --output 128
run sweep --model llama-3.1-8b --device h100_sxm --weights bf16 --batch 1..64*4 --prompt 512..32768*4 --output 256
