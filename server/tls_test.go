package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// authority signs certificates for a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	var der []byte
	a.key, der = a.sign(template, template)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert = cert
	a.pool.AddCert(cert)
	return a
}

// sign makes a key and a certificate of it; an authority without a key signs with
// the new one.
func (a *authority) sign(template, parent *x509.Certificate) (*ecdsa.PrivateKey, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	return key, der
}

// issue makes a certificate for loopback, for both sides.
func (a *authority) issue() tls.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	key, der := a.sign(template, a.cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// secured gives a rig TLS, and wants certificates of clients.
func (a *authority) secured(s *setup) {
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.issue()}, ClientCAs: a.pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

// TestTLS serves a client with a certificate of the authority.
func TestTLS(t *testing.T) {
	a := newAuthority(t)
	r := newRig(t, a.secured)
	nc, err := tls.Dial("tcp", r.addr, &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{a.issue()}})
	if err != nil {
		t.Fatal(err)
	}
	c := newCaller(t, nc)
	c.send(strings.Repeat(request("INCR", "a"), 1000) + "*x\r\n")
	c.replies(999)
	if got := c.rest(); got != ":1000\r\n-ERR Protocol error: invalid multibulk length\r\n" {
		t.Errorf("got %q", got)
	}
	client := goredis.NewClient(&goredis.Options{Addr: r.addr, TLSConfig: &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{a.issue()}}})
	t.Cleanup(func() { client.Close() })
	if n, err := client.Incr(context.Background(), "a").Result(); n != 1001 || err != nil {
		t.Errorf("go-redis: %d, %v", n, err)
	}
}

// TestTLSWithoutTheRightCertificate refuses strangers, and who speaks no TLS.
func TestTLSWithoutTheRightCertificate(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	r := newRig(t, a.secured)
	for _, certs := range [][]tls.Certificate{nil, {stranger.issue()}} {
		nc, err := tls.Dial("tcp", r.addr, &tls.Config{RootCAs: a.pool, Certificates: certs})
		if err == nil { // with TLS 1.3 the client learns of it by reading
			c := newCaller(t, nc)
			_, _ = io.WriteString(c, "PING\r\n")
			_, err = c.in.ReadByte()
		}
		if err == nil || !strings.Contains(err.Error(), "tls:") {
			t.Errorf("%d certificates: %v", len(certs), err)
		}
	}
	plain := r.call()
	plain.send("PING\r\n" + strings.Repeat("x", 100))
	if got := plain.rest(); strings.Contains(got, "PONG") {
		t.Errorf("plain text is answered with %q", got)
	}
	eventually(t, "all are counted", func() bool { return r.counts.ended[byHandshake].Load() == 3 })
}

// TestTLSHandshakeIsBounded ends one that does not go on, at shutdown at the
// latest.
func TestTLSHandshakeIsBounded(t *testing.T) {
	a := newAuthority(t)
	r := newRig(t, a.secured, func(s *setup) { s.WriteTimeout = time.Millisecond })
	if got := r.call().rest(); got != "" {
		t.Errorf("it is told %q", got)
	}
	r = newRig(t, a.secured)
	c := r.call()
	eventually(t, "it is accepted", func() bool { _, n := r.sum(); return n == 1 })
	if err := r.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if got := c.rest(); got != "" {
		t.Errorf("it is told %q", got)
	}
}
