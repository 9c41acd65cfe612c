#!/bin/sh
# Runs a command with its temporary files in memory, if the machine has enough of it: tests sync many small files, and wait for
# a disk. A TMPDIR that is set stays. The folder has the same name each time, as go test keeps no result of a test whose
# TMPDIR has changed. Tests remove their own files. The files of a killed test go with a later run.
#
#   inmemory.sh COMMAND ARGS…
dir=${SHM:-/dev/shm}/bailey-$(id -u)
usable() {
	[ "$(df -Pk "${dir%/*}" 2>/dev/null | awk 'NR == 2 { print $4 }')" -ge 8000000 ] 2>/dev/null &&
		[ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)" -ge 8000000 ] 2>/dev/null &&
		{ mkdir -m 700 "$dir" 2>/dev/null || [ -d "$dir" ]; } && [ ! -L "$dir" ] && [ -O "$dir" ] && chmod 700 "$dir" || return 1
	# go test runs binaries there.
	run=$(mktemp "$dir/run-XXXXXX") && printf '#!/bin/sh\n' >"$run" && chmod +x "$run" && "$run" 2>/dev/null
	runs=$?
	rm -f "$run"
	return $runs
}
if [ -z "${TMPDIR:-}" ] && usable; then
	find "$dir" -mindepth 1 -maxdepth 1 -mmin +240 -exec rm -rf -- {} +
	export TMPDIR="$dir"
fi
exec "$@"
