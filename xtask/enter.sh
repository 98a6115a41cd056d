#!/bin/sh
# unshare --mount enter.sh ROOT UID:GID SHARED... -- PROGRAM [ARGUMENT...]
#
# Runs a program with ROOT as its root folder, in which each SHARED file or folder of this machine
# has the same path. Only the program and its children see what is mounted here, and the mounts end
# with the last of them: nothing has to be unmounted, and no mount is left when ROOT is removed.
set -euf

root=$1
user=$2
shift 2
while [ "$1" != -- ]; do
    if [ -d "$1" ]; then
        mkdir -p "$root$1"
    else
        : >>"$root$1"
    fi
    # A program that adds a user replaces the file /etc/passwd, perhaps right now.
    mount --rbind "$1" "$root$1" 2>/dev/null ||
        mount --rbind "$1" "$root$1" 2>/dev/null ||
        mount --rbind "$1" "$root$1"
    shift
done
shift
exec chroot --userspec="$user" "$root" "$@"
