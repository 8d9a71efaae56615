# shellcheck shell=bash
# What the suites' scripts share. Each is called by compat/run as `NAME.sh install`, once, and
# then as `NAME.sh run`, once for each server, with
#
#   COMPAT_DIR      the suite's own folder, where packages are; also the working directory
#   COMPAT_SERVER   the program under the name redis-server, for a suite that starts it itself
#   COMPAT_RESULTS  where to write "verdict<TAB>case" lines: pass, skip, or fail with what was found
#
# and a fresh server on 127.0.0.1:6379. A script says nothing about what should pass.

set -euo pipefail
suites=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
drivers=$suites/../drivers

# npm_install PACKAGE@VERSION...: no script of theirs is run.
npm_install() {
    [ -f package.json ] || echo '{"private": true}' > package.json
    npm install --no-audit --no-fund --no-package-lock --ignore-scripts --prefer-offline --loglevel error "$@"
}

# go_install NAME MODULE-OR-PACKAGE@VERSION...: a module of ours from which the tests of others run.
go_install() {
    [ -f go.mod ] || go mod init "compat.test/$1"
    go get -t "${@:2}"
}

# debian_install PACKAGE...: only what is not there.
debian_install() {
    local missing=() p as=
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2> /dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    [ "${#missing[@]}" != 0 ] || return 0
    [ "$(id -u)" = 0 ] || as='sudo -n'
    $as apt-get update -q
    $as env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# go_cases PREFIX: lines of results out of what `go test -v` prints. A test with subtests counts
# only through them, unless it failed and none of them did.
go_cases() {
    awk -v prefix="$1" '
        $1 == "---" && ($2 == "PASS:" || $2 == "FAIL:" || $2 == "SKIP:") {
            if (!($3 in verdict)) names[++n] = $3
            verdict[$3] = tolower(substr($2, 1, 4))
            for (up = $3; sub("/[^/]*$", "", up);) {
                outer[up] = 1
                if (verdict[$3] == "fail") explained[up] = 1
            }
        }
        END {
            for (i = 1; i <= n; i++)
                if (!(names[i] in outer) || verdict[names[i]] == "fail" && !(names[i] in explained))
                    print verdict[names[i]] "\t" prefix names[i]
        }'
}

# mocha FILE ARGUMENT...: runs the mocha installed in COMPAT_DIR and writes its cases to FILE.
mocha() {
    : > "$1"
    MOCHA_CASES=$1 timeout 300 "$COMPAT_DIR/node_modules/.bin/mocha" --exit \
        --reporter "$suites/mocha-cases.cjs" "${@:2}" < /dev/null || true
}

# again FILE PREFIX TITLES TRIES COMMAND...: writes the cases of FILE to COMPAT_RESULTS with PREFIX
# before their names. One that failed, and whose title matches TITLES, is run alone up to TRIES times
# by COMMAND FILE --grep PATTERN; it passes when it does so once. That is for cases that compare
# durations with a busy machine's; where many fail it is not the machine.
again() {
    local file=$1 prefix=$2 titles=$3 tries=$4 verdict title pattern turn
    shift 4
    while IFS=$'\t' read -r verdict title; do
        if [ "$verdict" = fail ] && [[ $title =~ $titles ]] && [ "$(grep -c '^fail' "$file")" -le 20 ]; then
            # shellcheck disable=SC2016
            pattern=$(printf '%s' "$title" | sed 's/[][\\.*^$(){}?+|/]/\\&/g')
            for ((turn = 0; turn < tries; turn++)); do
                "$@" "$file.alone" --grep "^$pattern\$" > "$file.alone.log" 2>&1
                if [ "$(cut -f 1 "$file.alone" | sort -u)" = pass ]; then
                    verdict=pass
                    break
                fi
            done
        fi
        printf '%s\t%s\n' "$verdict" "$prefix$title" >> "$COMPAT_RESULTS"
    done < "$file"
}
