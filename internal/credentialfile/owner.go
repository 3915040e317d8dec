package credentialfile

import (
	"slices"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/datadir"
)

// OwnerOf returns the owner of a tool name, other than who: a tool service in the server, or a principal with
// credentials.
func OwnerOf(tool string, all []bus.Credentials, residents []bus.Principal, who bus.Principal) (bus.Principal, bool) {
	for _, p := range residents {
		if p.Kind == bus.Tool && p != who && (bus.Credentials{Principal: p}).Owns(tool) {
			return p, true
		}
	}
	for _, one := range all {
		if one.Principal != who && one.Owns(tool) {
			return one.Principal, true
		}
	}
	return bus.Principal{}, false
}

// rivals returns the principals that would receive the messages of a third-party peer with the same name. Such a peer
// may be both an agent and a tool service.
func rivals(who bus.Principal) []bus.Principal {
	switch who.Kind {
	case bus.External:
		return []bus.Principal{{Kind: bus.Agent, Name: who.Name}, {Kind: bus.Tool, Name: who.Name}}
	case bus.Agent, bus.Tool:
		return []bus.Principal{{Kind: bus.External, Name: who.Name}}
	case bus.Hub, bus.Operator:
	}
	return nil
}

// namesake returns the existing rival.
func (d Dir) namesake(who bus.Principal) (bus.Principal, bool) {
	for _, other := range rivals(who) {
		if slices.Contains(d.Residents, other) || datadir.Exists(d.File(other)) {
			return other, true
		}
	}
	return bus.Principal{}, false
}

// Clash reports whether a principal conflicts with others: two with one name, or one that would receive another's
// messages.
func Clash(all []bus.Credentials, who bus.Principal) bool {
	return slices.ContainsFunc(all, func(one bus.Credentials) bool {
		return one.Principal == who || slices.Contains(rivals(who), one.Principal)
	})
}
