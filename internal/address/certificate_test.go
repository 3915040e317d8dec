package address_test

import (
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/address"
)

// TestCertificateOfProject: the certificate of the server has to name the host of a project's page, too.
func TestCertificateOfProject(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate is for example.com
	defer s.Close()
	pair, folder := s.TLS.Certificates[0], t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	h := address.HTTPS{Address: "127.0.0.1:0", Cert: filepath.Join(folder, "cert.pem"), Key: filepath.Join(folder, "key.pem"), PageURL: "https://example.com"}
	for file, block := range map[string]*pem.Block{h.Cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, h.Key: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := address.OpenCertificate(h, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for page, fits := range map[string]bool{
		"https://example.com": true, "https://billing.example.org:7443": false, "http://billing.localhost:7411": true,
	} {
		if err := c.Also(page); (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "is not for billing.example.org") {
			t.Errorf("%s: %v", page, err)
		}
	}
}
