package bus

import (
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

const (
	commandPrefix = "cg.v1r4."
	kernelPrefix  = "earshot.v1."

	discoveryPrefix = "$SRV."

	// answerPrefix is the prefix of the subjects that the server makes for answers to imported requests.
	answerPrefix = "_R_."
)

// A subject of the tool protocol has the project third and the channel fourth. The channel is a wildcard everywhere,
// because a principal serves all channels of its project.

// subjectsOf returns the subjects that a principal receives: its commands and cancellations, its wakeups, the
// broadcasts, or the progress of calls.
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

// askedOf returns the discovery subjects that a service answers: for all services, for its name, and for one replica.
func askedOf(name string) []string {
	all := make([]string, 0, 9)
	for _, verb := range []string{verbStats, verbInfo, verbPing} {
		at := discoveryPrefix + verb
		all = append(all, at, at+"."+name, at+"."+name+".*")
	}
	return all
}

// discoverable returns the discovery subjects that an operator may publish to.
func discoverable() []string {
	all := make([]string, 0, 9)
	for _, verb := range []string{verbPing, verbInfo, verbStats} {
		at := discoveryPrefix + verb
		all = append(all, at, at+".*", at+".*.*")
	}
	return all
}

// commandsTo returns the command subjects of a service, and the cancellations for one of kind Tool.
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

// lane is one kind of commands that third-party peers publish: to subjects of their own account, where nobody listens. The
// tokens that a star stands for follow the operation in the kernel's account.
type lane struct {
	local string // from the channel's star on
	op    string
}

// lanes are those to the tools, to the tools that the kernel serves itself, and the actions of user interfaces.
var lanes = []lane{
	{"*.cmd.tool.*.*", OpCommand},
	{"*.cmd." + utp.ComponentSystem + "." + utp.TargetPMO + "." + utp.SuffixInternal + ".*", OpCommand},
	{"*.cmd." + utp.ComponentSystem + "." + utp.TargetUI + "." + utp.SuffixAction, api.OpUIAction},
}

// commandsOf returns the subjects to which a third-party peer publishes commands.
func commandsOf(project string) []string {
	all := make([]string, 0, len(lanes))
	for _, l := range lanes {
		all = append(all, commandPrefix+project+"."+l.local)
	}
	return all
}

// isSent reports whether a third-party peer may publish a command to the subject.
func isSent(project, subject string) bool {
	return slices.ContainsFunc(commandsOf(project), func(pattern string) bool { return matches(pattern, subject) })
}

// sentPatterns returns the subjects of these commands in the kernel's account, in the same order.
func sentPatterns(project, name string) []string {
	all := make([]string, 0, len(lanes))
	for _, l := range lanes {
		all = append(all, servedSubject(project, Principal{Kind: External, Name: name}, l.op)+strings.Repeat(".*", strings.Count(l.local, "*")))
	}
	return all
}

func broadcastsOf(project string) string { return kernelPrefix + project + ".events.>" }

// eventsOfAgents returns the subjects of what agents do, and of what they write.
func eventsOfAgents(project string) []string {
	return []string{commandPrefix + project + ".*.evt.agent.*.*", commandPrefix + project + ".*.str.agent.*.*"}
}

// publishable returns everything that the kernel's publisher may send, with the events of agents or without.
func publishable(project string, events bool) []string {
	all := []string{
		commandPrefix + project + ".*.cmd.>", broadcastsOf(project),
		commandPrefix + project + ".*.evt.tool.*.progress", commandPrefix + project + ".*.evt.tool.*.cancel",
	}
	if events {
		all = append(all, eventsOfAgents(project)...)
	}
	return all
}

// askSubject returns the subject of a request in the principal's own account.
func askSubject(project, op string) string { return kernelPrefix + project + ".kernel." + op }

// firstSubject returns the subject of the first request of all. No kernel serves it.
func firstSubject(project string) string { return kernelPrefix + project + ".kernel.first" }

// servedSubject returns the subject of the same request in the kernel's account.
func servedSubject(project string, p Principal, op string) string {
	return kernelPrefix + project + ".kernel." + string(p.Kind) + "." + p.Name + "." + op
}

// servedPattern covers every servedSubject of a project.
func servedPattern(project string) string { return kernelPrefix + project + ".kernel.*.*.*" }

// senderOf parses sender, operation and the original subject from a subject that one of sentPatterns covers.
func senderOf(project, subject string) (p Principal, op, command string, ok bool) {
	rest, found := strings.CutPrefix(subject, kernelPrefix+project+".kernel."+string(External)+".")
	if !found {
		return Principal{}, "", "", false
	}
	tokens := strings.Split(rest, ".")
	for _, l := range lanes {
		if len(tokens) != 2+strings.Count(l.local, "*") || tokens[1] != l.op {
			continue
		}
		command = commandPrefix + project + "." + l.local
		for _, token := range tokens[2:] {
			command = strings.Replace(command, "*", token, 1)
		}
		p = Principal{Kind: External, Name: tokens[0]}
		return p, l.op, command, p.check() == nil
	}
	return Principal{}, "", "", false
}

// callerOf parses caller and operation from a subject made by servedSubject.
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

// isLiteral reports whether a message can be published to the subject: safe tokens only, without wildcards, empty
// tokens or anything that a parser could split.
func isLiteral(subject string) bool {
	for token := range strings.SplitSeq(subject, ".") {
		if !isToken(token) {
			return false
		}
	}
	return true
}

// matches reports whether a pattern covers a literal subject, by the rules of NATS: * stands for one token, > for one
// or more at the end.
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
