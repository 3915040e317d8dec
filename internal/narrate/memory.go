package narrate

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/utp"
)

// memory is a narrator's state between two notifications, saved with the rows.
type memory struct {
	Session session.State `json:"session"`
	// Open are the questions that have been asked and not closed.
	Open []openQuestion `json:"open,omitzero"`
	// Deeds are the effects of the turn's calls, for its last sentence; Left more were dropped.
	Deeds []effect `json:"deeds,omitzero"`
	Left  int      `json:"left,omitzero"`
	// Refused counts the calls that ended before their dispatch, by code.
	Refused map[utp.Code]int `json:"refused,omitzero"`
	// Percent is the last reported progress.
	Percent float64 `json:"percent,omitzero"`
	// Output is the agent's open text, Outputs the number of those begun. Lang is the language of its last chunk.
	Output  string `json:"output,omitzero"`
	Outputs int    `json:"outputs,omitzero"`
	Lang    string `json:"lang,omitzero"`
}

// openQuestion is one that a person can answer now.
type openQuestion struct {
	Number    int    `json:"number"`
	Call      string `json:"call"`
	Token     string `json:"token"`
	Outcome   bool   `json:"fate,omitzero"`
	AgentsOwn bool   `json:"own,omitzero"`    // the agent's own, for an answer and not for consent
	Action    Param  `json:"action,omitzero"` // its subject, in case it ends without a notification of its own
}

// effect is the effect of one call, as far as is known.
type effect struct {
	Call string     `json:"call"`
	Kind effectKind `json:"kind"`
	What Param      `json:"what"`
}

type effectKind string

const (
	effectDone    effectKind = "done"
	effectDoubt   effectKind = "doubt"   // it failed or was stopped, and may have changed something
	effectUnknown effectKind = "unknown" // nobody can tell
)

// maxDeeds limits what the last sentence lists and what is saved with every step.
const maxDeeds = 8

func (m *memory) save() (jsontext.Value, error) {
	raw, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("narrate: saving the narration: %w", err)
	}
	return raw, nil
}

func load(raw jsontext.Value) (memory, error) {
	var m memory
	if len(raw) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("narrate: the saved narration cannot be read: %w", err)
	}
	return m, nil
}

// note records an effect; a later one of the same call replaces it.
func (m *memory) note(d effect) {
	if i := slices.IndexFunc(m.Deeds, func(old effect) bool { return old.Call == d.Call }); i >= 0 {
		m.Deeds[i] = d
		return
	}
	if len(m.Deeds) == maxDeeds {
		m.Left++
		i := slices.IndexFunc(m.Deeds, func(old effect) bool { return old.Kind == effectDone })
		if d.Kind == effectDone || i < 0 {
			return
		}
		m.Deeds = slices.Delete(m.Deeds, i, i+1) // a doubt is more important than what is certain
	}
	m.Deeds = append(m.Deeds, d)
}

func (m *memory) refuse(code utp.Code) {
	if m.Refused == nil {
		m.Refused = map[utp.Code]int{}
	}
	m.Refused[code]++
}

func (m *memory) forget(call string) {
	m.Deeds = slices.DeleteFunc(m.Deeds, func(d effect) bool { return d.Call == call })
}

func (m *memory) deeds(kind effectKind) []Param {
	var out []Param
	for _, d := range m.Deeds {
		if d.Kind == kind {
			out = append(out, d.What)
		}
	}
	return out
}

// question returns the open question about a call.
func (m *memory) question(call string) (openQuestion, bool) {
	for _, q := range m.Open {
		if q.Call == call {
			return q, true
		}
	}
	return openQuestion{}, false
}

func (m *memory) close(token string) {
	m.Open = slices.DeleteFunc(m.Open, func(q openQuestion) bool { return q.Token == token })
}

// granted returns the token of an accept that waits for its invocation, or "".
func granted(s session.State, callID string) string {
	for _, g := range s.Granted {
		if g.CallID == callID {
			return g.Token
		}
	}
	return ""
}

func running(s session.State, callID string) bool {
	return slices.ContainsFunc(s.Calls, func(c session.Call) bool { return c.ID == callID })
}

// day is the longest duration that an event can contain.
const day = 24 * time.Hour

// millis returns a duration for an event; nil if there is none.
func millis(d time.Duration) *int64 {
	if d <= 0 {
		return nil
	}
	ms := min(d, day).Milliseconds()
	return &ms
}
