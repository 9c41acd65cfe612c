#!/bin/bash
# Runs a govulncheck and goes by its exit status (golang.org/x/vuln/cmd/govulncheck: 0 nothing found, 3 found
# something). What it prints decides only whether another failure was for want of the vulnerability data.
#
#   vulncheck.sh GOVULNCHECK ARGS…    exits with 0 if nothing was found or nothing could be checked, else with 1
set -u -o pipefail
out=$("$@" 2>&1)
status=$?
case $status in
0)
  tail -3 <<<"$out"
  ;;
3)
  echo "$out"
  exit 1
  ;;
*)
  if grep -qE '^govulncheck: (fetching|loading) vulnerabilit|dial tcp|no such host|proxyconnect|https://vuln\.go\.dev' <<<"$out"; then
    echo "  NOT CHECKED: the vulnerability data can't be had here: $(tail -1 <<<"$out" | cut -c1-120)"
  else
    echo "$out"
    echo "govulncheck ended with status $status"
    exit 1
  fi
  ;;
esac
