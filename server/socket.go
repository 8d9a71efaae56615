package server

import "net"

// local is a connection over a socket in the file system. Such a client has no
// address of its own: both ends are shown as Redis shows them, FILE:0. As in
// Redis it never speaks TLS: the file's permissions say who may come.
type local struct{ *net.UnixConn }

// socketName is the address of a socket in the file system.
type socketName string

// Network is what net calls it.
func (socketName) Network() string { return "unix" }

// String is FILE:0.
func (n socketName) String() string { return string(n) + ":0" }

// LocalAddr is the socket.
func (l local) LocalAddr() net.Addr { return socketName(l.UnixConn.LocalAddr().String()) }

// RemoteAddr is the socket too.
func (l local) RemoteAddr() net.Addr { return l.LocalAddr() }

// placed gives a connection the addresses it is shown with.
func placed(nc net.Conn) net.Conn {
	if over, ok := nc.(*net.UnixConn); ok {
		return local{over}
	}
	return nc
}
