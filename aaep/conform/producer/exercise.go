package producer

import "github.com/earshot-dev/earshot/aaep"

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
	if m, known := x.evidence.Shape(d); known && !m.Event {
		return
	}
	x.evidence.Fields(d, aaep.Envelope())
	x.evidence.Saw(shown[""]...)
	x.evidence.Saw(shown[aaep.CompactType(kind)]...)
	if x.o.Fresh {
		x.evidence.Saw("SEQ-01", "SEQ-02")
	}
	if d.Has("sequence_number") {
		x.evidence.Saw("SEQ-40", "SEQ-41", "SEQ-42")
	}
	if forever, _ := d.Flag("irreversible"); forever && aaep.CompactType(kind) == aaep.TypeToolInvoked {
		x.evidence.Saw("SEQ-22", "SEQ-23", "CONF-01")
	}
	if risk, _ := d.Text("risk_level"); risk == string(aaep.RiskHigh) && aaep.CompactType(kind) == aaep.TypeToolInvoked {
		x.evidence.Saw("CONF-02")
	}
}
