package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func onCertificates(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(makeCertificates(ts.Getenv("WORK")))
}

// makeCertificates writes an authority, ca.pem, two pairs signed by it, and a
// stranger's that is signed by nobody else.
func makeCertificates(dir string) error {
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), KeyUsage: x509.KeyUsageCertSign,
	}
	signer, err := makePair(dir, "ca", authority, authority, nil)
	if err != nil {
		return err
	}
	for i, name := range []string{"server", "client"} {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i) + 2), Subject: pkix.Name{CommonName: name},
			NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		if _, err := makePair(dir, name, leaf, authority, signer); err != nil {
			return err
		}
	}
	stranger := *authority
	stranger.Subject.CommonName = "stranger"
	_, err = makePair(dir, "stranger", &stranger, &stranger, nil)
	return err
}

// makePair writes NAME.pem and NAME.key; without a signer it signs itself.
func makePair(dir, name string, cert, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := writePEM(filepath.Join(dir, name+".pem"), "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return key, writePEM(filepath.Join(dir, name+".key"), "PRIVATE KEY", secret)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
