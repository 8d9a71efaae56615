#!/usr/bin/env bash
# redis_rate's tests and its example. A case that fails is written with the two numbers that it found to
# differ, the one found first: failing with other numbers than Redis' is another result.
# shellcheck source=compat/suites/common.sh
. "$(dirname "$0")/common.sh"

install() { go_install redis_rate github.com/go-redis/redis_rate/v10@v10.0.1; }

run() {
    timeout 300 go test -count=1 -v github.com/go-redis/redis_rate/v10 > "$COMPAT_RESULTS.out" 2>&1 || true
    cat "$COMPAT_RESULTS.out"
    go_cases '' < "$COMPAT_RESULTS.out" | while IFS=$'\t' read -r verdict name; do
        [ "$verdict" != fail ] || verdict="fail: $(numbers "$name")"
        printf '%s\t%s\n' "$verdict" "$name"
    done > "$COMPAT_RESULTS"
}

# numbers TEST: "8 for 9". The tests give require.Equal what they found first, where it calls that expected.
numbers() {
    awk -v name="$1" '
        $1 == "===" { on = $3 == name }
        on && ($1 == "expected:" || $1 == "actual" || $1 == "allowed") { seen[++n] = $NF }
        END { print seen[1] " for " seen[2] }' "$COMPAT_RESULTS.out"
}

"$1"
