package stream

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

// StatusOf returns the HTTP status of a rejected subscription (C-82).
func StatusOf(code aaep.ReasonCode) int {
	switch code {
	case aaep.ReasonAuthenticationRequired:
		return http.StatusUnauthorized
	case aaep.ReasonAuthorizationDenied:
		return http.StatusForbidden
	case aaep.ReasonRateLimit:
		return http.StatusTooManyRequests
	case aaep.ReasonTransportUnavailable:
		return http.StatusServiceUnavailable
	case aaep.ReasonVersionUnsupported, aaep.ReasonManifestSignatureRequired, aaep.ReasonCapabilitiesIncompatible, aaep.ReasonUnknown:
		return http.StatusConflict
	}
	return http.StatusConflict
}

// IsLocal reports whether a request asks for a name of this machine. Another name may be one of a page that has it lead here.
func IsLocal(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}
