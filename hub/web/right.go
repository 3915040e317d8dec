package web

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/hub/access"
)

// right is a thing that some principals may do at all; whether they may do it to a
// given session is judged by the hub.
type right struct {
	what  string
	holds func(who Principal) bool
}

// The rights. To read, to reply, to stop and to start are separate.
func mayRead() right { return right{"hear sessions", Principal.Subscribes} }

func mayReply() right { return right{"answer questions", Principal.Answers} }

func mayStop() right {
	return right{"stop work", func(p Principal) bool {
		return p.Has(access.Listener, access.Approver, access.Operator) && !p.Has(access.Agent, access.Tool)
	}}
}

func mayStart() right { return right{"start turns", Principal.Starts} }

func mayMeasure() right {
	return right{"read figures", func(p Principal) bool { return p.Has(access.Auditor, access.Operator) }}
}

func (n right) of(who Principal) error {
	if n.holds(who) {
		return nil
	}
	return refuse(api.KindForbidden, who.Name+" may not "+n.what, "ask the operator for a role that may")
}
