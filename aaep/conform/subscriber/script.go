package subscriber

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// step is one part of the script.
type step struct {
	name, about string
	level       int      // from which it is played
	rules       []string // that it exercises where the connection holds
	blame       string   // the rule that is broken where it does not; default the first of rules
	events      []string // that are sent; see event
	ask         *question
	wait        time.Duration // until the next step; 0 is settle
	burst       bool          // repeats its event as often as was agreed for a second
	cut         bool          // breaks the connection
}

// question is one that is asked; its event is the first of the step.
type question struct {
	token    string
	wants    string // accept, reject, any for an answer in words, or leave
	kinds    []aaep.ResponseKind
	choices  []string
	repeated bool   // it is sent twice
	trap     string // the rule against taking it for a question at all
	closes   bool   // the step also ends it

	asked, closed time.Time
	replies       int
}

// open reports whether the question wants an answer, for which the script waits.
func (q *question) open() bool { return q.trap == "" && !q.closes && q.wants != "leave" }

// event is one event; # stands for its number, @ for its time.
func event(kind, members string) string {
	return `{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.` + kind + `","event_id":"evt_#","session_id":"sess_conform",` +
		`"timestamp":"@","producer":{"agent_id":"earshot-conform"},"verbosity":"normal","localization_hints":{"primary_language":"en-US"},` + members + `}`
}

func state(from, to, summary string) string {
	return event("state.changed", fmt.Sprintf(`"urgency":"normal","from_state":%q,"to_state":%q,"summary_normal":%q`, from, to, summary))
}

// progress is an event that says nothing new.
var progress = event("progress.updated", `"urgency":"background","progress":{"percent":10},"summary_normal":"It goes on."`)

// tolerance is what every reader has to bear.
func tolerance() []step {
	return []step{
		{name: "start", about: "a session begins", level: 1, rules: []string{"L1S-1"}, events: []string{
			event("session.started", `"urgency":"normal","summary_terse":"Go.","summary_normal":"A conformance test begins.","summary_detailed":"A test begins."`),
			state("idle", "thinking", "It thinks."),
		}},
		{name: "indented", about: "an event on several lines", level: 1, rules: []string{"ENV-03"}, events: []string{strings.ReplaceAll(progress, `,"`, ",\n  \"")}},
		{name: "order", about: "an event whose members are in another order", level: 1, rules: []string{"ENV-04"}, events: []string{
			`{"progress":{"percent":10},"summary_normal":"It goes on.","timestamp":"@","producer":{"agent_id":"earshot-conform"},"session_id":"sess_conform","event_id":"evt_#",` +
				`"type":"aaep:agent.progress.updated","@context":"https://aaep-protocol.org/context/v1","localization_hints":{"primary_language":"en-US"}}`,
		}},
		{name: "bare", about: "an event without optional members", level: 1, rules: []string{"ENV-48"}, events: []string{
			`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.state.changed","event_id":"evt_#","session_id":"sess_conform","timestamp":"@",` +
				`"producer":{"agent_id":"earshot-conform"},"from_state":"thinking","to_state":"deciding"}`,
		}},
		{name: "unknown type", about: "an event of a type that nobody knows", level: 1, rules: []string{"ENV-17", "L1S-5"}, events: []string{
			strings.NewReplacer("agent.progress.updated", "agent.grease.happened", `"1.0.0"`, `"1.1.0"`).Replace(progress),
		}},
		{name: "unknown extension", about: "data of an extension that nobody knows", level: 1, rules: []string{"ENV-43", "L1S-6"}, events: []string{
			strings.NewReplacer(`"summary_normal"`, `"extensions":{"grease":{"un":[{"known":null}]}},"summary_normal"`, `"https://aaep-protocol.org/context/v1"`,
				`["https://aaep-protocol.org/context/v1","https://example.org/grease/v1"]`).Replace(progress),
		}},
		{name: "later version", about: "an event of version 1.2.0 with a member that this version does not have", level: 1, rules: []string{"VER-03"}, events: []string{
			strings.NewReplacer(`"1.0.0"`, `"1.2.0"`, `"summary_normal"`, `"grease":{"new":true},"summary_normal"`).Replace(progress),
		}},
		{name: "unknown words", about: "an urgency, a verbosity and a state that nobody knows", level: 1, rules: []string{"ENV-61", "VER-04"}, events: []string{
			strings.NewReplacer(`"verbosity":"normal"`, `"verbosity":"lavish"`, `"urgency":"normal"`, `"urgency":"festive"`).Replace(state("deciding", "daydreaming", "It daydreams.")),
			state("daydreaming", "thinking", "It thinks."),
		}},
		{name: "other letters", about: "text in another language, not normalised, and from right to left", level: 1, rules: []string{"I18N-15", "I18N-20"}, events: []string{
			strings.NewReplacer("It goes on.", "E\u0301ko\u0301 \u202bשלום\u202c 👩🏽‍🚀", "en-US", "yo").Replace(progress),
		}},
		{name: "large", about: "an event of 90 KiB, beyond the soft limits", level: 1, rules: []string{"ENV-54"}, events: []string{
			strings.Replace(progress, "It goes on.", strings.Repeat("It goes on. ", 90<<10/12), 1),
		}},
		{name: "repeated", about: "an event that comes twice", level: 1, blame: "TR-06", events: []string{progress, "again"}},
		{name: "unreadable", about: "texts that are no events", level: 1, blame: "L1S-2", events: []string{`{"type":"aaep:agent.progress.updated"}`, `[1,2]`, `{"type":`}},
		{name: "burst", about: "as many events at once as were agreed for a second", level: 3, rules: []string{"BP-09"}, burst: true, events: []string{progress}, wait: inFlight},
		{name: "lost connection", about: "the connection breaks; the subscriber is to come back and go on", level: 1, rules: []string{"HS-67"}, cut: true},
	}
}

// confirmation asks for consent in the words of the script.
func confirmation(q *question, risk string, forever bool, members string) string {
	words := map[string]string{"accept": "Accept this.", "reject": "Reject this.", "leave": "Do not answer this."}[q.wants]
	return event("awaiting.confirmation", fmt.Sprintf(`"urgency":"critical","action":%q,"consequence":"Nothing happens: it is a test.","reply_token":%q,"timeout_seconds":%d,`+
		`"default_decision":"reject","risk_level":%q,"irreversible":%t,"summary_normal":%q%s`, words, q.token, questionSeconds, risk, forever, "A test. "+words, members))
}

// clarification asks for information.
func clarification(q *question, words string) string {
	kinds, choices := `"`+string(q.kinds[0])+`"`, ""
	if len(q.choices) > 0 {
		choices = fmt.Sprintf(`,"choices":[{"value":%q,"label":"Red"},{"value":%q,"label":"Blue"}]`, q.choices[0], q.choices[1])
	}
	return event("awaiting.clarification", fmt.Sprintf(`"urgency":"critical","question":%q,"reply_token":%q,"timeout_seconds":%d,"accepted_response_kinds":[%s]%s,"summary_normal":%q`,
		words, q.token, questionSeconds, kinds, choices, words))
}

// questionSeconds is how long a question is open.
const questionSeconds = 60

// aloneTime is how long a question is watched that is to be left alone.
const aloneTime = 4 * time.Second

// ended tells that a question is over.
var ended = state("awaiting_input", "thinking", "The question is over.")

// consent are the questions. Those that want an answer are only asked where somebody answers.
func consent(person bool) []step {
	alone := &question{token: "rpl_alone", wants: "leave"}
	all := []step{{
		name: "left alone", about: "a question that nobody is to answer, of high risk", level: 2, wait: aloneTime, ask: alone, rules: []string{"CONF-81", "L2S-6"},
		events: []string{confirmation(alone, "high", true, "")},
	}}
	if !person {
		return all
	}
	part, stray := &question{token: "rpl_part", wants: "accept", trap: "ENV-06"}, &question{token: "rpl_context", wants: "accept", trap: "ENV-10"}
	half, _, _ := strings.Cut(confirmation(part, "low", false, ""), `,"summary_normal"`)
	all = append(all,
		step{name: "part", about: "half of a question, which is none", level: 2, wait: inFlight, ask: part, rules: []string{"ENV-06"}, events: []string{half}},
		step{
			name: "without context", about: "a question without @context, which is none", level: 2, wait: inFlight, ask: stray, rules: []string{"ENV-10"},
			events: []string{strings.Replace(confirmation(stray, "low", false, ""), `"@context":"https://aaep-protocol.org/context/v1",`, "", 1)},
		},
	)
	for _, row := range []struct {
		name, about, wants, risk, members string
		forever, repeated                 bool
		rules                             []string
	}{
		{name: "accepted", about: "a question of low risk to accept", wants: "accept", risk: "low"},
		{name: "rejected", about: "a question of high risk to reject", wants: "reject", risk: "high", forever: true},
		{name: "one reply", about: "a question that takes only reject", wants: "reject", risk: "medium", members: `,"allowed_replies":["reject"]`},
		{name: "asked twice", about: "a question that comes twice, to accept", wants: "accept", risk: "medium", repeated: true, rules: []string{"TR-06", "L3S-6"}},
	} {
		q := &question{token: "rpl_" + strings.ReplaceAll(row.name, " ", ""), wants: row.wants, repeated: row.repeated}
		s := step{name: row.name, about: row.about, level: 2, ask: q, rules: row.rules, events: []string{confirmation(q, row.risk, row.forever, row.members)}}
		if row.repeated {
			s.events = append(s.events, "again")
		}
		all = append(all, s)
	}
	gone := &question{token: "rpl_withdrawn", wants: "accept", closes: true}
	all = append(all, step{
		name: "withdrawn", about: "a question that is withdrawn at once", level: 2, wait: aloneTime, ask: gone, rules: []string{"CONF-77", "L2S-9"},
		events: []string{confirmation(gone, "medium", true, ""), ended},
	})
	for _, q := range []*question{
		{token: "rpl_yesno", kinds: []aaep.ResponseKind{aaep.ResponseYesNo}},
		{token: "rpl_choice", kinds: []aaep.ResponseKind{aaep.ResponseMultipleChoice}, choices: []string{"red", "blue"}},
		{token: "rpl_number", kinds: []aaep.ResponseKind{aaep.ResponseNumeric}},
		{token: "rpl_words", kinds: []aaep.ResponseKind{aaep.ResponseFreetext}},
	} {
		q.wants = "any"
		name := strings.ReplaceAll(string(q.kinds[0]), "_", " ")
		all = append(all, step{name: name, about: "a clarification to answer, of the kind " + name, level: 2, ask: q, events: []string{clarification(q, "A test: answer anything.")}})
	}
	return all
}
