package main_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
)

// certified writes a certificate for a name, which signs itself, and its key.
func certified(t *testing.T, dir, name string, serial int64, from, to time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{name}, NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return certFile, keyFile
}

// answered is what came back from afar.
type answered struct {
	StatusCode, ProtoMajor int
	TLS                    *tls.ConnectionState
}

// far asks the server at an address for a page by HTTPS, under the name of its certificate.
func far(t *testing.T, address, path, token string, o *tls.Config) (answered, error) {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: o, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://earshot.test"+path, http.NoBody)
	must(t, err)
	q.Header.Set("Accept", "text/html")
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := transport.RoundTrip(q)
	if err != nil {
		return answered{}, err
	}
	must(t, answer.Body.Close())
	return answered{StatusCode: answer.StatusCode, ProtoMajor: answer.ProtoMajor, TLS: answer.TLS}, nil
}

// hearsByCall subscribes over gRPC and TLS (TR-GRPC-06).
func hearsByCall(t *testing.T, address, token string, o *tls.Config) {
	t.Helper()
	via := &http.Transport{TLSClientConfig: o, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	conn, err := grpc.Dial(t.Context(), "https://earshot.test", via, http.Header{"Authorization": {"Bearer " + token}}, grpc.Options{Limit: 1 << 20})
	must(t, err)
	defer conn.Drop()
	must(t, conn.Send([]byte(`{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{}}`)))
	answer, err := conn.Receive()
	must(t, err)
	if _, err := aaep.DecodeSubscriptionAccepted(answer); err != nil {
		t.Errorf("over gRPC it answers %s", answer)
	}
}

func trusting(t *testing.T, certFile string) *tls.Config {
	t.Helper()
	raw, err := os.ReadFile(certFile)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(raw)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// TestDoctorCertificate: doctor looks at what the server would need for HTTPS.
func TestDoctorCertificate(t *testing.T) {
	t.Parallel()
	s, dir, now := newScene(t), t.TempDir(), time.Now()
	cert, key := certified(t, dir, "earshot.test", 1, now.Add(-time.Hour), now.Add(time.Hour))
	settings := "https: 127.0.0.1:0\ntls-cert: " + cert + "\ntls-key: " + key + "\npage-url: https://"
	contains(t, s.does(0, "doctor", "--config", s.configuration(settings+"earshot.test\n")), "ok: certificate: "+cert+" is for earshot.test, and valid until ")
	contains(t, s.does(1, "doctor", "--config", s.configuration(settings+"other.test\n")), "problem: certificate: the certificate "+cert+" is for")
	contains(t, s.does(1, "doctor", "--config", s.configuration("https: 127.0.0.1:0\n")), "problem: settings: for HTTPS there must be")
	contains(t, s.does(1, "doctor", "--config", s.configuration("retention-content: 3 days\n")), "problem: settings: --retention-content")
}

// TestServerHTTPS: others come by HTTPS alone, under the name of the certificate, and
// nobody without a login or a token, nor with a TLS before 1.2 (SEC-02, TR-11); a renewed certificate is taken up, a wrong one is not.
func TestServerHTTPS(t *testing.T) {
	t.Parallel()
	s, dir, now := newScene(t), t.TempDir(), time.Now()
	cert, key := certified(t, dir, "earshot.test", 1, now.Add(-time.Hour), now.Add(time.Hour))
	server := s.up("--https", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--page-url", "https://earshot.test")
	at := regexp.MustCompile(`HTTPS: others can come to (\S+)\.\n`).FindStringSubmatch(server.out.String())
	if at == nil {
		t.Fatalf("it does not say where: %s", server.out)
	}
	for path, want := range map[string]int{"/login": http.StatusOK, "/healthz": http.StatusOK, "/api/v1/me": http.StatusUnauthorized} {
		answer, err := far(t, at[1], path, "", trusting(t, cert))
		must(t, err)
		if answer.StatusCode != want || answer.TLS.Version < tls.VersionTLS12 {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
	answer, err := far(t, at[1], "/api/v1/me", s.place().Token, trusting(t, cert))
	must(t, err)
	if answer.StatusCode != http.StatusOK || answer.ProtoMajor != 2 {
		t.Errorf("with a token: HTTP/%d %d", answer.ProtoMajor, answer.StatusCode)
	}
	hearsByCall(t, at[1], s.place().Token, trusting(t, cert))
	old := trusting(t, cert)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if answer, err := far(t, at[1], "/healthz", "", old); err == nil {
		t.Errorf("TLS 1.1 is taken: %d", answer.StatusCode)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at[1]+"/healthz", http.NoBody)
	must(t, err)
	plain, err := http.DefaultClient.Do(q)
	if err == nil {
		must(t, plain.Body.Close())
	}
	if err == nil && plain.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP is answered: %s", plain.Status)
	}

	certified(t, dir, "earshot.test", 2, now.Add(-time.Hour), now.Add(time.Hour))
	must(t, os.Chtimes(cert, now, now.Add(time.Minute)))
	answer, err = far(t, at[1], "/healthz", "", trusting(t, cert))
	must(t, err)
	if n := answer.TLS.PeerCertificates[0].SerialNumber.Int64(); n != 2 {
		t.Errorf("the certificate is number %d, want the renewed one", n)
	}
	good := trusting(t, cert)
	certified(t, dir, "earshot.test", 3, now.Add(-2*time.Hour), now.Add(-time.Hour))
	must(t, os.Chtimes(cert, now, now.Add(2*time.Minute)))
	answer, err = far(t, at[1], "/healthz", "", good)
	must(t, err)
	if n := answer.TLS.PeerCertificates[0].SerialNumber.Int64(); n != 2 {
		t.Errorf("the certificate is number %d, want the last good one", n)
	}

	// One file is renewed after the other, and somebody comes in between.
	newCert, newKey := certified(t, t.TempDir(), "earshot.test", 4, now.Add(-time.Hour), now.Add(time.Hour))
	must(t, os.Rename(newCert, cert))
	must(t, os.Chtimes(cert, now, now.Add(3*time.Minute)))
	answer, err = far(t, at[1], "/healthz", "", good)
	must(t, err)
	if n := answer.TLS.PeerCertificates[0].SerialNumber.Int64(); n != 2 {
		t.Errorf("the certificate is number %d, want the last good one until its key is there", n)
	}
	must(t, os.Rename(newKey, key))
	must(t, os.Chtimes(key, now, now.Add(4*time.Minute)))
	answer, err = far(t, at[1], "/healthz", "", trusting(t, cert))
	must(t, err)
	if n := answer.TLS.PeerCertificates[0].SerialNumber.Int64(); n != 4 {
		t.Errorf("the certificate is number %d, want the one whose key came later", n)
	}
}

// TestServerBadCertificate: what browsers would refuse keeps the server from starting, and
// is said with what to do.
func TestServerBadCertificate(t *testing.T) {
	t.Parallel()
	s, now := newScene(t), time.Now()
	made := func(name string, from, to time.Duration) (dir string) {
		dir = t.TempDir()
		certified(t, dir, name, 1, now.Add(from), now.Add(to))
		return dir
	}
	good, other := made("earshot.test", -time.Hour, time.Hour), made("earshot.test", -time.Hour, time.Hour)
	nonsense := made("earshot.test", -time.Hour, time.Hour)
	must(t, os.WriteFile(filepath.Join(nonsense, "cert.pem"), []byte("nonsense"), 0o600))
	for _, row := range []struct {
		name, certDir, keyDir, page string
		code                        int
		want                        string
	}{
		{"not there", t.TempDir(), good, "https://earshot.test", 1, "cannot be read: it is not there hint: check its name and its rights"},
		{"no key", good, t.TempDir(), "https://earshot.test", 1, "key.pem cannot be read: it is not there"},
		{"no certificate", nonsense, good, "https://earshot.test", 1, "cannot be used: failed to find any PEM data"},
		{"of another key", good, other, "https://earshot.test", 1, "private key does not match public key hint: both are in PEM form"},
		{"run out", "", made("earshot.test", -2*time.Hour, -time.Hour), "https://earshot.test", 1, "has run out on"},
		{"too early", "", made("earshot.test", time.Hour, 2*time.Hour), "https://earshot.test", 1, "does not count before"},
		{"of another name", good, good, "https://elsewhere.test", 1, `is for "earshot.test", and browsers come to elsewhere.test`},
		{"without a name", good, good, "", 2, "for HTTPS there must be an address, a certificate, its key, and the name that browsers use"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.certDir == "" {
				row.certDir = row.keyDir
			}
			args := []string{"--root", s.folder, "--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--tls-cert", filepath.Join(row.certDir, "cert.pem"), "--tls-key", filepath.Join(row.keyDir, "key.pem")}
			if row.page != "" {
				args = append(args, "--page-url", row.page)
			}
			p := start(t, options{verb: "up", data: filepath.Join(t.TempDir(), "data"), args: args, nobody: true})
			p.ends(row.code)
			contains(t, p.prompt.String(), row.want)
		})
	}
}
