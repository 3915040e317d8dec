package bus

import "strings"

const (
	commandPrefix = "cg.v1r4."
	kernelPrefix  = "earshot.v1."

	discoveryPrefix = "$SRV."

	// answerPrefix begins every subject that the server makes for the answer to an
	// imported request.
	answerPrefix = "_R_."
)

// A subject of the tool protocol has the project third and the channel fourth; the
// channel is open everywhere, because a principal serves all channels of its project.

// subjectsOf is what a principal hears: its commands and cancellations, its doorbell, the
// broadcasts, or how far calls are.
func subjectsOf(project string, p Principal) []string {
	switch p.Kind {
	case Tool:
		return commandsTo(project, p)
	case Agent:
		return []string{wakeupOf(project, p)}
	case Hub:
		return []string{broadcastsOf(project)}
	case Operator:
		return []string{commandPrefix + project + ".*.evt.tool.*.progress"}
	case External:
		return append(commandsTo(project, p), wakeupOf(project, p))
	default:
		return nil
	}
}

// The verbs of discovery.
const (
	verbPing  = "PING"
	verbInfo  = "INFO"
	verbStats = "STATS"
)

// askedOf are the subjects of discovery that a service answers: as one of all, by its
// name, and as one of its replicas. Anyone who is found by a ping answers the others already.
func askedOf(name string) []string {
	all := make([]string, 0, 9)
	for _, verb := range []string{verbStats, verbInfo, verbPing} {
		at := discoveryPrefix + verb
		all = append(all, at, at+"."+name, at+"."+name+".*")
	}
	return all
}

// discoverable is what an operator may ask.
func discoverable() []string {
	all := make([]string, 0, 9)
	for _, verb := range []string{verbPing, verbInfo, verbStats} {
		at := discoveryPrefix + verb
		all = append(all, at, at+".*", at+".*.*")
	}
	return all
}

// commandsTo are the commands to a service, and to one of ours the word to end one.
func commandsTo(project string, p Principal) []string {
	all := []string{commandPrefix + project + ".*.cmd.tool." + p.Name + ".*"}
	if p.Kind == Tool {
		all = append(all, commandPrefix+project+".*.evt.tool."+p.Name+".cancel")
	}
	return all
}

func wakeupOf(project string, p Principal) string {
	return commandPrefix + project + ".*.cmd.agent." + p.Name + ".wakeup"
}

// commandOf is what a foreign peer publishes a command to: any tool's subject, in its own
// account, where nobody listens.
func commandOf(project string) string { return commandPrefix + project + ".*.cmd.tool.*.*" }

// sentPattern is what such a command becomes in the kernel's account: channel, target and
// suffix of the subject follow the operation.
func sentPattern(project, name string) string {
	return servedSubject(project, Principal{Kind: External, Name: name}, OpCommand) + ".*.*.*"
}

func broadcastsOf(project string) string { return kernelPrefix + project + ".events.>" }

// publishable is everything that the kernel's publisher may send.
func publishable(project string) []string {
	return []string{
		commandPrefix + project + ".*.cmd.>", broadcastsOf(project),
		commandPrefix + project + ".*.evt.tool.*.progress", commandPrefix + project + ".*.evt.tool.*.cancel",
	}
}

// askSubject is what a principal publishes a request to, in its own account.
func askSubject(project, op string) string { return kernelPrefix + project + ".kernel." + op }

// servedSubject is what the same request becomes in the kernel's account.
func servedSubject(project string, p Principal, op string) string {
	return kernelPrefix + project + ".kernel." + string(p.Kind) + "." + p.Name + "." + op
}

// servedPattern covers every servedSubject of a project.
func servedPattern(project string) string { return kernelPrefix + project + ".kernel.*.*.*" }

// senderOf reads who sent which command from a subject that sentPattern covers.
func senderOf(project, subject string) (p Principal, command string, ok bool) {
	rest, found := strings.CutPrefix(subject, kernelPrefix+project+".kernel."+string(External)+".")
	if !found {
		return Principal{}, "", false
	}
	tokens := strings.Split(rest, ".")
	if len(tokens) != 5 || tokens[1] != OpCommand {
		return Principal{}, "", false
	}
	p = Principal{Kind: External, Name: tokens[0]}
	return p, commandPrefix + project + "." + tokens[2] + ".cmd.tool." + tokens[3] + "." + tokens[4], p.check() == nil
}

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
