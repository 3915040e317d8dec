package subscribe

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// IsLocal reports whether a host name belongs to this machine. Names below localhost do (RFC 6761).
func IsLocal(host string) bool {
	if belowLocalhost(host) || strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

func belowLocalhost(host string) bool {
	return strings.HasSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), ".localhost")
}

// NewTransport returns a transport for streams and servers, which keeps a connection that is not used for so long. Names below localhost lead
// to this machine, whatever its resolver and its proxies make of them: with a token, they must not lead elsewhere.
func NewTransport(idle time.Duration) *http.Transport {
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if belowLocalhost(r.URL.Hostname()) {
				return nil, nil // no proxy
			}
			return http.ProxyFromEnvironment(r)
		},
		DialContext: dialLocal, ForceAttemptHTTP2: true, // which a dialer of its own would turn off
		MaxIdleConns: 2, IdleConnTimeout: idle,
	}
}

// dialLocal dials, and names below localhost at the loopback addresses.
func dialLocal(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := new(net.Dialer)
	host, port, err := net.SplitHostPort(address)
	if err != nil || !belowLocalhost(host) {
		return dialer.DialContext(ctx, network, address) //nolint:wrapcheck // the transport says what it dialled
	}
	conn, err := dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		if other, failed := dialer.DialContext(ctx, network, net.JoinHostPort("::1", port)); failed == nil {
			return other, nil
		}
	}
	return conn, err //nolint:wrapcheck // the same
}
