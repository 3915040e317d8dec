//go:build !linux

package peer

import "net"

// user and process are not known here.
func user(_, _ net.Addr) string { return "" }

func process(_, _ net.Addr) int { return 0 }
