package resp

import (
	"errors"
	"io"
)

// Limits bounds what one client can make a Reader hold and accept. A field that
// is zero or less takes its default.
type Limits struct {
	Args   int // arguments of one command, its name included
	Bulk   int // bytes of one argument
	Query  int // bytes held at once: arrived, and not yet a whole command
	Inline int // bytes of one inline command, or of one header line
}

// DefaultLimits returns the limits that apply when nothing else is asked for:
// 1,048,576 arguments, 64 MiB an argument, 128 MiB held, 64 KiB a line.
func DefaultLimits() Limits {
	return Limits{Args: 1 << 20, Bulk: 64 << 20, Query: 128 << 20, Inline: 64 << 10}
}

// or fills what l leaves open from d.
func (l Limits) or(d Limits) Limits {
	pick := func(n, otherwise int) int {
		if n > 0 {
			return n
		}
		return otherwise
	}
	return Limits{pick(l.Args, d.Args), pick(l.Bulk, d.Bulk), pick(l.Query, d.Query), pick(l.Inline, d.Inline)}
}

// Sizes of the read buffer in bytes.
const (
	firstBuffer = 1 << 10   // held by a connection that says little
	pipeBuffer  = 16 << 10  // where a connection that pipelines ends up, as Redis'
	keptBuffer  = 64 << 10  // a larger one is given back once it is empty
	mostRead    = 256 << 10 // asked of the source at once: bounds one Fill's commands
)

// quietFills is how many times in a row a buffer has to be three quarters unused
// before it is given back.
const quietFills = 256

// mostEmptyReads is how many reads in a row may bring neither bytes nor an error,
// as in bufio: beyond that the source is broken and the loop around Fill would spin.
const mostEmptyReads = 100

// ErrQueryLimit is returned by Fill when Limits.Query bytes have arrived and are
// not a whole command yet. Redis closes such a connection without a reply.
var ErrQueryLimit = errors.New("resp: command larger than the query buffer limit")

// ProtocolError says how a client broke the protocol, in Redis' words, such as
// "Protocol error: invalid multibulk length". The reply is "-ERR " and this text;
// then the connection has to close, for nobody knows where the next command
// begins.
type ProtocolError string

// Error returns the text.
func (e ProtocolError) Error() string { return string(e) }

// Reader cuts the bytes of one client into commands. It has one buffer, which
// grows with what has arrived, never with what was announced, and in steady state
// it allocates nothing. It is not safe for concurrent use.
//
// The loop around it:
//
//	for {
//		args, err := r.Next()
//		switch {
//		case err != nil: // answer "-ERR " + err.Error(), then close
//		case args != nil: // run it, or queue it
//		default: // run what is queued, send the replies, then r.Fill()
//		}
//	}
type Reader struct {
	src             io.Reader
	limits          Limits
	unauthenticated bool
	failed          error // the protocol error, once there was one

	buf   []byte   // what has arrived
	start int      // buf[start:] has not been returned: the command being read
	pos   int      // buf[start:pos] is understood
	seen  int      // no line ends in buf[pos:seen]
	want  int      // arguments the command being read still lacks
	args  [][]byte // of all commands since the last Fill
	first int      // args[first:] belong to the command being read

	late  error // came with the bytes of the last read, due at the next Fill
	empty int   // reads in a row that brought nothing
	quiet int   // times in a row that the buffer was far too large
	full  bool  // the last read left no space
}

// NewReader returns a Reader of the commands that arrive at src.
func NewReader(src io.Reader, l Limits) *Reader {
	return &Reader{src: src, limits: l.or(DefaultLimits())}
}

// SetUnauthenticated turns on or off Redis' limits for a client that has not
// given the password: 10 arguments, 16,384 bytes each. It applies to what Next
// reads from now on, so as long as it is on, run each command before asking for
// the next: it may be the AUTH that turns it off.
func (r *Reader) SetUnauthenticated(on bool) { r.unauthenticated = on }

// Buffered returns the number of bytes that have arrived and that Next has not
// returned yet.
func (r *Reader) Buffered() int { return len(r.buf) - r.start }

// Fill reads from the source, once. Call it when Next has no command left: it
// invalidates the arguments of all commands returned so far. It returns the
// source's error, ErrQueryLimit when the limit leaves nothing to read into, or
// the protocol error that Next has reported.
func (r *Reader) Fill() error {
	if err := r.due(); err != nil {
		return err
	}
	if err := r.makeRoom(); err != nil {
		return err
	}
	end := len(r.buf)
	space := r.buf[end:min(cap(r.buf), end+mostRead)]
	n, err := r.src.Read(space)
	r.buf = r.buf[:end+n]
	r.full = n == len(space)
	switch {
	case n > 0:
		r.empty, r.late = 0, err
		return nil
	case err != nil:
		return err
	}
	if r.empty++; r.empty >= mostEmptyReads {
		return io.ErrNoProgress
	}
	return nil
}

// due returns the error that keeps Fill from reading. One of the source is told
// once: if it was a deadline, reading may go on.
func (r *Reader) due() error {
	late := r.late
	r.late = nil
	if r.failed != nil {
		return r.failed
	}
	return late
}

// makeRoom leaves space to read into behind the command being read.
func (r *Reader) makeRoom() error {
	if r.start == len(r.buf) {
		r.settle()
	} else if r.start > 0 {
		r.move(r.buf)
	}
	size := cap(r.buf)
	switch {
	case size >= r.limits.Query && len(r.buf) == size:
		return ErrQueryLimit
	case len(r.buf) == size, r.full && size < min(pipeBuffer, r.limits.Query):
		r.move(make([]byte, 0, min(max(2*size, firstBuffer), r.limits.Query)))
	}
	return nil
}

// settle empties the buffer, all of which was returned, and gives it back when it
// is large or has been larger than needed for long.
func (r *Reader) settle() {
	if 4*len(r.buf) > cap(r.buf) {
		r.quiet = 0
	} else if r.quiet++; cap(r.buf) > firstBuffer && r.quiet >= quietFills {
		r.release()
	}
	if cap(r.buf) > keptBuffer {
		r.release()
	}
	r.buf = r.buf[:0]
	r.restart()
}

func (r *Reader) release() {
	r.buf, r.args, r.quiet = nil, nil, 0
}

// move carries the command being read to the beginning of a buffer, and starts
// reading it again: what was understood of it points to where it was. A command
// moves once, and again whenever the buffer doubles, and going over it again skips
// the arguments' bytes, so that the work stays in proportion to its size.
func (r *Reader) move(to []byte) {
	r.buf = to[:copy(to[:cap(to)], r.buf[r.start:])]
	r.restart()
}

func (r *Reader) restart() {
	r.start, r.pos, r.seen, r.want, r.first = 0, 0, 0, 0, 0
	r.args = r.args[:0]
}
