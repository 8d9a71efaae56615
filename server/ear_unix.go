//go:build unix

package server

import (
	"io"
	"os"
	"syscall"
)

// readNow reads what has arrived at a socket that does not block: errNothing when
// that is nothing, io.EOF when no more will come.
func readNow(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), b)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return 0, errNothing
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// ear is what the connection hears through without waiting, nil where that is not
// how it is done: behind TLS, or in a test.
func (c *conn) ear() syscall.RawConn {
	socket, ok := c.net.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil // it is closed already, as reading will tell
	}
	return raw
}
