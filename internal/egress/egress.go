// Package egress dials only what is of the public internet, and what an operator has named: for addresses that somebody else
// has chosen, such as an agent or the metadata of a server.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// reserved are networks that are not the public internet, each with the reason in words.
// Addresses of IPv6 outside of 2000::/3 need no row: none of them is public.
var reserved = []struct {
	prefix netip.Prefix
	why    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "of this machine"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "behind a carrier"},
	{netip.MustParsePrefix("127.0.0.0/8"), "of this machine"},
	{netip.MustParsePrefix("168.63.129.16/32"), "of a cloud's own service"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local, where clouds keep credentials"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay's"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("224.0.0.0/3"), "multicast or reserved"},
	{netip.MustParsePrefix("2001::/23"), "reserved, or a tunnel"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
}

var (
	publicV6  = netip.MustParsePrefix("2000::/3")
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// notPublic says why an address is not of the public internet, or "". An address of IPv6
// that carries one of IPv4 is what it carries.
func notPublic(a netip.Addr) string {
	if !a.IsValid() || a.Zone() != "" {
		return "of one link"
	}
	a = a.Unmap()
	if a.Is6() {
		bytes := a.As16()
		switch {
		case nat64.Contains(a):
			return notPublic(netip.AddrFrom4([4]byte(bytes[12:16])))
		case sixToFour.Contains(a):
			return notPublic(netip.AddrFrom4([4]byte(bytes[2:6])))
		case !publicV6.Contains(a):
			return "not public"
		}
	}
	for _, r := range reserved {
		if r.prefix.Contains(a) {
			return r.why
		}
	}
	return ""
}

// AddressError refuses an address before anything was sent to it.
type AddressError struct {
	host string
	addr netip.Addr
	why  string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("the address %s of %s is %s; an operator can name its network", e.addr, e.host, e.why)
}

// Network is the way out. The zero value dials what is public, by the system.
type Network struct {
	// Named are networks that are allowed although they are not public.
	Named []netip.Prefix
	// Hosts are hosts that the operator has named, in lower case; they are dialled wherever they are.
	Hosts []string
	// Lookup and Dial are the system's if nil. Dial gets an IP address with a port.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, address string) (net.Conn, error)
}

// allowed says why an address may not be dialled, or "".
func (n *Network) allowed(a netip.Addr) string {
	why := notPublic(a)
	for _, p := range n.Named {
		if why != "" && p.Contains(a.Unmap()) {
			return ""
		}
	}
	return why
}

// DialContext looks a host up once and dials what it found. If one of its addresses may not be dialled, none is: a public
// name with a private address is somebody's trick or somebody's mistake. The error is then an [*AddressError].
func (n *Network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address %s: %w", address, err)
	}
	found, err := n.find(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("looking up %s: %w", host, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("looking up %s: it has no address", host)
	}
	trusted := slices.Contains(n.Hosts, strings.ToLower(host))
	for _, a := range found {
		if why := n.allowed(a); why != "" && !trusted {
			return nil, &AddressError{host: host, addr: a, why: why}
		}
	}
	var failures []error
	for _, a := range found {
		conn, err := n.dial(ctx, net.JoinHostPort(a.Unmap().String(), port), trusted)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

func (n *Network) find(ctx context.Context, host string) ([]netip.Addr, error) {
	if n.Lookup != nil {
		return n.Lookup(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host) //nolint:wrapcheck // the caller does
}

func (n *Network) dial(ctx context.Context, address string, trusted bool) (net.Conn, error) {
	if n.Dial != nil {
		return n.Dial(ctx, address)
	}
	dialer := &net.Dialer{}
	if !trusted {
		dialer.Control = n.guard
	}
	return dialer.DialContext(ctx, "tcp", address) //nolint:wrapcheck // the caller says what it was for
}

// guard looks once more at what is dialled, below everything that could change it.
func (n *Network) guard(_, address string, _ syscall.RawConn) error {
	where, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %s: %w", address, err)
	}
	if why := n.allowed(where.Addr()); why != "" {
		return &AddressError{host: where.Addr().String(), addr: where.Addr(), why: why}
	}
	return nil
}
