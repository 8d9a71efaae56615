package resp

import (
	"bytes"
	"strconv"
)

// Redis' limits for a client that has not given the password
// (processMultibulkBuffer in networking.c).
const (
	unauthenticatedArgs = 10
	unauthenticatedBulk = 16384
)

// What is said of broken frames: Redis' texts.
const (
	errBigMultibulk  ProtocolError = "Protocol error: too big mbulk count string"
	errBigBulk       ProtocolError = "Protocol error: too big bulk count string"
	errBigInline     ProtocolError = "Protocol error: too big inline request"
	errMultibulk     ProtocolError = "Protocol error: invalid multibulk length"
	errBulk          ProtocolError = "Protocol error: invalid bulk length"
	errManyUnproven  ProtocolError = "Protocol error: unauthenticated multibulk length"
	errLargeUnproven ProtocolError = "Protocol error: unauthenticated bulk length"
	errQuotes        ProtocolError = "Protocol error: unbalanced quotes in request"
)

// Next returns the next whole command, its name first. With neither arguments nor
// an error there is none: Fill, then ask again. The arguments are views into the
// buffer, valid until the next Fill; the caller may not write to them. Commands
// without arguments ("*0", "*-1", a blank line) are passed over, as in Redis. Any
// error is a ProtocolError and final.
//
// What ends a header line is a carriage return and whatever byte follows; so it is
// in Redis, and the two bytes behind an argument are not looked at either. A null
// byte inside a line is an ordinary byte here, where Redis stops and waits for
// 64 KiB to pass.
func (r *Reader) Next() (args [][]byte, err error) {
	for r.failed == nil {
		if r.want == 0 && !r.begin() || !r.collect() {
			break
		}
		r.start = r.pos
		if args := r.args[r.first:len(r.args):len(r.args)]; len(args) > 0 {
			r.first = len(r.args)
			return args, nil
		}
	}
	return nil, r.failed
}

// begin reads what a command starts with: the number of its arguments, or if it
// is an inline command all of it. It returns false when that has not arrived or
// is wrong.
func (r *Reader) begin() bool {
	if r.pos == len(r.buf) {
		return false
	}
	if r.buf[r.pos] != '*' {
		return r.inline()
	}
	if n, size := shortHeader(r.buf[r.pos:]); size > 0 && n <= unauthenticatedArgs && n <= r.limits.Args {
		r.want, r.pos = n, r.pos+size
		return true
	}
	return r.multibulk()
}

// multibulk reads any "*<arguments>" header.
func (r *Reader) multibulk() bool {
	line, next := r.line(r.pos, errBigMultibulk)
	if next == 0 {
		return false
	}
	n, ok := parseLength(line[1:])
	switch {
	case !ok || n > int64(r.limits.Args):
		return r.fail(errMultibulk)
	case n > unauthenticatedArgs && r.unauthenticated:
		return r.fail(errManyUnproven)
	}
	r.want, r.pos = int(max(n, 0)), next
	return true
}

// collect reads the arguments that the command being read lacks. It returns false
// when they have not all arrived or one is wrong. What it has understood it does
// not read again on the next call.
func (r *Reader) collect() bool {
	buf, pos, args, want := r.buf, r.pos, r.args, r.want
	for ; want > 0; want-- {
		n, size := shortHeader(buf[pos:])
		from := pos + size
		if size == 0 || buf[pos] != '$' || n > r.limits.Bulk {
			n, from = r.bulk(pos)
		}
		if from == 0 || n > len(buf)-from-2 {
			break
		}
		args = append(args, buf[from:from+n:from+n])
		pos = from + n + 2
	}
	r.pos, r.args, r.want = pos, args, want
	return want == 0
}

// shortHeader reads a header line of one or two digits, nearly all there are, and
// returns the number and the bytes it took; 0 bytes for any other line, also one
// that is broken or has not arrived.
func shortHeader(b []byte) (n, size int) {
	if len(b) < 5 {
		return 0, 0
	}
	high, low := b[1]-'0', b[2]-'0'
	if high > 9 {
		return 0, 0
	}
	if b[2] == '\r' {
		return int(high), 4
	}
	if high == 0 || low > 9 || b[3] != '\r' {
		return 0, 0
	}
	return 10*int(high) + int(low), 5
}

// bulk reads any "$<bytes>" header and returns the number and where the argument
// begins; 0 for that when the header has not arrived or is wrong.
func (r *Reader) bulk(pos int) (n, from int) {
	line, next := r.line(pos, errBigBulk)
	if next == 0 {
		return 0, 0
	}
	if r.buf[pos] != '$' {
		r.fail(ProtocolError("Protocol error: expected '$', got '" + string(r.buf[pos:pos+1]) + "'"))
		return 0, 0
	}
	length, ok := parseLength(line[1:])
	switch {
	case !ok || length < 0 || length > int64(r.limits.Bulk):
		r.fail(errBulk)
		return 0, 0
	case length > unauthenticatedBulk && r.unauthenticated:
		r.fail(errLargeUnproven)
		return 0, 0
	}
	return int(length), next
}

// line returns the header line at pos, and where the next one begins; 0 for that
// when it has not arrived or is too long.
func (r *Reader) line(pos int, tooLong ProtocolError) (line []byte, next int) {
	end := r.lineEnd('\r', pos, tooLong)
	if end < 0 || end+1 == len(r.buf) {
		return nil, 0
	}
	return r.buf[pos:end], end + 2
}

// lineEnd returns where the byte stands that ends the line at pos, or -1 when it
// has not arrived or the line is too long. That depends on the line alone, not on
// how it arrived: Redis may let a longer line pass if its end comes in one read
// with what is too much.
func (r *Reader) lineEnd(end byte, pos int, tooLong ProtocolError) int {
	stop := len(r.buf)
	long := stop-pos > r.limits.Inline
	if long {
		stop = pos + r.limits.Inline + 1
	}
	from := max(r.seen, pos)
	if at := bytes.IndexByte(r.buf[from:stop], end); at >= 0 {
		return from + at
	}
	r.seen = stop
	if long {
		r.fail(tooLong)
	}
	return -1
}

// fail notes how the protocol was broken; nothing is read after that.
func (r *Reader) fail(e ProtocolError) bool {
	r.failed = e
	return false
}

// parseLength reads a decimal number by the rules of string2ll in Redis' util.c:
// no sign but '-', no leading zero, no space, nothing beyond an int64.
func parseLength(b []byte) (int64, bool) {
	digits := bytes.TrimPrefix(b, []byte{'-'})
	if len(b) == 0 || len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, len(b) == 1 && b[0] == '0'
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}
