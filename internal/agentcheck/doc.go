// Package agentcheck runs an installed host for one turn with a scripted model, which makes it use its own shell. It
// reports whether the host's hook ran, whether its denial was respected, and which of the host's tools need no
// question. The host runs with its user's own settings, because these are what is checked; its model and its login are
// not used. The command only writes a line into a file of the check.
package agentcheck
