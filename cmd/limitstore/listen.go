package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// listen opens the address that a flag names; nil when it names none. The error
// says what the operator can do.
func listen(name string, addr text) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	ln, err := net.Listen("tcp", string(addr))
	var system *os.SyscallError
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %s is in use: stop the process that listens there, or choose another address with --%s", name, &addr, name)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--%s %s is not allowed to this user: choose a port from 1024 up with --%s", name, &addr, name)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("--%s %s is no address of this machine: choose one that is with --%s", name, &addr, name)
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
