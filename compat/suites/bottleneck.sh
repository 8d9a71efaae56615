#!/usr/bin/env bash
# bottleneck's mocha suite with each of its two Redis stores. It is of 2019: Node then only warned of
# promises whose rejection nobody handles, and the cases that disconnect early leave some.
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

install() { npm_install bottleneck@2.19.5 mocha@6.2.3 assert@1.5.1 ioredis@4.31.0 redis@2.8.0; }

# with STORE FILE ARGUMENT...
with() {
    (cd node_modules/bottleneck &&
        DATASTORE=$1 REDIS_HOST=127.0.0.1 REDIS_PORT=6379 NODE_OPTIONS=--unhandled-rejections=warn mocha "${@:2}" test)
}

run() {
    for store in ioredis redis; do
        with "$store" "$COMPAT_RESULTS.$store"
        again "$COMPAT_RESULTS.$store" "$store: " . 2 with "$store"
    done
}

"$1"
