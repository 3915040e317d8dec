// Package agentcheck runs a host that is installed for one turn with a scripted model, which has it use its own shell, and
// tells what came of it: whether the host's hook ran, whether its no held, and which tools the host has that nobody is asked
// for. The host runs with its user's own settings, since those are what is looked at; of its model and its login nothing is
// used. The command does nothing but to write a line into a file of the check.
package agentcheck
