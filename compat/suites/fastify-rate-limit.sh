#!/usr/bin/env bash
# The tests of @fastify/rate-limit's Redis store, with ioredis 6 (HELLO 3, then INFO until loading:0).
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

install() { npm_install @fastify/rate-limit@11.2.0 fastify@5.12.8 ioredis@6.0.0 @sinonjs/fake-timers@15.5.0; }

run() {
    timeout 180 node --test --test-reporter=tap --test-reporter-destination=stdout \
        --test-reporter="$suites/node-cases.cjs" --test-reporter-destination="$COMPAT_RESULTS" \
        node_modules/@fastify/rate-limit/test/redis-rate-limit.test.js || true
}

"$1"
