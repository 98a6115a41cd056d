#!/bin/sh
# unshare --mount overlay.sh BASE WORK PROGRAM [ARGUMENT...]
#
# Runs a program with BASE as its root folder, as root. Its writes go to WORK/upper, and BASE stays
# unchanged. Only the program and its children see the mounts.
set -eu

base=$1
work=$2
shift 2
mkdir -p "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$work/root"
mount --rbind /dev "$work/root/dev"
mount -t proc proc "$work/root/proc" 2>/dev/null || mount --rbind /proc "$work/root/proc"
exec chroot "$work/root" "$@"
