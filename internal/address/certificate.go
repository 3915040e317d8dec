package address

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
)

// Certificate provides the server's TLS certificate. Renewed files are loaded at the next connection, whichever of the
// two is replaced first. Invalid files are ignored, and the last valid certificate stays. It is safe for concurrent
// use.
type Certificate struct {
	certFile, keyFile string
	host              string // the host name that browsers use
	now               func() time.Time
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	changed written // modification times at the last load
}

// written holds the modification times of the two files.
type written struct{ cert, key time.Time }

func (w written) equal(o written) bool { return w.cert.Equal(o.cert) && w.key.Equal(o.key) }

// OpenCertificate loads the certificate and checks that browsers will accept it; nil if HTTPS is off.
func OpenCertificate(h HTTPS, now func() time.Time, log *slog.Logger) (*Certificate, error) {
	if h.Address == "" {
		return nil, nil //nolint:nilnil // none is wanted
	}
	u, err := url.Parse(h.PageURL)
	if err != nil {
		return nil, cause.Misuse(fmt.Sprintf("--page-url %q is not the address of a page", h.PageURL), "it has the form https://earshot.example.org")
	}
	c := &Certificate{certFile: h.Cert, keyFile: h.Key, host: u.Hostname(), now: now, log: log}
	if c.current, c.changed, err = c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// read loads and checks both files.
func (c *Certificate) read() (*tls.Certificate, written, error) {
	changed, err := c.written()
	if err != nil {
		return nil, written{}, err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, written{}, cause.Fail(err, fmt.Sprintf("the certificate %s and the key %s cannot be used", c.certFile, c.keyFile),
			"both are in PEM form, the certificate with those that lead to its root behind it, and the key belongs to the first")
	}
	if err := c.judge(pair); err != nil {
		return nil, written{}, err
	}
	return &pair, changed, nil
}

func (c *Certificate) written() (written, error) {
	cert, err := os.Stat(c.certFile)
	if err != nil {
		return written{}, certificateUnreadable("certificate", c.certFile, err)
	}
	key, err := os.Stat(c.keyFile)
	if err != nil {
		return written{}, certificateUnreadable("key", c.keyFile, err)
	}
	return written{cert.ModTime(), key.ModTime()}, nil
}

func certificateUnreadable(what, file string, err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		err = path.Err
	}
	return cause.Fail(err, fmt.Sprintf("the %s %s cannot be read", what, file), "check its name and its rights")
}

// judge refuses what browsers would refuse: a certificate that is not valid yet, has expired, or is for other names.
func (c *Certificate) judge(pair tls.Certificate) error {
	const day = "2 January 2006"
	leaf, now := pair.Leaf, c.now()
	switch {
	case now.After(leaf.NotAfter):
		return cause.Fail(nil, fmt.Sprintf("the certificate %s has run out on %s", c.certFile, leaf.NotAfter.Format(day)), "renew it")
	case now.Before(leaf.NotBefore):
		return cause.Fail(nil, fmt.Sprintf("the certificate %s does not count before %s", c.certFile, leaf.NotBefore.Format(day)), "see that the clock is right, or wait")
	case leaf.VerifyHostname(c.host) != nil:
		names := leaf.DNSNames
		for _, ip := range leaf.IPAddresses {
			names = append(names, ip.String())
		}
		return cause.Fail(nil, fmt.Sprintf("the certificate %s is for %q, and browsers come to %s (--page-url)", c.certFile, strings.Join(names, ", "), c.host),
			"use a certificate for that name, or name the address that it is for with --page-url")
	}
	return nil
}

// Also checks that it is for the host of a further page by HTTPS.
func (c *Certificate) Also(page string) error {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" {
		return nil // the address was checked before
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.Leaf.VerifyHostname(u.Hostname()) != nil {
		return cause.Fail(nil, fmt.Sprintf("the certificate %s is not for %s (page-url)", c.certFile, u.Hostname()), "use one that names both hosts")
	}
	return nil
}

// get returns the certificate for the next connection.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.written()
	if err != nil || now.equal(c.changed) {
		return c.current, nil // also while it is being renewed
	}
	renewed, changed, err := c.read()
	if err != nil {
		c.log.Warn("the certificate has changed and cannot be used; the last one stays", "reason", err)
		c.changed = now // logged once
		return c.current, nil
	}
	c.current, c.changed = renewed, changed
	return c.current, nil
}

// Covers returns the name that it is for, and its expiry.
func (c *Certificate) Covers() (host string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host, c.current.Leaf.NotAfter
}

// Settings returns the TLS settings: at least version 1.2 (SEC-02). HTTP/2 is named explicitly: otherwise a server that
// also takes plain connections would offer HTTP/2 and, if such a connection came first, not support it.
func (c *Certificate) Settings() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"h2", "http/1.1"}}
}

// HTTPS configures HTTPS: an address, a certificate with its key, and the page's URL, whose host name the certificate
// is for.
type HTTPS struct {
	Address, Cert, Key, PageURL string
	// ClientCA is a file with the authorities of clients' certificates; "" demands none.
	ClientCA string
}

// Check requires either all HTTPS settings or none.
func (h HTTPS) Check() error {
	if h.Address == "" && h.Cert == "" && h.Key == "" {
		if h.ClientCA != "" {
			return cause.Misuse("--tls-client-ca is for connections by HTTPS, and there are none", "give --https, --tls-cert, --tls-key and --page-url, too")
		}
		return nil
	}
	if h.Address == "" || h.Cert == "" || h.Key == "" || !strings.HasPrefix(h.PageURL, "https://") {
		return cause.Misuse("for HTTPS there must be an address, a certificate, its key, and the name that browsers use",
			"for example --https 0.0.0.0:7443 --tls-cert FILE --tls-key FILE --page-url https://earshot.example.org:7443")
	}
	_, _, err := Split("--https", h.Address, "0.0.0.0:7443")
	return err
}
