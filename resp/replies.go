package resp

import (
	"bytes"
	"errors"
	"io"
)

// ErrReplyLimit is returned by Replies.Fill when the limit's bytes have arrived
// and are not a whole reply yet.
var ErrReplyLimit = errors.New("resp: reply larger than the limit")

// ErrNoReply is returned by Replies.Next for bytes that are no reply: the other
// side does not speak RESP.
var ErrNoReply = errors.New("resp: not a reply")

// Reply is what a client sees of one reply at a glance.
type Reply struct {
	Kind  byte   // its first byte: '+', '-', ':', '$', '*', ...
	Raw   []byte // all of it, a view that is valid until the next Fill
	First int64  // the number of an integer, or of an array that begins with one; else 0
}

// Text is the line behind the first byte: of an error its message, of an array
// the number of elements.
func (r Reply) Text() string {
	line, _, _ := bytes.Cut(r.Raw[1:], []byte("\r\n"))
	return string(line)
}

// Replies cuts the bytes of a server into replies, in RESP2 and RESP3: the
// client's side of the wire, for programs that send much and look at little of
// what comes back. A push message counts as a reply, an attribute as part of the
// reply it precedes. In steady state it allocates nothing. It is not safe for
// concurrent use.
//
// The loop around it is that of Reader: Next until there is none, then Fill.
type Replies struct {
	src   io.Reader
	limit int // bytes

	buf   []byte
	start int   // buf[start:] has not been returned
	pos   int   // buf[start:pos] is understood
	left  int64 // values that the reply being read still lacks; 0: none is begun
	empty int   // reads in a row that brought nothing
}

// NewReplies returns the replies that arrive at src, each of at most limit bytes.
func NewReplies(src io.Reader, limit int) *Replies {
	return &Replies{src: src, limit: limit, buf: make([]byte, 0, min(limit, pipeBuffer))}
}

// Next returns the next whole reply. Without one ok is false: Fill, then ask
// again.
func (r *Replies) Next() (reply Reply, ok bool, err error) {
	if r.left == 0 {
		r.left = 1
	}
	for r.left > 0 {
		if ok, err := r.value(); !ok {
			return Reply{}, false, err
		}
	}
	raw := r.buf[r.start:r.pos]
	r.start = r.pos
	return Reply{Kind: raw[0], Raw: raw, First: firstNumber(raw)}, true, nil
}

// value reads one value, or the header of one that has others in it. It returns
// false when that has not arrived or is wrong.
func (r *Replies) value() (bool, error) {
	if r.pos == len(r.buf) {
		return false, nil
	}
	end := bytes.IndexByte(r.buf[r.pos:], '\n')
	if end < 0 {
		return false, nil
	}
	kind, line, next := r.buf[r.pos], r.buf[r.pos+1:r.pos+max(end, 1)], r.pos+end+1
	inside := int64(0) // values that belong to this one
	switch kind {
	case '+', '-', ':', ',', '#', '_', '(':
	case '$', '=', '!':
		n, ok := length(line)
		if !ok {
			return false, ErrNoReply
		}
		if n >= 0 {
			next += int(n) + 2
		}
		if next > len(r.buf) {
			return false, nil
		}
	case '*', '~', '>', '%', '|':
		n, ok := length(line)
		if !ok {
			return false, ErrNoReply
		}
		inside = max(n, 0) * perElement(kind)
		if kind == '|' {
			inside++ // the value that it is about
		}
	default:
		return false, ErrNoReply
	}
	r.pos = next
	r.left += inside - 1
	return true, nil
}

// perElement is how many values an element of an aggregate has.
func perElement(kind byte) int64 {
	if kind == '%' || kind == '|' {
		return 2
	}
	return 1
}

// mostElements bounds what a header may announce, so that sums stay in an int64.
const mostElements = 1 << 31

// length reads the number of a header, its carriage return behind it.
func length(line []byte) (int64, bool) {
	n, ok := parseLength(bytes.TrimSuffix(line, []byte("\r")))
	return n, ok && n >= -1 && n <= mostElements
}

// firstNumber is the number of an integer, or of an array whose first element is
// one.
func firstNumber(raw []byte) int64 {
	if raw[0] == '*' {
		if end := bytes.IndexByte(raw, '\n'); end+1 < len(raw) {
			raw = raw[end+1:]
		}
	}
	if raw[0] != ':' {
		return 0
	}
	line, _, _ := bytes.Cut(raw[1:], []byte("\r"))
	n, _ := parseLength(line)
	return n
}

// Fill reads from the source, once. It invalidates all replies returned so far.
func (r *Replies) Fill() error {
	if r.start > 0 {
		n := copy(r.buf, r.buf[r.start:])
		r.buf, r.pos, r.start = r.buf[:n], r.pos-r.start, 0
	}
	if len(r.buf) == cap(r.buf) {
		if len(r.buf) >= r.limit {
			return ErrReplyLimit
		}
		r.buf = append(make([]byte, 0, min(2*cap(r.buf), r.limit)), r.buf...)
	}
	end := len(r.buf)
	n, err := r.src.Read(r.buf[end:cap(r.buf)])
	r.buf = r.buf[:end+n]
	if n > 0 {
		r.empty = 0
		return nil // an error comes back with the next read
	}
	if r.empty++; err == nil && r.empty >= mostEmptyReads {
		err = io.ErrNoProgress
	}
	return err
}
