// Package delegation is the tools by which an agent has others do something (UTP, "Tools of the PMO"): their definitions,
// what their arguments ask for, and the result that a batch of turns makes.
//
// It is pure. The kernel serves these tools itself: it begins the turns, and [turn.Batch] says when the call has ended.
package delegation
