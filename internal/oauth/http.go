package oauth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/egress"
	"github.com/earshot-dev/earshot/tool/settings"
)

const (
	// requestTime is the limit of one request to an authorization server.
	requestTime = 30 * time.Second
	maxHeader   = 64 << 10
	maxRedirect = 5
)

// clientOf returns the client for everything that the metadata of a server leads to: public addresses, the networks that
// the operator has named, the server's own host, and this machine if the server is on it. It sends no credential of ours
// after a redirect.
func clientOf(server string, networks []string) (*http.Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return nil, cause.Misuse("the address of the server cannot be read", "mend it in the file of tools")
	}
	way := &egress.Network{Hosts: []string{strings.ToLower(u.Hostname())}}
	if isLoopback(u) {
		way.Named = append(way.Named, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	}
	for _, text := range networks {
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Bits() == 0 {
			return nil, cause.Misuse("--network is "+cause.Quoted(text)+"; expected a network that is not everything", "for example --network 10.1.0.0/16")
		}
		way.Named = append(way.Named, p.Masked())
	}
	return &http.Client{
		Timeout:       requestTime,
		CheckRedirect: sameHost,
		Transport: &http.Transport{
			DialContext: way.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader,
			TLSHandshakeTimeout: requestTime, ResponseHeaderTimeout: requestTime,
		},
	}, nil
}

// sameHost follows a redirect of a document within its host. Nothing that is sent goes elsewhere.
func sameHost(q *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || q.URL.Scheme != first.URL.Scheme || q.URL.Host != first.URL.Host || len(via) >= maxRedirect {
		return http.ErrUseLastResponse
	}
	return nil
}

func isLoopback(u *url.URL) bool {
	host := u.Hostname()
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// secure checks an address of the metadata of a server: https, or http if both are on this machine.
func secure(what, text, server string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return cause.Fail(nil, "the server names "+cause.Quoted(settings.Clip(text, 200))+" as "+what+", which is not an address", broken)
	}
	from, err := url.Parse(server)
	if u.Scheme == "https" || u.Scheme == "http" && isLoopback(u) && err == nil && isLoopback(from) {
		return nil
	}
	return cause.Fail(nil, "the server names "+cause.Quoted(settings.Clip(text, 200))+" as "+what+"; expected https", broken)
}

// broken is the hint where the server's side is at fault.
const broken = "tell those who run the server; until then, a token of theirs can be given by a header (`earshot mcp add --help`)"

// reason says why a request to an authorization server failed, without anything that it sent or was sent: only its code and
// its description.
func reason(err error) string {
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is {
		if refused.ErrorCode == "" {
			return "it answered with the status " + refused.Response.Status
		}
		return described(refused.ErrorCode, refused.ErrorDescription)
	}
	if wrong, is := errors.AsType[unusable](err); is {
		return wrong.Error()
	}
	if refused, is := errors.AsType[*egress.AddressError](err); is {
		return refused.Error() + " (--network)"
	}
	if late, is := errors.AsType[net.Error](err); is && late.Timeout() {
		return "no answer came in time"
	}
	if errors.Is(err, context.Canceled) {
		return "it was told to end"
	}
	if text := cause.System(err); text != "" {
		return text
	}
	return "its answer cannot be read"
}

// described is an error of the protocol in words.
func described(code, description string) string {
	text := "it says " + cause.OneLine(settings.Clip(code, 100))
	if description != "" {
		text += " (" + cause.OneLine(settings.Clip(description, 300)) + ")"
	}
	return text
}
