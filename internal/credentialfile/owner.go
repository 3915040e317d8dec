package credentialfile

import (
	"slices"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/datadir"
)

// OwnerOf is who else than who has the name of a tool as its own: a tool service that lives in the server, or somebody who has
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

// rivals are who would hear the messages of one and the same name beside a foreign peer,
// which may be an agent and a tool service: of the two only one can be there.
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

// namesake is the rival that there is.
func (d Dir) namesake(who bus.Principal) (bus.Principal, bool) {
	for _, other := range rivals(who) {
		if slices.Contains(d.Residents, other) || datadir.Exists(d.File(other)) {
			return other, true
		}
	}
	return bus.Principal{}, false
}

// Clash answers whether who cannot be there beside others: two of a name, or one that would hear
// another's messages.
func Clash(all []bus.Credentials, who bus.Principal) bool {
	return slices.ContainsFunc(all, func(one bus.Credentials) bool {
		return one.Principal == who || slices.Contains(rivals(who), one.Principal)
	})
}
