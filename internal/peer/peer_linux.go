package peer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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
	all, err := namesIn("/proc")
	if err != nil {
		return 0
	}
	found, socket := 0, []byte("socket:["+inode+"]")
	for _, name := range all {
		id, err := strconv.Atoi(name)
		if err != nil || !holds("/proc/"+name+"/fd", socket) {
			continue
		}
		if found != 0 {
			return 0
		}
		found = id
	}
	return found
}

func namesIn(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says the folder
	}
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1) //nolint:wrapcheck // it says the folder
}

// holds answers whether one of the descriptors in a folder leads to a socket. All descriptors of all processes are looked at for each
// connection, so each is read below its folder, which is opened once, and nothing is allocated for it.
func holds(folder string, socket []byte) bool {
	f, err := os.Open(folder)
	if err != nil {
		return false // another user's, or it has ended
	}
	defer func() { _ = f.Close() }()
	open, err := f.Readdirnames(-1)
	if err != nil {
		return false // it has ended
	}
	within, to := int(f.Fd()), make([]byte, 1+len(socket)) // a longer link is another one
	return slices.ContainsFunc(open, func(name string) bool {
		n, err := unix.Readlinkat(within, name, to)
		return err == nil && bytes.Equal(to[:n], socket)
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
