package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// listen opens every place where clients may come; none when one that must be
// there cannot be opened.
func (c *config) listen(log *slog.Logger) (all []net.Listener, err error) {
	for _, a := range c.addresses() {
		ln, err := listenAt("addr", text(a.where), c.keepAlive)
		if err != nil && a.optional && errors.Is(err, errNoAddress) {
			log.Info("not listening at an address that this machine does not have", "addr", a.where)
			continue
		}
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, ln)
	}
	if c.unixSocket != "" {
		ln, err := c.listenUnix()
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, ln)
	}
	if len(all) == 0 {
		return nil, errors.New("--addr: this machine has none of these addresses")
	}
	return all, nil
}

func closeAll(all []net.Listener) (err error) {
	for _, ln := range all {
		err = errors.Join(err, ln.Close())
	}
	return err
}

// shown names the listeners' addresses.
func shown(all []net.Listener, between string) string {
	var names []string
	for _, ln := range all {
		names = append(names, ln.Addr().String())
	}
	return strings.Join(names, between)
}

// listenUnix opens the socket in the file system. A file that is none is left
// alone, and so is a socket where somebody answers.
func (c *config) listenUnix() (net.Listener, error) {
	path := string(c.unixSocket)
	if about, err := os.Lstat(path); err == nil && about.Mode()&os.ModeSocket != 0 {
		if there, err := net.Dial("unix", path); err == nil {
			there.Close()
			return nil, fmt.Errorf("--unix-socket %s is in use: stop the process that listens there, or choose another file", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("--unix-socket %s: cannot replace what is left of one: %w", path, err)
		}
	}
	ln, err := net.Listen("unix", path)
	var system *os.SyscallError
	if errors.As(err, &system) {
		err = system
	}
	if err != nil {
		return nil, fmt.Errorf("--unix-socket %s: %w", path, err)
	}
	if c.unixMode != 0 {
		if err := os.Chmod(path, os.FileMode(c.unixMode)); err != nil {
			return nil, errors.Join(fmt.Errorf("--unix-socket-mode: %w", err), ln.Close())
		}
	}
	return ln, nil
}

// errNoAddress is the end of an error about an address that another machine has.
var errNoAddress = errors.New("is no address of this machine")

// probes is how often TCP asks a client's machine that has fallen silent.
const probes = 3

// listenAt opens the address that a flag names; nil when it names none. The
// error says what the operator can do.
func listenAt(name string, addr text, keepAlive span) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	how := net.ListenConfig{KeepAlive: -1} // none
	if alive := time.Duration(keepAlive); alive > 0 {
		how = net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: alive, Interval: max(alive/probes, time.Second), Count: probes}}
	}
	ln, err := how.Listen(context.Background(), "tcp", string(addr))
	var system *os.SyscallError
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %s is in use: stop the process that listens there, or choose another address with --%s", name, &addr, name)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--%s %s is not allowed to this user: choose a port from 1024 up with --%s", name, &addr, name)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
		return nil, fmt.Errorf("--%s %s %w: choose one that is with --%s", name, &addr, errNoAddress, name)
	case errors.As(err, &system):
		err = system
	}
	return nil, fmt.Errorf("--%s %s: %w", name, &addr, err)
}

// tls is what the TLS flags ask for; nil for plain TCP.
func (c *config) tls() (*tls.Config, error) {
	if c.tlsCert == "" {
		return nil, nil
	}
	cert, err := readFile("tls-cert", c.tlsCert)
	if err != nil {
		return nil, err
	}
	key, err := readFile("tls-key", c.tlsKey)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s and --tls-key %s do not make a pair: %w", &c.tlsCert, &c.tlsKey, err)
	}
	secure := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.tlsCA == "" {
		return secure, nil
	}
	authorities, err := readFile("tls-ca", c.tlsCA)
	if err != nil {
		return nil, err
	}
	secure.ClientCAs, secure.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !secure.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("--tls-ca %s holds no certificate in PEM", &c.tlsCA)
	}
	return secure, nil
}

// readFile reads the file that a flag names.
func readFile(name string, file text) ([]byte, error) {
	b, err := os.ReadFile(string(file))
	var reason *os.PathError
	if errors.As(err, &reason) {
		err = fmt.Errorf("--%s %s: cannot read it: %w", name, &file, reason.Err)
	}
	return b, err
}
