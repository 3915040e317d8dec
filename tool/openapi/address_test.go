package openapi_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/tool/openapi"
	"github.com/earshot-dev/earshot/utp"
)

var errDial = errors.New("dialled")

// plainGet is an operation on a host by its name.
func plainGet(host, networks string) string {
	return "http:\n  target: web\n  hosts: ['http://" + host + "']\n" + networks +
		"  operations:\n    - {tool: web.get, description: Get it., method: GET, url: 'http://" + host + "/x'}\n"
}

// TestAddresses: only what is public is dialled, whatever form the address has; what is
// named is dialled too.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, public := range map[string]bool{
		"93.184.216.34": true, "1.1.1.1": true, "2606:4700::1111": true, "::ffff:1.1.1.1": true, "64:ff9b::1.1.1.1": true, "2002:101:101::1": true,
		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.8.8.8": false, "10.1.2.3": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "100.100.100.200": false, "192.0.0.1": false, "192.0.2.1": false,
		"198.18.0.1": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"168.63.129.16": false, "::": false, "::1": false, "::127.0.0.1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"::ffff:169.254.169.254": false, "64:ff9b::127.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false, "2002:7f00:1::": false,
		"2002:a00:1::": false, "2001:0:53aa:64c::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "fec0::1": false,
		"ff02::1": false, "2001:db8::1": false, "100::1": false, "5f00::1": false, "3fff::1": false,
	} {
		dialled := ""
		o := openapi.Options{
			Lookup: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr(address)}, nil
			},
			Dial: func(_ context.Context, at string) (net.Conn, error) { dialled = at; return nil, errDial },
		}
		s, err := load(plainGet("api.example.org", ""), o)
		if err != nil {
			t.Fatal(err)
		}
		got := call(within(t), t, s.Tools()[0], `{}`)
		if public != (dialled != "") {
			t.Errorf("%s: dialled %q, %v", address, dialled, got.err)
		}
		if !public && (got.code() != utp.CodeAuthFailed || !got.err.IsUntouched() || got.err.Retryable) {
			t.Errorf("%s: %+v", address, got.err)
		}
		if public && (got.code() != utp.CodeUpstreamUnavailable || !got.err.IsUntouched()) {
			t.Errorf("%s: %+v", address, got.err)
		}
		if strings.Contains(address, "%") {
			continue
		}
		dialled = ""
		named, err := load(plainGet("api.example.org", "  networks: ['"+netip.MustParseAddr(address).Unmap().String()+"']\n"), o)
		if err != nil {
			t.Fatal(err)
		}
		if call(within(t), t, named.Tools()[0], `{}`); dialled == "" {
			t.Errorf("%s is named, and was not dialled", address)
		}
	}
}

// TestRebinding: what was looked up and found good is what is dialled; the name is not
// looked up again. Among several addresses a private one spoils all.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	lookups := 0
	var dialled []string
	answers := [][]string{{"93.184.216.34"}, {"127.0.0.1"}, {"1.1.1.1", "10.0.0.1"}, {}}
	o := openapi.Options{
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			mu.Lock()
			defer mu.Unlock()
			var found []netip.Addr
			for _, a := range answers[lookups] {
				found = append(found, netip.MustParseAddr(a))
			}
			lookups++
			return found, nil
		},
		Dial: func(_ context.Context, at string) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			dialled = append(dialled, at)
			return nil, errDial
		},
	}
	s, err := load(plainGet("api.example.org", ""), o)
	if err != nil {
		t.Fatal(err)
	}
	for range answers {
		if got := call(within(t), t, s.Tools()[0], `{}`); got.err == nil || !got.err.IsUntouched() {
			t.Errorf("got %+v", got)
		}
	}
	if lookups != len(answers) || len(dialled) != 1 || dialled[0] != "93.184.216.34:80" {
		t.Errorf("looked up %d times, dialled %v", lookups, dialled)
	}
}

// TestSystemDialer: the system's own dialler refuses what no test port stands before:
// spellings of the loopback that a resolver may take for it.
func TestSystemDialer(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "017700000001", "127.1", "0"} {
		made, err := load(plainGet(host+":"+port, ""), openapi.Options{})
		if err != nil {
			continue // refused before
		}
		if got := call(within(t), t, made.Tools()[0], `{}`); got.err == nil {
			t.Errorf("%s was reached", host)
		}
	}
	if asked := s.asked(); len(asked) != 0 {
		t.Errorf("the server was asked: %+v", asked)
	}
	if got := call(within(t), t, loaded(t, s.section(`{tool: web.get, description: Get., method: GET, url: '`+s.URL+`/x'}`)), `{}`); got.text != "ok" {
		t.Errorf("what is named is not reached: %+v", got)
	}
}

// TestRedirects: within the origin, for reads, a few times; never elsewhere.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := serve(t, ok)
	var s *server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/here": "/end", "/relative": "end", "/chain": "/here", "/loop": "/loop", "/away": other.URL + "/end", "/https": "https://" + strings.TrimPrefix(s.URL, "http://"),
			"/user": "http://admin:x@" + strings.TrimPrefix(s.URL, "http://") + "/end", "/name": strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/end",
			"/file": "file:///etc/passwd", "/chain-away": "/away", "/meta": "http://169.254.169.254/latest",
		}[r.URL.Path]
		if to == "" {
			ok(w, r)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
	for path, followed := range map[string]bool{
		"here": true, "relative": true, "chain": true, "loop": false, "away": false, "https": false, "user": false, "name": false, "file": false, "chain-away": false, "meta": false,
	} {
		got := call(within(t), t, loaded(t, s.section(`{tool: web.get, description: Get., method: GET, url: '`+s.URL+`/`+path+`'}`)), `{}`)
		if followed && (got.text != "ok" || got.err != nil) || !followed && (got.code() != utp.CodeUpstreamUnavailable || got.err.Retryable) {
			t.Errorf("%s: %q, %+v", path, got.text, got.err)
		}
	}
	if n := len(other.asked()); n != 0 {
		t.Errorf("another host was asked %d times", n)
	}
	before := len(s.asked())
	for _, row := range []struct {
		operation string
		class     string
	}{{"POST", "irreversible"}, {"GET", "irreversible"}, {"PUT", "idempotent"}} {
		got := call(within(t), t, loaded(t, s.section(`{tool: web.do, description: Do., method: `+row.operation+`, class: `+row.class+`, url: '`+s.URL+`/here'}`)), `{}`)
		if got.code() != utp.CodeUpstreamUnavailable || got.Location != "/end" || got.err.Retryable {
			t.Errorf("%s: %+v, %+v", row.operation, got.Answer, got.err)
		}
	}
	if n := len(s.asked()) - before; n != 3 {
		t.Errorf("three requests with an effect were sent as %d", n)
	}
}

// TestLoadHosts: what may be asked is said in full by the operator.
func TestLoadHosts(t *testing.T) {
	t.Parallel()
	file := func(hosts, url, more string) string {
		return "http:\n  target: web\n  hosts: [" + hosts + "]\n" + more + "  operations:\n    - {tool: web.get, description: Get., method: GET, url: '" + url + "', parameters: {id: {in: path}}}\n"
	}
	const good = "https://api.example.org/x/{id}"
	for _, tt := range []struct{ hosts, url, more, want string }{
		{"api.example.org", good, "", ""},
		{"API.Example.org", good, "", ""},
		{"'api.example.org:443'", "https://api.example.org:443/x/{id}", "", ""},
		{"api.example.org", "https://api.example.org./x/{id}", "", ""},
		{"", good, "", "no host is allowed"},
		{"api.example.org", "http://api.example.org/x/{id}", "", "not among the allowed hosts"},
		{"api.example.org", "https://api.example.org:8443/x/{id}", "", "not among the allowed hosts"},
		{"api.example.org", "https://api.example.org.evil.net/x/{id}", "", "not among the allowed hosts"},
		{"api.example.org", "https://api.example.org@evil.net/x/{id}", "", "user name"},
		{"api.example.org", "https://evil.net#@api.example.org/x/{id}", "", ""},
		{"api.example.org", "https://anna:pw@api.example.org/x/{id}", "", "user name"},
		{"api.example.org", "https://{id}.example.org/x", "", "places in the path only"},
		{"api.example.org", "https://api.example.org/x?y={id}", "", "places in the path only"},
		{"api.example.org", "https://api.example.org/x/{id}#y", "", "is not a path"},
		{"api.example.org", "https://api.example.org/x/../{id}", "", "leads elsewhere"},
		{"api.example.org", "https://api.example.org/x/%2e%2e/{id}", "", "leads elsewhere"},
		{"api.example.org", `https://api.example.org\x/{id}`, "", "cannot be read"},
		{"api.example.org", "https://bücher.example/{id}", "", "not in ASCII"},
		{"api.example.org", "ftp://api.example.org/{id}", "", "the scheme"},
		{"api.example.org", "https://api.example.org/x", "", "no place {id}"},
		{"api.example.org", "https://api.example.org/x/{id}/{other}", "", "no parameter"},
		{"'https://api.example.org/v1'", good, "", "it has a path"},
		{"api.example.org", good, "  networks: ['0.0.0.0/0']\n", "not everything"},
		{"api.example.org", good, "  networks: ['everywhere']\n", "not everything"},
		{"api.example.org", good, "  headers: {Host: evil.net}\n", "not a header that can be set"},
		{"api.example.org", good, "  headers: {X-A: \"a\\r\\nB: c\"}\n", "not a header that can be set"},
		{"api.example.org", good, "  auth: [{header: Authorization, value: hunter22}]\n", "names no secret"},
		{"api.example.org", good, "  auth: [{header: Authorization, value: '{token}'}]\n", "no secret token"},
		{"api.example.org", good, "  idempotency_header: Host\n", "such as Idempotency-Key"},
		{"api.example.org", good, "  ca: absent.pem\n", "absent.pem"},
		{"api.example.org", good, "  limits: {response: 1GiB}\n", "a size such as"},
		{"api.example.org", good, "  limits: {response: 64MiB}\n", "8MiB"},
	} {
		_, err := load(file(tt.hosts, tt.url, tt.more), openapi.Options{Folder: t.TempDir()})
		if tt.want == "" && tt.url == "https://evil.net#@api.example.org/x/{id}" {
			tt.want = "host" // whatever it is taken for, it is refused
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s %s: got %v, want %q", tt.hosts, tt.url, err, tt.want)
		}
	}
}
