// Package settings reads the YAML file of a tool service that is configured rather than written. It is strict, so that
// a misspelt limit does not count as absent, and errors contain the line. It also has what all such services share: the
// definition of an operation, references to secrets, and the removal of secrets from the output of a program or a
// server.
//
// It does not depend on commands or HTTP.
package settings
