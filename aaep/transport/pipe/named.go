package pipe

import "strings"

// namedPrefix begins the path of each named pipe of Windows, in upper or lower case.
const namedPrefix = `\\.\pipe\`

// NamedPath returns the path of a producer's named pipe (TR-NP-01).
func NamedPath(producerID string) string { return namedPrefix + `aaep\` + producerID }

// IsNamed reports whether an address is the path of a named pipe, and not that of a Unix socket.
func IsNamed(address string) bool {
	return len(address) > len(namedPrefix) && strings.EqualFold(address[:len(namedPrefix)], namedPrefix)
}
