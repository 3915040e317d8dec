package store

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Record is a turn with its questions and its narration, saved as one.
type Record struct {
	State     turn.State
	Questions []consent.Question // the open ones and those of live calls
	// Presented has, for each question, the latest event that puts it.
	Presented []Presented
	// Narration is the narrator's own state.
	Narration jsontext.Value
	Args      jsontext.Value
	Request   string
	// AnswerSeconds overrides how long questions stay open; 0 does not.
	AnswerSeconds int
	// Absent: nobody is left who could answer, so that policy decides rather than waits.
	Absent  bool
	Created time.Time
	// Due is when the turn next needs a tick, by the wall clock, or before that; zero is never. Free is from when
	// on a worker may claim it; zero is never, 1970 is at once. Both follow from the rest and are
	// stored as indexes.
	Due, Free time.Time
	// Erased: its content is gone. Imported is when it came from another ledger; such a turn has
	// ended, and never runs here.
	Erased   bool
	Imported time.Time
	// Unfinished: it had not ended in the ledger that it was imported from. Its session ends when all
	// of it is here; until then Narration is that of the other ledger.
	Unfinished bool
	// Last is the number of its session's last event, as it was read.
	Last int64
	// Version is the compare-and-set handle: 0 for a turn that is not saved yet.
	Version int64
}

// QuestionEnds returns when an open question's time ends, on the wall clock as it stands now: the earlier of
// the two clocks, because the wall clock may have been set since it was asked. After a reboot the monotonic
// clock cannot be compared, and the deadline is that of the wall clock.
func (r Record) QuestionEnds(q consent.Question, now turn.Timestamp) time.Time {
	end := q.Deadline()
	for _, p := range r.Presented {
		if p.Question != q.Number || p.Until.IsZero() || !p.Until.SameBoot(now) {
			continue
		}
		if other := now.Wall.Add(p.Until.SinceBoot - now.SinceBoot); other.Before(end) {
			end = other
		}
	}
	return end
}

// Question returns the question with a number; nil if there is none, as for 0.
func (r Record) Question(number int) *consent.Question {
	i := slices.IndexFunc(r.Questions, func(q consent.Question) bool { return number != 0 && q.Number == number })
	if i < 0 {
		return nil
	}
	return &r.Questions[i]
}

// OpenQuestions returns copies of the questions that can be answered.
func (r Record) OpenQuestions() []consent.Question {
	var open []consent.Question
	for _, q := range r.Questions {
		if q.State == consent.Open {
			open = append(open, q)
		}
	}
	return open
}

// AddQuestion adds a question and forgets those of calls that are no longer live. A question that is asked again under
// its number retains its earlier tokens.
func (r *Record) AddQuestion(q consent.Question) {
	r.Questions = slices.DeleteFunc(slices.Clone(r.Questions), func(old consent.Question) bool {
		if old.Number == q.Number {
			q.SpentTokens, q.Again = append(slices.Clone(old.SpentTokens), old.Token), true
			return true
		}
		if old.State == consent.Open {
			return false
		}
		_, live := r.State.FindQuestion(old.Number)
		return !live
	})
	r.Questions = append(r.Questions, q)
}

// LastPresented returns how a question was put the last time.
func (r Record) LastPresented(number int) Presented {
	for _, p := range r.Presented {
		if p.Question == number {
			return p
		}
	}
	return Presented{}
}

// SetPresented records how a question was put, in place of the time before. What is recorded of questions that are gone
// is dropped.
func (r *Record) SetPresented(put Presented) {
	r.Presented = append(slices.DeleteFunc(slices.Clone(r.Presented), func(old Presented) bool {
		return old.Question == put.Question || r.Question(old.Question) == nil
	}), put)
}

// QuestionByToken finds the open question whose live token this is.
func (r Record) QuestionByToken(token string) *consent.Question {
	i := slices.IndexFunc(r.Questions, func(q consent.Question) bool { return q.Token == token && q.State == consent.Open })
	if i < 0 {
		return nil
	}
	return &r.Questions[i]
}

// Shows says how much of a call's arguments an event puts before a person.
type Shows string

// How much is shown. An event that asks nothing shows nothing.
const (
	// ShowsInText: the texts of the event say all of them.
	ShowsInText Shows = "told"
	// ShowsInList: the event lists all of them, for surfaces that show its extension.
	ShowsInList Shows = "listed"
	// ShowsPart: some have to be read apart from the event.
	ShowsPart Shows = "part"
)

// Reading is how far somebody who may answer a question has read its arguments, from the first byte.
type Reading struct {
	By         string `json:"by"`
	Credential string `json:"credential,omitzero"` // two devices of one person show different things
	Surface    string `json:"surface"`
	UpTo       int64  `json:"up_to"`
}

// IsBy reports whether the reading is by this reader.
func (r Reading) IsBy(by, credential, surface string) bool {
	return r.By == by && r.Credential == credential && r.Surface == surface
}

// Index updates the fields by which the turn is found. Both times may be too early, never too late: one that is still to come
// is kept until then, because the steps of a busy turn move it all the time, and each would write it. The turn machine
// judges a tick and a claim by its own times.
func (r *Record) Index(now turn.Timestamp) {
	due, free := r.Due, r.Free
	r.Due, r.Free = time.Time{}, time.Time{}
	if r.State.Status != turn.Ended {
		r.Due = NextTick(*r, now)
	}
	if due.After(now.Wall) && due.Before(r.Due) {
		r.Due = due
	}
	at, claimable := r.State.ClaimAt(now)
	if claimable {
		r.Free = at
	}
	// A turn that waits is claimed by nobody. It is listed no longer from its next tick on, if that comes before.
	early := claimable && free.Before(at) || r.State.Worker != "" && r.Due.Before(free)
	if early && free.After(now.Wall) && !r.Due.IsZero() {
		r.Free = free
	}
}

// NextTick returns the earliest instant at which a question or the turn machine needs a tick.
func NextTick(rec Record, now turn.Timestamp) time.Time {
	at, _ := rec.State.Due(now)
	for _, q := range rec.Questions {
		if q.State != consent.Open {
			continue
		}
		next := q.ShowBy()
		if next.IsZero() {
			next = rec.QuestionEnds(q, now)
		}
		if tell := q.WarnAt(); !tell.IsZero() && tell.Before(next) {
			next = tell
		}
		if at.IsZero() || next.Before(at) {
			at = next
		}
	}
	return at
}

// Presented is how a question was last put to people.
type Presented struct {
	Question int `json:"question"`
	// Event is the event that puts it.
	Event string `json:"event"`
	// Until is its deadline on both clocks.
	Until turn.Timestamp `json:"until,omitzero"`
	// Shows is how much of the call's arguments the event shows, Read who has read how far.
	Shows Shows     `json:"shows,omitzero"`
	Read  []Reading `json:"read,omitzero"`
	// Covered are the JSON pointers of the arguments that the event states by count and digest.
	Covered []string `json:"covered,omitzero"`
}
