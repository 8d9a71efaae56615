//go:build !unix

package server

import "syscall"

// readNow is for the systems that have the ear.
func readNow(uintptr, []byte) (int, error) { return 0, errNothing }

// ear is nil: reading waits here.
func (c *conn) ear() syscall.RawConn { return nil }
