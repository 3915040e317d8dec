package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// counterQuestion is the number of the last question.
const counterQuestion = "question"

// applyEffect adds one effect of the turn machine to the step.
func (s *step) applyEffect(e turn.Effect) error {
	switch e := e.(type) {
	case turn.Note:
		return s.noted(e)
	case turn.AskConsent:
		return s.askConsent(e.Call)
	case turn.AskOutcome:
		return s.askOutcome(e.Call)
	case turn.AskPerson:
		return s.askPerson(e.Call)
	case turn.Withdraw:
		s.withdraw(e)
	case turn.Consume:
		s.receipts.Consume(e)
	case turn.Command:
		return s.command(e)
	case turn.Grant:
		if c, _ := s.rec.State.Find(e.Call); c.Class.Effectful() {
			s.after = append(s.after, "start.committed")
		}
		return s.receipts.Grant(e)
	case turn.AskService:
		c, _ := s.rec.State.Find(e.Call)
		return s.outgoing.Notice(c, utp.SuffixReconcile)
	case turn.StopService:
		c, _ := s.rec.State.Find(e.Call)
		return s.outgoing.Cancel(c)
	case turn.RecordOutcome:
		return s.recordOutcome(e.Call)
	case turn.Apply:
		s.apply(e.Call)
	case turn.Receipt:
		return s.receipts.Receipt(e)
	case turn.Replace:
		return s.replace(e.Call)
	case turn.RecordLate:
		s.batch.Late = append(s.batch.Late, store.Report{
			Turn: s.rec.State.Turn, Call: e.Call, Card: e.Outcome.Card, Status: e.Outcome.Status, At: s.now.Wall,
		})
	case turn.WakeWorker:
		s.wakeWorker = true
	case turn.BeginChild, turn.StopChild:
		return s.applyToChild(e)
	default:
		return store.Unexpected("applying an effect", fmt.Errorf("the kernel does not know the effect %T", e))
	}
	return nil
}

// noted tells a note, after recording the use of a standing permission if the note is of a call that started by one.
func (s *step) noted(n turn.Note) error {
	if call, _ := s.rec.State.Find(n.Call); n.Kind == turn.NoteInvoked && call.Permission != 0 {
		if err := s.usedPermission(call); err != nil {
			return err
		}
	}
	return s.note(n)
}

// applyToChild applies an effect on a turn within this one.
func (s *step) applyToChild(e turn.Effect) error {
	switch e := e.(type) {
	case turn.BeginChild:
		return s.beginChild(e)
	case turn.StopChild:
		s.stopChild(e.Turn)
	}
	return nil
}

// note passes a note to the narrator and saves its event rows.
func (s *step) note(n turn.Note) error {
	t := s.notification
	t.Note, t.At, t.Rand = n, s.now.Wall, s.k.o.Rand
	t.Turn, t.Request = s.rec.State, s.rec.Request
	if n.By != "" {
		t.By, t.Surface = n.By, n.Surface
	}
	if e := s.rec.State.End; n.Kind == turn.NoteEnded && e != nil && s.rec.State.Outside && e.Code == "" {
		t.Summary = e.Message // it may come from an earlier step
	}
	if err := s.aboutCall(&t, n.Call); err != nil {
		return err
	}
	told, err := s.k.o.Narrator.Narrate(s.rec.Narration, t)
	if err != nil {
		return store.Unexpected("narrating "+string(n.Kind), err)
	}
	for i := range told.Events {
		told.Events[i].Session = s.rec.State.Session
		told.Events[i].At = s.now.Wall
	}
	s.recordShown(n, told)
	s.rec.Narration = told.State
	s.batch.Events = append(s.batch.Events, told.Events...)
	s.pass(n.Kind)
	return nil
}

// aboutCall adds the facts about the call.
func (s *step) aboutCall(t *Notification, id string) error {
	call, found := s.rec.State.Find(id)
	if !found {
		return nil
	}
	t.Call, t.Comment, t.StartsAt = call, call.Comment, call.StartsAt(s.now.Wall)
	var err error
	if call.Kind == turn.ToolCall {
		t.Tool, err = s.admission.Tool(call.Tool)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) { // a call of an unknown or removed tool is reported too
		return store.Unexpected("looking up the tool "+call.Tool, err)
	}
	if t.Args, err = s.cards.Args(call); err != nil && !errors.Is(err, store.ErrDamaged) { // a call is reported without its arguments, too
		return err
	}
	if !call.StartedAt.IsZero() {
		t.Duration = s.now.Wall.Sub(call.StartedAt)
	}
	t.Result = s.late
	if t.Note.Kind != turn.NoteLate {
		if t.Result, err = s.cards.AddedResult(call); err != nil {
			return err
		}
	}
	t.Unserved = call.State == turn.Asked && call.Batch == nil && s.toolUnserved(t.Tool)
	if q := s.rec.Question(call.Question); q != nil {
		t.Question = QuestionFacts{
			Number: q.Number, Token: q.Token, Deadline: q.Deadline(),
			Timeout: time.Duration(q.Timeout) * time.Second, Again: q.Extensions > 0, Digest: q.Digest,
			Waiting: q.Waiting, Length: time.Duration(q.Length) * time.Second, Passkey: s.k.passkeys.Needs(call),
		}
	}
	return nil
}

// pass records the fault points that belong to a kind of note.
func (s *step) pass(kind turn.NoteKind) {
	switch kind {
	case turn.NoteAsked:
		s.before = append(s.before, "question.saving")
		s.after = append(s.after, "question.saved")
	case turn.NoteAccepted:
		s.after = append(s.after, "answer.saved")
		s.last = append(s.last, "undo.waiting")
	case turn.NoteInvoked:
		s.before = append(s.before, "dispatch.committing")
		s.after = append(s.after, "invoked.logged")
	case turn.NoteOutcomeAsked:
		s.after = append(s.after, "unknown.asked")
	case turn.NoteStopping:
		s.last = append(s.last, "stop.told")
	default:
	}
}

// newQuestion mints the token of a question about a call, and its number if it has none. It increments
// the incarnation, which bounds how many numbers were given out in the lost part of a restored ledger.
func (s *step) newQuestion(about turn.Call) (int, string, error) {
	if err := s.count(); err != nil {
		return 0, "", err
	}
	number := about.Question
	if number == 0 {
		n, err := s.tx.Count(counterQuestion, 1)
		if err != nil {
			return 0, "", err
		}
		number = int(n)
	}
	token, err := s.k.ids.Token()
	return number, token, err
}

func (s *step) askConsent(id string) error {
	call, _ := s.rec.State.Find(id)
	number, token, err := s.newQuestion(call)
	if err != nil {
		return err
	}
	call.Question = number
	digest, err := s.admission.Digest(call)
	if err != nil {
		return err
	}
	seconds, err := s.answerSeconds(call)
	if err != nil {
		return err
	}
	q, err := consent.Ask(consent.Params{
		Number: number, Kind: consent.Confirmation, SessionID: s.rec.State.Session, Token: token,
		AskedAt: s.now.Wall, Timeout: seconds, Unseen: s.k.o.WaitForPresence, Default: consent.Reject,
		Irreversible: call.Class == utp.Irreversible, Risk: consent.Risk(call.Risk), Digest: digest,
	})
	if err != nil {
		return store.Unexpected("asking", err)
	}
	return s.openQuestion(q, turn.QuestionAsked{Call: id, Number: number, Digest: digest})
}

// openQuestion opens a question, and applies its default at once if nobody is left to answer.
func (s *step) openQuestion(q consent.Question, asked turn.QuestionAsked) error {
	s.rec.AddQuestion(q)
	if err := s.dispatch(asked); err != nil || !s.rec.Absent {
		return err
	}
	return s.decideUnanswered(s.rec.OpenQuestions()...)
}

// decideUnanswered applies the default of open questions now (C-66).
func (s *step) decideUnanswered(open ...consent.Question) error {
	for _, q := range open {
		judged, outcome := q.Nobody(s.now.Wall)
		if err := s.closeQuestion(judged, outcome, utp.CodeConsentExpired); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) askOutcome(id string) error {
	call, _ := s.rec.State.Find(id)
	call.Question = 0 // the question about its outcome is not the question whether to do it
	number, token, err := s.newQuestion(call)
	if err != nil {
		return err
	}
	seconds, err := s.answerSeconds(call)
	if err != nil {
		return err
	}
	q, err := consent.Ask(consent.Params{
		Number: number, Kind: consent.Clarification, SessionID: s.rec.State.Session, Token: token,
		AskedAt: s.now.Wall, Timeout: seconds, Unseen: s.k.o.WaitForPresence,
		ResponseKinds: []consent.ResponseKind{consent.MultipleChoice},
		Choices: []consent.Choice{
			{Value: answerLeave, Label: "leave it as it is"},
			{Value: answerAskAgain, Label: "ask again whether to do it"},
		},
		DefaultResponse: answerLeave,
	})
	if err != nil {
		return store.Unexpected("asking", err)
	}
	return s.openQuestion(q, turn.QuestionAsked{Call: id, Number: number})
}

// answerSeconds returns how long a question stays open once somebody has seen it: as set when the turn
// was started, else as its owner prefers, else as policy and tool say.
func (s *step) answerSeconds(c turn.Call) (int, error) {
	if s.rec.AnswerSeconds > 0 {
		return min(s.rec.AnswerSeconds, consent.MaxSeconds), nil
	}
	preferences, err := s.tx.Preferences(s.rec.State.Owner)
	if err != nil {
		return 0, err
	}
	if n := api.Preferred(preferences.AnswerSeconds); n > 0 {
		return min(max(n, api.MinAnswerSeconds), consent.MaxSeconds), nil
	}
	return max(1, int(c.Limits.AnswerTime()/time.Second)), nil
}

func (s *step) withdraw(e turn.Withdraw) {
	if q := s.rec.Question(e.Question); q != nil {
		*q, _ = q.Withdraw(s.now.Wall, e.Reason)
	}
}

// recordShown saves the digest of the event that puts a question, for the receipt: the last event of
// its narration.
func (s *step) recordShown(n turn.Note, told Narration) {
	call, _ := s.rec.State.Find(n.Call)
	q := s.rec.Question(call.Question)
	if q == nil || len(told.Events) == 0 || !asks(n.Kind) {
		return
	}
	last := told.Events[len(told.Events)-1]
	sum := sha256.Sum256(last.Body)
	q.Shown = hex.EncodeToString(sum[:])
	s.rec.SetPresented(store.Presented{
		Question: q.Number, Event: last.ID, Until: s.now.Add(q.Deadline().Sub(s.now.Wall)), Shows: told.Shows, Covered: told.Covered,
		Read: s.rec.LastPresented(q.Number).Read, // the question is about the same as before
	})
}

// asks reports whether a note puts a question, for the first time or again.
func asks(kind turn.NoteKind) bool {
	switch kind {
	case turn.NoteAsked, turn.NoteOutcomeAsked, turn.NoteShown, turn.NoteUnshown, NoteExtended:
		return true
	default:
		return false
	}
}

// count increments the incarnation, so that a ledger restored from before this step is behind the copy
// outside.
func (s *step) count() error {
	s.counted = true
	return s.k.incarnation.Add(s.tx)
}
