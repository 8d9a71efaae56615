package resp

import (
	"strconv"

	"github.com/tidwall/redcon"
)

// The two protocol versions a client can ask for with HELLO.
const (
	RESP2 = 2
	RESP3 = 3
)

// keepReplies is the largest reply buffer, in bytes, that survives a Reset: a
// connection that once asked for much does not hold the memory for ever.
const keepReplies = 64 << 10

// Writer collects replies as bytes. It speaks RESP2 until told otherwise; types
// that only RESP3 has take the form Redis gives them in RESP2. Its zero value is
// ready to use and has no limit. It is not safe for concurrent use.
//
// An aggregate (Array, Map, Set, Push) writes only its header; the caller then
// writes exactly as many elements as it announced. In steady state no method but
// SimpleString and Error allocates, and those only for a text with a line break.
type Writer struct {
	buf   []byte
	limit int // bytes; 0: none
	resp3 bool
	over  bool
}

// Reset empties the writer and sets the protocol version (2 or 3). The limit
// stays.
func (w *Writer) Reset(proto int) {
	if cap(w.buf) > keepReplies {
		w.buf = nil
	}
	w.buf = w.buf[:0]
	w.over = false
	w.SetProto(proto)
}

// SetProto sets the protocol version (2 or 3) of the replies that follow.
func (w *Writer) SetProto(proto int) { w.resp3 = proto == RESP3 }

// Proto says which protocol version, 2 or 3, the next reply is written in.
func (w *Writer) Proto() int {
	if w.resp3 {
		return RESP3
	}
	return RESP2
}

// Bytes returns what was written. It is a view, valid until the next method call.
func (w *Writer) Bytes() []byte { return w.buf }

// Len returns the number of bytes written.
func (w *Writer) Len() int { return len(w.buf) }

// Truncate takes back all but the first n bytes; n comes from a Len since Reset.
// If that takes back everything since an overflow, the overflow is forgotten.
func (w *Writer) Truncate(n int) {
	// With n equal to Len nothing is taken back, and what an overflow dropped may
	// have been dropped before or after n was noted: the overflow stays.
	if n < len(w.buf) {
		w.over = false
	}
	w.buf = w.buf[:n]
}

// SetLimit sets how many bytes the writer may hold; 0 means any number. A reply
// that would not fit is dropped whole, so is every later one, and Overflowed says
// so: the connection that asked for it has to close, since a reply is missing.
func (w *Writer) SetLimit(n int) { w.limit = n }

// Overflowed reports whether a reply was dropped for the limit since Reset.
func (w *Writer) Overflowed() bool { return w.over }

// room reports whether n more bytes may be written.
func (w *Writer) room(n int) bool {
	if w.over || w.limit > 0 && n > w.limit-len(w.buf) {
		w.over = true
		return false
	}
	return true
}

// Bytes that frame an element: a type byte, 20 characters for the longest int64,
// CR LF; a bulk has a CR LF more after its text.
const (
	maxInt    = 1 + 20 + 2
	bulkFrame = maxInt + 2
)

// OK writes the simple string OK.
func (w *Writer) OK() {
	if w.room(len("+OK\r\n")) {
		w.buf = redcon.AppendOK(w.buf)
	}
}

// SimpleString writes a simple string; CR and LF in it become spaces.
func (w *Writer) SimpleString(s string) {
	if w.room(len(s) + 3) {
		w.buf = redcon.AppendString(w.buf, s)
	}
}

// Error writes an error. The text starts with its code ("ERR ...", "WRONGTYPE
// ...") and comes without the leading '-'. CR and LF in it become spaces, as in
// Redis: an argument quoted in an error cannot forge a second reply.
func (w *Writer) Error(text string) {
	if w.room(len(text) + 3) {
		w.buf = redcon.AppendError(w.buf, text)
	}
}

// Int writes an integer.
func (w *Writer) Int(n int64) {
	if w.room(maxInt) {
		w.buf = redcon.AppendInt(w.buf, n)
	}
}

// Ints writes an array of integers, header included, in one go: the reply of
// every limiter command.
func (w *Writer) Ints(n ...int64) {
	if !w.room(maxInt * (1 + len(n))) {
		return
	}
	b := redcon.AppendArray(w.buf, len(n))
	for _, v := range n {
		b = redcon.AppendInt(b, v)
	}
	w.buf = b
}

// Bulk writes a bulk string. A nil slice is an empty string, not a null.
func (w *Writer) Bulk(b []byte) {
	if w.room(len(b) + bulkFrame) {
		w.buf = redcon.AppendBulk(w.buf, b)
	}
}

// BulkString writes a bulk string.
func (w *Writer) BulkString(s string) {
	if w.room(len(s) + bulkFrame) {
		w.buf = redcon.AppendBulkString(w.buf, s)
	}
}

// BulkInt writes a bulk string that holds n in decimal. redcon's AppendBulkInt
// would allocate the digits first.
func (w *Writer) BulkInt(n int64) {
	if w.room(20 + bulkFrame) {
		var digits [20]byte
		w.buf = redcon.AppendBulk(w.buf, strconv.AppendInt(digits[:0], n, 10))
	}
}

// Null writes the absent value: a null, or in RESP2 the null bulk string.
func (w *Writer) Null() { w.null("$-1\r\n") }

// NullArray writes the absent array: a null, or in RESP2 the null array.
func (w *Writer) NullArray() { w.null("*-1\r\n") }

func (w *Writer) null(resp2 string) {
	if !w.room(len(resp2)) {
		return
	}
	if w.resp3 {
		resp2 = "_\r\n"
	}
	w.buf = append(w.buf, resp2...)
}

// Array begins an array of n elements.
func (w *Writer) Array(n int) { w.header('*', n) }

// Map begins a map of n pairs: n times a key and a value follow. In RESP2 it is
// an array of 2n.
func (w *Writer) Map(pairs int) {
	if w.resp3 {
		w.header('%', pairs)
	} else {
		w.header('*', 2*pairs)
	}
}

// Set begins a set of n elements; in RESP2 an array.
func (w *Writer) Set(n int) { w.header(w.only3('~'), n) }

// Push begins an out-of-band message of n elements; in RESP2 an array, as in
// Redis' pub/sub.
func (w *Writer) Push(n int) { w.header(w.only3('>'), n) }

// only3 returns a type byte of RESP3, or the array's in RESP2.
func (w *Writer) only3(kind byte) byte {
	if w.resp3 {
		return kind
	}
	return '*'
}

// header begins an aggregate. redcon knows the array's header only, so the other
// types borrow it and change its first byte.
func (w *Writer) header(kind byte, n int) {
	if !w.room(maxInt) {
		return
	}
	at := len(w.buf)
	w.buf = redcon.AppendArray(w.buf, n)
	w.buf[at] = kind
}

// Bool writes a boolean; in RESP2 the integer 1 or 0.
func (w *Writer) Bool(v bool) {
	if !w.room(len(":1\r\n")) {
		return
	}
	text := ":0\r\n"
	switch {
	case w.resp3 && v:
		text = "#t\r\n"
	case w.resp3:
		text = "#f\r\n"
	case v:
		text = ":1\r\n"
	}
	w.buf = append(w.buf, text...)
}

// Double writes a floating-point number, formatted as Redis 7.2 and later do; in
// RESP2 a bulk string. redcon's AppendBulkFloat allocates, and never uses an
// exponent: 1e300 would be 301 characters.
func (w *Writer) Double(f float64) {
	var text [maxDouble]byte
	w.Decimal(AppendDouble(text[:0], f))
}

// Decimal writes a floating-point number whose text the caller has made, for
// numbers more precise than a float64; in RESP2 a bulk string.
func (w *Writer) Decimal(text []byte) {
	if !w.resp3 {
		w.Bulk(text)
		return
	}
	if w.room(len(text) + 3) {
		b := append(append(w.buf, ','), text...)
		w.buf = append(b, '\r', '\n')
	}
}

// BigNumber writes a whole number of any length, whose text the caller has made;
// in RESP2 a bulk string.
func (w *Writer) BigNumber(text string) {
	if !w.resp3 {
		w.BulkString(text)
		return
	}
	if w.room(len(text) + 3) {
		b := append(append(w.buf, '('), text...)
		w.buf = append(b, '\r', '\n')
	}
}

// Verbatim writes a text with its format, three characters such as "txt" (cut or
// filled with spaces, as Redis does); in RESP2 a bulk string of the text alone.
func (w *Writer) Verbatim(format, text string) {
	if !w.resp3 {
		w.BulkString(text)
		return
	}
	if !w.room(len(text) + 4 + bulkFrame) {
		return
	}
	at := len(w.buf)
	b := redcon.AppendArray(w.buf, len(text)+4)
	b[at] = '='
	b = append(append(b, format...), "   "...)
	b = append(b[:len(b)-len(format)], ':')
	b = append(b, text...)
	w.buf = append(b, '\r', '\n')
}

// Raw writes bytes that are whole replies already, such as another Writer's.
func (w *Writer) Raw(b []byte) {
	if w.room(len(b)) {
		w.buf = append(w.buf, b...)
	}
}
