#!/usr/bin/env bash
# ratelimiter's mocha suite with two clients. "should prevent race condition" sorts replies of seven
# connections by a comparison that returns a boolean, which sorts nothing in today's Node: it passes only
# when they happen to come in order, whichever server answers. So that one may try again.
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

install() { npm_install ratelimiter@3.4.1 mocha@12.0.3 should@13.2.3 async@3.1.0 ioredis@4.14.1 redis@2.8.0; }

cases() { mocha "$@" node_modules/ratelimiter/test; }

run() {
    cases "$COMPAT_RESULTS.first"
    again "$COMPAT_RESULTS.first" '' 'should prevent race condition' 12 cases
}

"$1"
