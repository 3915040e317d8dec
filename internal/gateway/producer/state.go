package producer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

const (
	// maxSeen is how many events of a session are remembered to know a repeat from another event with the same id.
	maxSeen = 256
	// maxAsked is how many questions of a session are remembered.
	maxAsked = 32
)

// State is all that is remembered of a session of a producer.
type State struct {
	// Session is the session here; "" before it is open.
	Session string `json:"session,omitzero"`
	// Next is the number that the next event has to have; nil if they are not numbered, or none came yet.
	Next *int64 `json:"next,omitzero"`
	// Output is the output that text came of last, and HasText whether any text came.
	Output  string     `json:"output,omitzero"`
	HasText bool       `json:"has_text,omitzero"`
	Asked   []Question `json:"asked,omitzero"`
	// Ended is why nothing more is told; "" while the session goes on.
	Ended string `json:"ended,omitzero"`
	Seen  []Seen `json:"seen,omitzero"`
}

// Question is one question of the producer.
type Question struct {
	Token string `json:"token"`
	// Call and Number are those of the question here.
	Call   string `json:"call"`
	Number int    `json:"number,omitzero"`
	// Confirms says that it asks for a consent, not for information.
	Confirms bool `json:"confirms,omitzero"`
	// Left says that the producer has gone on from it.
	Left bool `json:"left,omitzero"`
}

// Seen is an event that was taken.
type Seen struct {
	ID  string `json:"id"`
	Sum string `json:"sum"` // of its bytes
}

// sum identifies the content of an event.
func sum(raw []byte) string {
	whole := sha256.Sum256(raw)
	return hex.EncodeToString(whole[:8])
}

// repeats reports whether an event was taken before, and whether it was another one with that id.
func (s *State) repeats(id string, raw []byte) (before, other bool) {
	i := slices.IndexFunc(s.Seen, func(one Seen) bool { return one.ID == id })
	return i >= 0, i >= 0 && s.Seen[i].Sum != sum(raw)
}

// took remembers an event that was taken.
func (s *State) took(id string, raw []byte) {
	s.Seen = append(s.Seen, Seen{ID: id, Sum: sum(raw)})
	s.Seen = s.Seen[max(0, len(s.Seen)-maxSeen):]
}

// question finds a question by the producer's token.
func (s *State) question(token string) (Question, bool) {
	i := slices.IndexFunc(s.Asked, func(q Question) bool { return q.Token == token })
	if i < 0 {
		return Question{}, false
	}
	return s.Asked[i], true
}

// asked remembers a question.
func (s *State) asked(q Question) {
	s.Asked = slices.DeleteFunc(s.Asked, func(old Question) bool { return old.Token == q.Token })
	s.Asked = append(s.Asked, q)
	s.Asked = s.Asked[max(0, len(s.Asked)-maxAsked):]
}

// clone returns a copy that shares nothing which changes.
func (s *State) clone() State {
	other := *s
	other.Asked, other.Seen = slices.Clone(s.Asked), slices.Clone(s.Seen)
	if s.Next != nil {
		other.Next = new(*s.Next)
	}
	return other
}
