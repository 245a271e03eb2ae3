#!/bin/sh
# Runs a command with its temporary files in memory: what most tests wait for is fsync, and no test pulls the plug that
# would show what fsync is for. The folder is mounted where no other process sees it, and goes with the last process that
# does. The files are on the disk where nothing can be mounted (without root, elsewhere than on Linux) or TEST_ON_DISK is set.
folder="${TMPDIR:-/tmp}/cubby_tests"
# shellcheck disable=SC2016
mounted='mount -t tmpfs -o mode=700 tmpfs "$0" && export TMPDIR="$0" && exec "$@"'
if [ -z "${TEST_ON_DISK:-}" ] && mkdir -p "$folder" && unshare --mount sh -c "$mounted" "$folder" true 2>/dev/null; then
  exec unshare --mount sh -c "$mounted" "$folder" "$@"
fi
exec "$@"
