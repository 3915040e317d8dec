// Package cli is what the commands of the program share: its streams and exit codes, the flags that name a server or a
// data directory, how a server is reached, how lists and JSON are written, and what a shell is offered. The commands
// themselves are below it, a folder for each group of `earshot help`, and in cmd/earshot.
package cli
