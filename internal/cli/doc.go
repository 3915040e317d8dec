// Package cli is shared by the commands of the program: its streams and exit codes, the flags that name a server or a
// data directory, the connection to a server, the output of lists and JSON, and shell completion. The commands
// themselves are in a subpackage for each group of `earshot help`, and in cmd/earshot.
package cli
