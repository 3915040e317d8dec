// Package acp is a front end for agents that speak the Agent Client Protocol (ACP), such as claude-agent-acp, codex-acp
// and gemini --acp. A person gives such an agent requests, one by one; what it says about its work becomes reports of
// an agent's session at Earshot, and what it asks permission for becomes a permission there, so that both reach every
// surface.
//
// [Machine] decides what is reported, asked and answered. It is pure: its inputs are the agent's messages, the answers
// of people and the person's commands, its outputs are effects. [Front] is the shell around it: it carries the effects
// out, and [Agent] is the agent's process and the connection to it.
//
// # What a yes is
//
// The protocol offers options such as "allow once" and "allow always". A person's yes selects the one option that
// allows once. "Always" is never selected: what it covers is not shown to anybody. A no selects the option that rejects
// once, and everything else (nobody answered, a stop, a lost server, a message that cannot be read, a panic) rejects or
// cancels.
//
// The agent asks by itself, and shows what it wants to show: it is watched, not held. So it has to be in a mode in which
// it asks. The mode is set before the first request, from a reviewed table; an agent in any other mode is refused, unless
// the person has named that mode.
package acp
