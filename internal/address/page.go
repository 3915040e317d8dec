package address

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// Page returns the URL of the page of a server that listens there: the name of the data directory, at the port.
func Page(name string, listening net.Addr) (string, error) {
	_, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return "", cause.Fail(err, "the port that is listened to is not known", "")
	}
	if port == "80" {
		return "http://" + name, nil
	}
	return "http://" + name + ":" + port, nil
}

// Findable checks that browsers can reach the page of a server that listens there without a configured name.
func Findable(listening string) error {
	if host, _, _ := net.SplitHostPort(listening); twin(host) == "" {
		return cause.Misuse("browsers look for the page at 127.0.0.1 and [::1], and would not find it at "+listening,
			"use one of those with --http, or say where browsers find it with --page-url")
	}
	return nil
}

// PageURL normalizes the operator's URL of the page to the form that browsers use.
func PageURL(text string) (string, error) {
	const form = "it has the form https://earshot.example.org, without a path; name the address that browsers use, not the one behind the proxy"
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", cause.Misuse(fmt.Sprintf("--page-url %q is not the address of a page", text), form)
	}
	if u.Scheme == "http" && !staysHere(u.Hostname()) {
		return "", cause.Misuse(fmt.Sprintf("--page-url %s is on another machine, and plain HTTP can be read and changed on its way", text),
			"put a proxy with TLS before it and name its address, such as https://"+u.Host)
	}
	if port := u.Port(); port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(strings.TrimSuffix(u.Host, ":"+port), ":")
	}
	origin := u.Scheme + "://" + u.Host
	if !web.IsOrigin(origin) {
		return "", cause.Misuse(fmt.Sprintf("--page-url %q is not the address of a page", text), form)
	}
	return origin, nil
}

// Origins checks that the texts are origins as browsers write them.
func Origins(origins []string) error {
	for _, origin := range origins {
		if !web.IsOrigin(origin) {
			return cause.Misuse(fmt.Sprintf("--allow-origin %q is not an origin", origin),
				"it has the form https://name or https://name:port, in small letters, without a path and without the usual port; every origin (*) cannot be allowed")
		}
	}
	return nil
}

// staysHere reports whether a browser resolves a name to its own machine.
func staysHere(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Shared reports whether others on this machine can attract the cookie of a page at this URL: they can serve another
// port of the same name, which they know.
func Shared(pageURL string) bool {
	u, err := url.Parse(pageURL)
	return err == nil && u.Scheme == "http" && !datadir.IsPageName(u.Hostname())
}
