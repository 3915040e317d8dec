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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The fields of a row of the kernel's tables of sockets (proc_pid_net(5)).
const (
	localField, remoteField, stateField, userField, inodeField = 1, 2, 3, 7, 9

	established = "01"
)

// user finds the user id that the other end of a connection on this machine belongs to: of
// the socket whose local address is our remote one. "" where there is none, as of another
// machine.
func user(remote, local net.Addr) string { return field(remote, local, userField) }

// process finds the process that holds the other end of a connection on this machine: the only
// one with a descriptor of its socket, among those that this process may look into. 0 if there is none, or several.
func process(remote, local net.Addr) int {
	inode := field(remote, local, inodeField)
	if inode == "" || inode == "0" {
		return 0
	}
	holders, err := filepath.Glob("/proc/[0-9]*/fd")
	if err != nil {
		return 0
	}
	found := 0
	for _, folder := range holders {
		if !holds(folder, "socket:["+inode+"]") {
			continue
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		if err != nil || found != 0 {
			return 0
		}
		found = id
	}
	return found
}

// holds answers whether one of the descriptors in a folder leads to a socket.
func holds(folder, socket string) bool {
	open, err := os.ReadDir(folder)
	if err != nil {
		return false // another user's, or it has ended
	}
	return slices.ContainsFunc(open, func(one os.DirEntry) bool {
		to, err := os.Readlink(filepath.Join(folder, one.Name()))
		return err == nil && to == socket
	})
}

// field returns a field of the row of the other end's socket.
func field(remote, local net.Addr, which int) string {
	theirs, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return ""
	}
	ours, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return ""
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} { // a socket of the second sort reaches addresses of the first
		if found := fieldIn(table, theirs, ours, which); found != "" {
			return found
		}
	}
	return ""
}

func fieldIn(table string, theirs, ours netip.AddrPort, which int) string {
	f, err := os.Open(table)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return fieldOf(f, theirs, ours, which)
}

// fieldOf reads one table. Only a connection that stands counts: one whose program has gone
// is listed as the system's own.
func fieldOf(table io.Reader, theirs, ours netip.AddrPort, which int) string {
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) <= which || fields[stateField] != established {
			continue
		}
		if isAddress(fields[localField], theirs) && isAddress(fields[remoteField], ours) {
			return fields[which]
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
