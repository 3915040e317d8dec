// Package presence judges where a request comes from: from a terminal that a person sits at, or from a program that
// an agent's host has started. It reads the table of processes of this machine, so it works on Linux only; elsewhere it
// knows no terminal, and then nobody accepts from the command line without a token.
//
// It is no wall between programs of one user: they can write into each other's memory and terminals. It sees to it that
// a program answers in a person's place only by going out of its way to do so.
package presence
