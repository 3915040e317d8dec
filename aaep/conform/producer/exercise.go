package producer

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// shown are the rules that a message of a kind exercises, beside those of its members: "" is any event.
var shown = map[string][]string{
	"": {
		"ENV-01", "ENV-02", "ENV-05", "ENV-07", "ENV-12", "ENV-14", "ENV-19", "ENV-22", "ENV-23", "ENV-26", "ENV-28", "ENV-45", "ENV-46", "ENV-47", "ENV-49", "ENV-50",
		"ENV-51", "ENV-52", "ENV-58", "ENV-59", "ENV-60", "BP-11", "BP-12", "TR-02",
	},
	aaep.TypeSessionCompleted:     {"SEQ-03", "SEQ-04", "SEQ-05", "SEQ-06", "SEQ-36", "SEQ-48"},
	aaep.TypeSessionErrored:       {"SEQ-03", "SEQ-04", "SEQ-05", "SEQ-06", "SEQ-36"},
	aaep.TypeSessionCancelled:     {"SEQ-03", "SEQ-04", "SEQ-05", "SEQ-06", "SEQ-36"},
	aaep.TypeStateChanged:         {"SEQ-08", "SEQ-09", "SEQ-10"},
	aaep.TypeToolInvoked:          {"SEQ-15", "SEQ-20", "SEQ-21"},
	aaep.TypeToolCompleted:        {"SEQ-13", "SEQ-14", "SEQ-15", "SEQ-16", "SEQ-17", "SEQ-19"},
	aaep.TypeOutputStreaming:      {"SEQ-31", "SEQ-32", "SEQ-33", "SEQ-34", "SEQ-35", "BP-13", "BP-14"},
	aaep.TypeAwaitingConfirmation: {"CONF-05", "CONF-06", "CONF-07", "SEQ-28", "SEQ-29", "CONF-83"},
}

// exercise notes the rules that a message is judged by: those of its members that are there or must be, and those of
// its kind.
func (x *exam) exercise(d aaep.Document) {
	kind, _ := d.Text("type")
	m, known := aaep.Lookup(kind)
	if known {
		x.fields(d, m.Fields)
		for _, r := range m.Rules {
			x.saw(r.IDs...)
		}
		x.saw(m.Closed, m.Critical)
	}
	if known && !m.Event {
		return
	}
	x.fields(d, aaep.Envelope())
	x.saw(shown[""]...)
	x.saw(shown[aaep.CompactType(kind)]...)
	if x.o.Fresh {
		x.saw("SEQ-01", "SEQ-02")
	}
	if d.Has("sequence_number") {
		x.saw("SEQ-40", "SEQ-41", "SEQ-42")
	}
	if forever, _ := d.Flag("irreversible"); forever && aaep.CompactType(kind) == aaep.TypeToolInvoked {
		x.saw("SEQ-22", "SEQ-23", "CONF-01")
	}
	if risk, _ := d.Text("risk_level"); risk == string(aaep.RiskHigh) && aaep.CompactType(kind) == aaep.TypeToolInvoked {
		x.saw("CONF-02")
	}
}

// fields notes the rules of members that are there, or must be.
func (x *exam) fields(d aaep.Document, fields []aaep.Field, path ...string) {
	for _, f := range fields {
		at := slices.Concat(path, []string{f.Name})
		if !f.Required && !d.Has(at...) {
			continue
		}
		x.saw(f.Rule)
		x.saw(f.Also...)
		for _, check := range f.Checks {
			x.saw(check.IDs...)
		}
		x.fields(d, f.Members, at...)
	}
}
