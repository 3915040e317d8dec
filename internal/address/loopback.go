// Package address determines where a server listens and under which names it is reachable: on the loopback by plain
// HTTP, elsewhere only by HTTPS with a certificate that browsers accept. Its errors name the flags of `earshot up`.
package address

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/earshot-dev/earshot/internal/cause"
)

// Loopback requires a loopback address: elsewhere a token and the agents' activity would travel unencrypted.
func Loopback(address string) (string, error) {
	host, port, err := Split("--http", address, Default)
	if err != nil {
		return "", err
	}
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return "", cause.Misuse(fmt.Sprintf("--http %s is not on the loopback, and plain HTTP elsewhere can be read and changed on its way", address),
			"use 127.0.0.1 or [::1]; from another machine, come by an ssh tunnel or a proxy with TLS")
	}
	return net.JoinHostPort(host, port), nil
}

// Default is the default address of a server.
const Default = "127.0.0.1:7411"

// The addresses to which browsers resolve names below localhost.
const (
	loopback4 = "127.0.0.1"
	loopback6 = "::1"
)

// twin returns the other one of the two addresses; "" if there is none.
func twin(host string) string {
	switch host {
	case loopback4:
		return loopback6
	case loopback6:
		return loopback4
	}
	return ""
}

// Listen listens at the address, and at the same port of the other loopback address. Browsers try both, and a program
// that had the other would receive the page's traffic, including its cookie. The address itself comes first.
func Listen(ctx context.Context, address string) ([]net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, cause.Fail(err, "the address cannot be listened at", "")
	}
	const tries = 16 // a free port may be in use at the other address
	for n := 1; ; n++ {
		first, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, Failure("--http", address, err)
		}
		other := twin(host)
		if other == "" {
			return []net.Listener{first}, nil
		}
		at := net.JoinHostPort(other, strconv.Itoa(int(netip.MustParseAddrPort(first.Addr().String()).Port())))
		second, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
		switch {
		case err == nil:
			return []net.Listener{first, second}, nil
		case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT): // this machine has no such address, so nobody else can use it either
			return []net.Listener{first}, nil
		}
		_ = first.Close()
		if port != "0" || n == tries || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, Failure("--http", at, err)
		}
	}
}

// Failure explains why it is impossible to listen at an address, which the flag has named.
func Failure(flag, address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return cause.Fail(nil, "the address "+address+" is taken by another program", "end that, or use another port, such as "+flag+" 127.0.0.1:0 for any that is free")
	case errors.Is(err, syscall.EACCES):
		return cause.Fail(nil, "this user may not listen at "+address, "use a port above 1023, such as "+flag+" "+Default)
	}
	return cause.Fail(err, "it cannot listen at "+address, "try "+flag+" "+Default)
}
