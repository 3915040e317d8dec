package main_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// authority signs the certificates of clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	cert, err := x509.ParseCertificate(raw)
	must(t, err)
	return authority{cert, key}
}

// write writes the authority's certificate.
func (a authority) write(t *testing.T, file string) {
	t.Helper()
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600))
}

// client signs a certificate until a time, and writes it and its key.
func (a authority) client(t *testing.T, until time.Time, use x509.ExtKeyUsage) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "reader"}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{use},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "client.pem"), filepath.Join(dir, "client-key.pem")
	must(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return certFile, keyFile
}

// TestServerClientCA: who comes by HTTPS without a certificate of the operator's authorities gets no answer, and is told why, as the operator
// is; with one it still takes a token. Commands show theirs, and a renewed file of authorities is taken up.
func TestServerClientCA(t *testing.T) {
	t.Parallel()
	s, dir, now := newScene(t), t.TempDir(), time.Now()
	cert, key := certified(t, dir, "localhost", 1, now.Add(-time.Hour), now.Add(time.Hour))
	ours, theirs := newAuthority(t), newAuthority(t)
	file := filepath.Join(dir, "clients.pem")
	ours.write(t, file)
	server := s.up("--https", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--page-url", "https://localhost", "--tls-client-ca", file)
	at := regexp.MustCompile(`HTTPS: others can come to (\S+)\.\n`).FindStringSubmatch(server.out.String())
	if at == nil {
		t.Fatalf("it does not say where: %s", server.out)
	}
	_, port, err := net.SplitHostPort(at[1])
	must(t, err)
	token := filepath.Join(dir, "token")
	must(t, os.WriteFile(token, []byte(s.place().Token+"\n"), 0o600))
	does := func(code int, env ...string) string {
		p := start(t, options{verb: "sessions", args: []string{"--url", "https://localhost:" + port, "--token-file", token}, env: append(env, "EARSHOT_CLIENT_CA="+cert), nobody: true})
		p.ends(code)
		return p.out.String() + p.prompt.String()
	}
	shows := func(certFile, keyFile string) []string {
		return []string{"EARSHOT_CLIENT_CERT=" + certFile, "EARSHOT_CLIENT_KEY=" + keyFile}
	}
	goodCert, goodKey := ours.client(t, now.Add(time.Hour), x509.ExtKeyUsageClientAuth)
	does(0, shows(goodCert, goodKey)...)
	const hint = "hint: name a certificate that the server's operator has given you"
	contains(t, does(1), "it demands a client certificate, and none was shown", hint)
	server.await("Refused by HTTPS: 127.0.0.1:", "has no certificate of --tls-client-ca: client didn't provide a certificate")
	verify := start(t, options{
		verb: "manifest", args: []string{"verify", "https://localhost:" + port}, env: append(shows(goodCert, goodKey), "EARSHOT_CLIENT_CA="+cert), nobody: true,
	})
	verify.ends(1)
	contains(t, verify.out.String()+verify.prompt.String(), "the server publishes no key that signs manifests") // so it has been let in
	strangeCert, strangeKey := theirs.client(t, now.Add(time.Hour), x509.ExtKeyUsageClientAuth)
	lateCert, lateKey := ours.client(t, now.Add(-time.Hour), x509.ExtKeyUsageClientAuth)
	otherCert, otherKey := ours.client(t, now.Add(time.Hour), x509.ExtKeyUsageServerAuth)
	for name, row := range map[string][]string{"of others": shows(strangeCert, strangeKey), "run out": shows(lateCert, lateKey), "for servers": shows(otherCert, otherKey)} {
		t.Log(name)
		contains(t, does(1, row...), "it does not accept the client certificate that was shown", hint)
	}
	contains(t, does(2, shows(goodCert, strangeKey)...), "the certificate that EARSHOT_CLIENT_CERT and EARSHOT_CLIENT_KEY name cannot be used")

	with := trusting(t, cert)
	with.ServerName = "localhost"
	pair, err := tls.LoadX509KeyPair(goodCert, goodKey)
	must(t, err)
	with.Certificates = []tls.Certificate{pair}
	answer, err := far(t, at[1], "/api/v1/me", "", with)
	if err == nil && answer.StatusCode != http.StatusMisdirectedRequest && answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a certificate alone: %d, %v", answer.StatusCode, err)
	}
	must(t, err)

	theirs.write(t, file)
	must(t, os.Chtimes(file, now, now.Add(time.Minute)))
	does(0, shows(strangeCert, strangeKey)...)
	does(1, shows(goodCert, goodKey)...)
	must(t, os.WriteFile(file, []byte("nonsense"), 0o600))
	must(t, os.Chtimes(file, now, now.Add(2*time.Minute)))
	does(0, shows(strangeCert, strangeKey)...)
}

// TestServerBadClientCA: authorities that cannot be used, or that nobody would be asked for, keep the server from starting.
func TestServerBadClientCA(t *testing.T) {
	t.Parallel()
	s, dir, now := newScene(t), t.TempDir(), time.Now()
	cert, key := certified(t, dir, "earshot.test", 1, now.Add(-time.Hour), now.Add(time.Hour))
	for want, row := range map[string]struct {
		code int
		args []string
	}{
		"there is no certificate in " + key: {1, []string{"--https", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--page-url", "https://earshot.test", "--tls-client-ca", key}},
		"/nowhere/ca.pem cannot be read":    {1, []string{"--https", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--page-url", "https://earshot.test", "--tls-client-ca", "/nowhere/ca.pem"}},
		"is for connections by HTTPS":       {2, []string{"--tls-client-ca", cert}},
		"--oidc-issuer needs --oidc-role":   {2, []string{"--oidc-issuer", "https://id.example.org", "--oidc-audience", "earshot"}},
	} {
		p := start(t, options{verb: "up", data: filepath.Join(t.TempDir(), "data"), args: append([]string{"--root", s.folder, "--http", "127.0.0.1:0"}, row.args...), nobody: true})
		p.ends(row.code)
		contains(t, p.prompt.String(), want)
	}
}
