package address

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
)

// ClientCA are the authorities of which everybody who connects by HTTPS has to show a certificate. A renewed file is loaded at the next
// connection; of an invalid one nothing is taken, and the last valid authorities stay. It is safe for concurrent use.
type ClientCA struct {
	file string
	log  *slog.Logger

	mu      sync.Mutex
	pool    *x509.CertPool
	changed time.Time // the modification time at the last load
}

// OpenClientCA loads the authorities; nil if none are named.
func OpenClientCA(h HTTPS, log *slog.Logger) (*ClientCA, error) {
	if h.ClientCA == "" {
		return nil, nil //nolint:nilnil // none are wanted
	}
	c := &ClientCA{file: h.ClientCA, log: log}
	var err error
	c.pool, c.changed, err = c.read()
	return c, err
}

func (c *ClientCA) read() (*x509.CertPool, time.Time, error) {
	info, err := os.Stat(c.file)
	if err != nil {
		return nil, time.Time{}, certificateUnreadable("file of --tls-client-ca", c.file, err)
	}
	raw, err := os.ReadFile(c.file)
	if err != nil {
		return nil, time.Time{}, certificateUnreadable("file of --tls-client-ca", c.file, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, time.Time{}, cause.Fail(nil, fmt.Sprintf("there is no certificate in %s (--tls-client-ca)", c.file), "it holds those of the authorities, in PEM form")
	}
	return pool, info.ModTime(), nil
}

// current returns the authorities for the next connection.
func (c *ClientCA) current() *x509.CertPool {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.file)
	if err != nil || info.ModTime().Equal(c.changed) {
		return c.pool // also while it is being renewed
	}
	pool, changed, err := c.read()
	if err != nil {
		c.log.Warn("the authorities of clients have changed and cannot be used; the last ones stay", "reason", err)
		c.changed = info.ModTime() // logged once
		return c.pool
	}
	c.pool, c.changed = pool, changed
	return c.pool
}

// Demand has connections with these settings refused without such a certificate. A session is not resumed: its certificate may have
// expired since.
func (c *ClientCA) Demand(o *tls.Config) {
	o.SessionTicketsDisabled = true
	o.ClientAuth, o.ClientCAs = tls.RequireAndVerifyClientCert, c.current()
	plain := o.Clone()
	o.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := plain.Clone()
		now.ClientCAs = c.current()
		return now, nil
	}
}
