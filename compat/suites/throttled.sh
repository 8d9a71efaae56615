#!/usr/bin/env bash
# The tests of throttled's four Redis stores, over go-redis 6, 8 and 9 and redigo, in database 1. They skip
# themselves where PING fails.
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

stores=github.com/throttled/throttled/v2/store

install() { go_install throttled $stores/{goredisstore,goredisstore.v8,goredisstore.v9,redigostore}@v2.15.0; }

run() {
    for store in goredisstore goredisstore.v8 goredisstore.v9 redigostore; do
        timeout 300 go test -count=1 -v "$stores/$store" 2>&1 | tee "$COMPAT_RESULTS.$store.out" || true
        go_cases "$store: " < "$COMPAT_RESULTS.$store.out" >> "$COMPAT_RESULTS"
    done
}

"$1"
