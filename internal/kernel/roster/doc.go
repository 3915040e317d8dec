// Package roster judges by the definitions of agents: which tools an agent may use, whom it may ask, and how its turns
// end. It is pure; the definitions themselves are rows of the ledger.
//
// The definition that is in force when something is decided counts, as with the policy: a stricter one counts at once, also
// for calls that wait. An agent without a definition, and of a definition what it leaves out, is bound by nothing here.
package roster
