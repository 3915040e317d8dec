// Package local is what the programs share that bring an agent of this machine to Earshot: they find the server of a data
// directory, or start one, have a token with the role agent, and know which process of the agent they speak for.
//
// The token lets a program that can read it ask for calls as that agent, and nothing else: it never answers a question.
package local
