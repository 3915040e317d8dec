package bus

import "strings"

const (
	commandPrefix = "cg.v1r4."
	kernelPrefix  = "earshot.v1."

	// answerPrefix begins every subject that the server makes for the answer to an
	// imported request.
	answerPrefix = "_R_."
)

// A subject of the tool protocol has the project third and the channel fourth; the
// channel is open everywhere, because a principal serves all channels of its project.

// heardBy is the one subject that a principal hears: its commands, its doorbell, or
// the broadcasts.
func heardBy(project string, p Principal) string {
	switch p.Kind {
	case Tool:
		return commandPrefix + project + ".*.cmd.tool." + p.Name + ".*"
	case Agent:
		return commandPrefix + project + ".*.cmd.agent." + p.Name + ".wakeup"
	case Hub:
		return broadcastsOf(project)
	default:
		return ""
	}
}

func broadcastsOf(project string) string { return kernelPrefix + project + ".events.>" }

// publishable is everything that the kernel's publisher may send.
func publishable(project string) []string {
	return []string{commandPrefix + project + ".*.cmd.>", broadcastsOf(project)}
}

// askSubject is what a principal publishes a request to, in its own account.
func askSubject(project, op string) string { return kernelPrefix + project + ".kernel." + op }

// servedSubject is what the same request becomes in the kernel's account.
func servedSubject(project string, p Principal, op string) string {
	return kernelPrefix + project + ".kernel." + string(p.Kind) + "." + p.Name + "." + op
}

// servedPattern covers every servedSubject of a project.
func servedPattern(project string) string { return kernelPrefix + project + ".kernel.*.*.*" }

// callerOf reads who asked for what from a subject made by servedSubject.
func callerOf(project, subject string) (p Principal, op string, ok bool) {
	rest, found := strings.CutPrefix(subject, kernelPrefix+project+".kernel.")
	if !found {
		return Principal{}, "", false
	}
	tokens := strings.Split(rest, ".")
	if len(tokens) != 3 {
		return Principal{}, "", false
	}
	p = Principal{Kind: Kind(tokens[0]), Name: tokens[1]}
	if p.check() != nil || !mayAsk(p.Kind, tokens[2]) {
		return Principal{}, "", false
	}
	return p, tokens[2], true
}

// isLiteral tells whether a message can be published to the subject: tokens of the
// safe set only, so no wildcard, no empty token, nothing that a parser could split.
func isLiteral(subject string) bool {
	for token := range strings.SplitSeq(subject, ".") {
		if !isToken(token) {
			return false
		}
	}
	return true
}

// matches tells whether a literal subject lies within a pattern, by the bus's rules:
// * stands for one token, > for one or more at the end.
func matches(pattern, subject string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range want {
		switch {
		case token == ">":
			return len(have) > i
		case i >= len(have):
			return false
		case token != "*" && token != have[i]:
			return false
		}
	}
	return len(want) == len(have)
}
