package web

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// IsOrigin answers whether text is an origin as browsers write one: a scheme, a name in
// small letters, and a port unless it is the usual one; nothing else.
func IsOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.Scheme+"://"+u.Host == text &&
		text == strings.ToLower(text) && !strings.HasSuffix(u.Host, ":") && u.Port() != usualPort(u.Scheme)
}

func usualPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// origin is where the page lives.
type origin struct {
	text   string // as browsers write it; "" where there is no page
	host   string // as browsers write it into Host
	scheme string
}

func originOf(text string) origin {
	scheme, host, _ := strings.Cut(text, "://")
	return origin{text: text, host: host, scheme: scheme}
}

// secure answers whether browsers reach the page by HTTPS.
func (o origin) secure() bool { return o.scheme == "https" }

// names answers whether a Host header is that of the page, port and all: the same name at
// another port is another program's, or a tunnel that the operator has not told of.
func (o origin) names(host string) bool {
	if o.text == "" {
		return false
	}
	host = strings.ToLower(host)
	return host == o.host || host == o.host+":"+usualPort(o.scheme)
}

// onPage answers whether a request was made under the page's own name.
func (s *Server) onPage(r *http.Request) bool { return s.page.names(r.Host) }

// isLoopback answers whether a Host header is a name that every server of this machine
// has. The API answers to it: it takes no cookie, so it does not matter who else can be
// reached under it. Another name could be pointed at the loopback by anyone who owns it.
func isLoopback(hostport string) bool {
	host := hostname(hostport)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
