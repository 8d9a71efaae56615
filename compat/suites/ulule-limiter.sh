#!/usr/bin/env bash
# The tests of ulule/limiter's Redis store (SCRIPT LOAD, EVALSHA).
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

store=github.com/ulule/limiter/v3/drivers/store/redis

install() { go_install ulule $store@v3.11.2; }

run() {
    REDIS_URI=redis://127.0.0.1:6379/0 timeout 300 go test -count=1 -v $store 2>&1 | tee "$COMPAT_RESULTS.out" || true
    go_cases '' < "$COMPAT_RESULTS.out" > "$COMPAT_RESULTS"
}

"$1"
