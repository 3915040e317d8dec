// Package local is shared by the programs that connect an agent of this machine to Earshot. They find the server of a
// data directory, or start one, obtain a token with the role agent, and identify the agent's process.
//
// The token lets any program that can read it request calls as that agent, and nothing else: it never answers a
// question.
package local
