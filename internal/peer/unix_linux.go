package peer

import (
	"net"
	"strconv"
	"syscall"
)

// OnSocket returns the account of the process that has connected to a Unix socket, "" if the system does not say.
func OnSocket(conn net.Conn) string {
	c, is := conn.(*net.UnixConn)
	if !is {
		return ""
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return ""
	}
	var found *syscall.Ucred
	if err := raw.Control(func(fd uintptr) { found, _ = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED) }); err != nil || found == nil {
		return ""
	}
	return strconv.FormatUint(uint64(found.Uid), 10)
}
