package web

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// IsOrigin reports whether text is an origin as browsers write it: a scheme, a lowercase host, and a port unless it is
// the default one.
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

// origin is the page's origin.
type origin struct {
	text   string // as browsers write it; "" if there is no page
	host   string // as browsers write it in the Host header
	scheme string
}

func originOf(text string) origin {
	scheme, host, _ := strings.Cut(text, "://")
	return origin{text: text, host: host, scheme: scheme}
}

// secure reports whether browsers reach the page by HTTPS.
func (o origin) secure() bool { return o.scheme == "https" }

// cookie returns the name of the page session's cookie. By HTTPS it has the prefix with which browsers take it from this very host only,
// over TLS, so that another host under the same domain cannot put one of its own in its place.
func (o origin) cookie() string {
	return o.prefix() + "earshot_page"
}

// attemptCookie is the name of the cookie of a login at the provider that was begun.
func (o origin) attemptCookie() string { return o.prefix() + "earshot_login" }

func (o origin) prefix() string {
	if o.secure() {
		return "__Host-"
	}
	return ""
}

// names reports whether a Host header is the page's, including the port. Another port of the same host is another
// program, or a tunnel that the operator has not configured.
func (o origin) names(host string) bool {
	if o.text == "" {
		return false
	}
	host = strings.ToLower(host)
	return host == o.host || host == o.host+":"+usualPort(o.scheme)
}

// onPage reports whether a request was made under the page's own name.
func (s *Server) onPage(r *http.Request) bool { return s.page.names(r.Host) }

// named reports whether a Host header is a name under which programs come: that of this server, or those of this machine.
func (s *Server) named(hostport string) bool {
	if s.options.Name != "" {
		return strings.EqualFold(hostname(hostport), s.options.Name)
	}
	return isLoopback(hostport)
}

// Answers reports whether a Host header is a name of this server alone: that of its page, or its own one for programs.
func (s *Server) Answers(host string) bool {
	return s.page.names(host) || s.options.Name != "" && s.named(host)
}

// isLoopback reports whether a Host header is a name that every server of this machine has. The API answers to it. The
// API takes no cookie, so it does not matter who else is reachable under that name. Other names are refused, because
// their owner could point them at the loopback address.
func isLoopback(hostport string) bool {
	host := hostname(hostport)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
