// Package settings reads the YAML file of a tool service that is configured rather
// than written: strictly, so that a misspelt limit is not a limit left out, with the
// line of whatever is wrong. It also holds what every such service says in the same way:
// the definition of an operation, references to secrets, and how a secret is taken out
// of what a program or a server has answered.
//
// It knows nothing of commands or of HTTP.
package settings
