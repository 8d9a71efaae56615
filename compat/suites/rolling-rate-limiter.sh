#!/usr/bin/env bash
# rolling-rate-limiter's jest suite, with redis 4 and ioredis 5. jest passes over what is in node_modules
# for two reasons, and two options are needed against that; the one that takes many words comes last.
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

install() { npm_install rolling-rate-limiter@0.4.2 jest@29.7.0 ioredis@5.11.1 redis@4.7.1; }

run() {
    timeout 120 node_modules/.bin/jest lib/index.test.js --rootDir node_modules/rolling-rate-limiter \
        --haste '{"retainAllFiles": true}' --json --outputFile "$COMPAT_RESULTS.json" --testPathIgnorePatterns '^$' || true
    node -e '
        const word = { passed: "pass", failed: "fail" }
        for (const file of require(process.argv[1]).testResults)
          for (const test of file.assertionResults) console.log((word[test.status] || "skip") + "\t" + test.fullName)
    ' "$COMPAT_RESULTS.json" > "$COMPAT_RESULTS"
}

"$1"
