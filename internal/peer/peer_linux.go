package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
)

// user finds the user id that the other end of a connection on this machine belongs to
// in the kernel's tables of sockets (proc_pid_net(5)): the socket there whose local address
// is our remote one. "" where there is none, as of another machine.
func user(remote, local net.Addr) string {
	theirs, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return ""
	}
	ours, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return ""
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} { // a socket of the second sort reaches addresses of the first
		if user := userIn(table, theirs, ours); user != "" {
			return user
		}
	}
	return ""
}

func userIn(table string, theirs, ours netip.AddrPort) string {
	f, err := os.Open(table)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return userOf(f, theirs, ours)
}

// userOf reads one table. Only a connection that stands counts: one whose program has gone
// is listed as the system's own.
func userOf(table io.Reader, theirs, ours netip.AddrPort) string {
	const (
		localField, remoteField, stateField, userField = 1, 2, 3, 7

		established = "01"
	)
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) <= userField || fields[stateField] != established {
			continue
		}
		if isAddress(fields[localField], theirs) && isAddress(fields[remoteField], ours) {
			return fields[userField]
		}
	}
	return ""
}

// isAddress answers whether a field of the table is an address: 32 bits at a time in the
// machine's own order, a colon, the port, all in hexadecimal digits.
func isAddress(field string, address netip.AddrPort) bool {
	digits, port, _ := strings.Cut(field, ":")
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw)%4 != 0 || port != fmt.Sprintf("%04X", address.Port()) {
		return false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	found, ok := netip.AddrFromSlice(raw)
	return ok && found.Unmap() == address.Addr().Unmap().WithZone("")
}
