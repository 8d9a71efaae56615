#!/usr/bin/env bash
# envoyproxy/ratelimit's integration tests that want a plain Redis: with and without a password, with a
# second one for limits by the second, with a local cache. They start `redis-server` from PATH on 6380 and
# 6383 to 6385, and end it by SIGKILL; the service takes 8082 to 8084. Left out: TLS, which they reach through
# stunnel, a Redis cluster, Sentinel, memcached.
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

module=github.com/envoyproxy/ratelimit@v1.4.1-0.20260122083618-3fb702589d36
tests='TestBasicConfig|TestXdsProviderBasicConfig|TestXdsProviderBasicConfigReload|TestBasicConfig_ExtraTags'
tests+='|TestBasicAuthConfig|TestBasicReloadConfig|TestShareThreshold'

# They write beside themselves, so they run in a copy. It holds a dump.rdb of its authors' that a Redis
# started there would load: the server is started elsewhere.
install() {
    local source
    source=$(go mod download -json $module | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
    rm -rf source
    cp -R "$source" source
    chmod -R u+w source
    (cd source && go test -count=1 -tags=integration ./test/integration -run '^$')
}

run() {
    rm -rf path data
    mkdir path data
    printf '#!/bin/sh\ncd "%s" && exec "%s" "$@" --bind 127.0.0.1\n' "$PWD/data" "$COMPAT_SERVER" > path/redis-server
    chmod +x path/redis-server
    export PATH=$PWD/path:$PATH HOST=127.0.0.1 GRPC_HOST=127.0.0.1 DEBUG_HOST=127.0.0.1
    (cd source && timeout 500 go test -count=1 -v -tags=integration ./test/integration -run "^($tests)\$") 2>&1 |
        tee "$COMPAT_RESULTS.out" || true
    go_cases '' < "$COMPAT_RESULTS.out" > "$COMPAT_RESULTS"
}

"$1"
