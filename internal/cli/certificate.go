package cli

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"time"

	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/cause"
)

// The environment's variables of what a command shows, and trusts, where it connects by TLS: files in PEM form.
const (
	VariableClientCert = "EARSHOT_CLIENT_CERT"
	VariableClientKey  = "EARSHOT_CLIENT_KEY"
	VariableClientCA   = "EARSHOT_CLIENT_CA"
)

const idleConnection = 45 * time.Second

// Transport makes the requests of a command: with the certificate, and the authorities besides the machine's, that the variables name.
// Without any it is nil, which is the default.
func (m *Program) Transport() (http.RoundTripper, error) {
	cert, key, ca := m.Getenv(VariableClientCert), m.Getenv(VariableClientKey), m.Getenv(VariableClientCA)
	if cert == "" && key == "" && ca == "" {
		return nil, nil //nolint:nilnil // the default
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, cause.Misuse("the certificate that "+VariableClientCert+" and "+VariableClientKey+" name cannot be used: "+cause.Of(err),
				"name both files, in PEM form; the key belongs to the first certificate")
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	if ca != "" {
		raw, err := os.ReadFile(ca)
		if err != nil {
			return nil, cause.Misuse("the file that "+VariableClientCA+" names cannot be read: "+cause.Of(err), "check its name and its rights")
		}
		if settings.RootCAs, err = x509.SystemCertPool(); err != nil {
			settings.RootCAs = x509.NewCertPool()
		}
		if !settings.RootCAs.AppendCertsFromPEM(raw) {
			return nil, cause.Misuse("there is no certificate in "+ca+", which "+VariableClientCA+" names", "it holds those of the authorities, in PEM form")
		}
	}
	t := subscribe.NewTransport(idleConnection)
	// Over HTTP/2 the reason may be lost why a certificate is refused.
	t.TLSClientConfig, t.ForceAttemptHTTP2 = settings, false
	return t, nil
}
