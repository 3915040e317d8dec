package pacing_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

// agree negotiates terms that cannot be refused.
func agree(t testing.TB, c aaep.Capabilities) pacing.Terms {
	t.Helper()
	terms, _, rejected := pacing.Negotiate(asking(c), offer(), "sub_1")
	if rejected != nil {
		t.Fatalf("%+v is refused: %+v", c, rejected)
	}
	return terms
}

// TestFilters: which types pass which filters; + is passing and - is not.
func TestFilters(t *testing.T) {
	t.Parallel()
	lists := func(include, exclude string) *aaep.EventFilters {
		filters := &aaep.EventFilters{}
		if include != "-" {
			filters.Include = strings.Fields(include)
		}
		if exclude != "-" {
			filters.Exclude = strings.Fields(exclude)
		}
		return filters
	}
	ours := []string{aaep.ExtensionContext}
	for _, c := range []struct {
		rule       string
		filters    *aaep.EventFilters
		extensions []string
		events     string
	}{
		{"BP-12", nil, nil, "+aaep:agent.tool.invoked +aaep:agent.later -earshot:mood -x:mood"},
		{"BP-12", nil, ours, "+aaep:agent.tool.invoked +earshot:mood +utp:mood -x:mood -earshotx:mood"},
		{"BP-12", lists("aaep:agent.tool.*", "-"), ours, "+aaep:agent.tool.invoked -aaep:agent.state.changed -earshot:mood +aaep:agent.session.errored"},
		{"BP-12", lists("", "-"), nil, "-aaep:agent.tool.invoked +aaep:agent.session.errored +aaep:agent.handoff.requested"},
		{"BP-12", lists("*", "-"), nil, "+x:mood +aaep:agent.tool.invoked"},
		{"BP-12", lists("aaep:agent.tool.invoked", "-"), nil, "+aaep:agent.tool.invoked -aaep:agent.tool.completed +https://aaep-protocol.org/types/agent.tool.invoked"},
		{"BP-12", lists("https://aaep-protocol.org/types/agent.tool.*", "-"), nil, "+aaep:agent.tool.invoked -aaep:agent.state.changed"},
		{"BP-11", lists("-", "aaep:agent.tool.*"), ours, "-aaep:agent.tool.invoked +aaep:agent.state.changed +earshot:mood"},
		{"BP-11", lists("aaep:agent.tool.*", "aaep:agent.tool.invoked"), nil, "-aaep:agent.tool.invoked +aaep:agent.tool.completed"},
		{"BP-11", lists("aaep:agent.tool.invoked", "aaep:*"), nil, "-aaep:agent.tool.invoked"}, // C-48
		{"BP-11", lists("-", "aaep:*.invoked"), nil, "+aaep:agent.tool.invoked"},
		{"BP-06", lists("-", "*"), nil, "+aaep:agent.session.errored +aaep:agent.handoff.requested -aaep:agent.session.completed"},
		{"CONF-83", lists("-", "-"), nil, "-aaep:agent.awaiting.confirmation -aaep:agent.awaiting.clarification"},
	} {
		terms := agree(t, aaep.Capabilities{EventFilters: c.filters, SupportedExtensions: c.extensions})
		for event := range strings.FieldsSeq(c.events) {
			want, name := event[0] == '+', event[1:]
			if got := terms.Wants(aaep.Event{Payload: aaep.Other{Type: name}}); got != want {
				t.Errorf("%s: %+v wants %s: %t", c.rule, c.filters, name, got)
			}
		}
	}
}

// TestQuestions: who is asked, who may look on, and that filters do not matter for
// those who can answer (CONF-83, CLA-12, C-46, BP-06).
func TestQuestions(t *testing.T) {
	t.Parallel()
	nothing := &aaep.EventFilters{Exclude: []string{"*"}}
	for _, c := range []struct {
		asked            aaep.Capabilities
		confirm, clarify bool
	}{
		{aaep.Capabilities{}, false, false},
		{aaep.Capabilities{SupportsConfirmationReply: new(false), SupportsClarificationReply: new(false)}, false, false},
		{aaep.Capabilities{SupportsConfirmationReply: new(true), EventFilters: nothing}, true, false},
		{aaep.Capabilities{SupportsClarificationReply: new(true), EventFilters: nothing}, false, true},
		{aaep.Capabilities{EventFilters: nothing, Extensions: earshot(`{"observe_questions":true}`)}, true, true},
	} {
		terms := agree(t, c.asked)
		if got := terms.Wants(aaep.Event{Payload: aaep.AwaitingConfirmation{}}); got != c.confirm {
			t.Errorf("%+v is asked to confirm: %t", c.asked, got)
		}
		if got := terms.Wants(aaep.Event{Payload: aaep.AwaitingClarification{}}); got != c.clarify {
			t.Errorf("%+v is asked to clarify: %t", c.asked, got)
		}
		if terms.ObserveQuestions && (terms.CanConfirm() || terms.CanClarify()) {
			t.Errorf("%+v may answer", c.asked)
		}
	}
	loud := aaep.Event{Urgency: aaep.UrgencyCritical, Payload: aaep.ToolInvoked{}}
	if !agree(t, aaep.Capabilities{EventFilters: nothing}).Wants(loud) {
		t.Error("an event that calls itself critical is filtered")
	}
}

// TestSessions: the capability earshot narrows.
func TestSessions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		object string
		want   bool
	}{{`{}`, true}, {`{"session_ids":["sess_2","sess_1"]}`, true}, {`{"session_ids":["sess_2"]}`, false}, {`{"session_ids":[]}`, false}} {
		if got := agree(t, aaep.Capabilities{Extensions: earshot(c.object)}).Hears("sess_1"); got != c.want {
			t.Errorf("%s hears sess_1: %t", c.object, got)
		}
	}
}
