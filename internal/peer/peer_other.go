//go:build !linux

package peer

import "net"

// user and process are not known here.
func user(_, _ net.Addr) string { return "" }

func process(_, _ net.Addr) int { return 0 }

// OnSocket returns the account of the process that has connected to a Unix socket; it is not known here.
func OnSocket(net.Conn) string { return "" }
