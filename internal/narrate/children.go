package narrate

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// delegated takes the place of the class of a call that turns of other agents do: it changes nothing by itself, but they may.
const delegated utp.Class = "delegated"

// children reports how many of the turns that do a call have ended.
func (s *eventBuilder) children() error {
	b := s.t.Call.Batch
	if b == nil {
		return nil
	}
	l := line{
		key: "call.children", params: Params{"done": count(int64(b.Done())), "all": count(int64(len(b.Children))), "tool": identifier(s.t.Call.Tool)},
		urgency: aaep.UrgencyBackground, earshot: s.aboutCall(),
	}
	return s.add(l, aaep.TypeProgressUpdated, func(x texts) ([]aaep.Event, error) {
		return one(s.session.Progress(s.t.At, s.t.Rand, aaep.ProgressUpdated{
			Progress:     aaep.Progress{Description: x[fieldNormal]},
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
		}))
	})
}

// hasBegun reports whether a turn of a batch has begun. What it has changed may be anything.
func hasBegun(b *turn.Batch) bool {
	return b != nil && slices.ContainsFunc(b.Children, func(c turn.Child) bool { return c.Turn != "" })
}

// joined describes what the turns that did a call have done.
func joined(b turn.Batch, status utp.Status) Param {
	good := 0
	for _, c := range b.Children {
		if c.Status == utp.StatusSuccess {
			good++
		}
	}
	all := len(b.Children)
	p := Params{"all": count(int64(all)), "good": count(int64(good))}
	if all == 1 {
		p["agent"] = identifier(b.Children[0].Agent)
	}
	switch {
	case status == utp.StatusSuccess && !b.Waits:
		return phraseParam("call.handed", p)
	case status == utp.StatusSuccess:
		return phraseParam("call.joined", p)
	case good > 0:
		return phraseParam("call.parted", p)
	}
	return Param{}
}
