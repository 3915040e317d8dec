package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// The two answers to a question about an unknown fate.
const (
	answerLeave    = "leave"
	answerAskAgain = "ask again"
)

const (
	eventPage = 200
	listLimit = 1000
)

// enqueue starts a turn and drives it here.
func (k *Kernel) enqueue(ctx context.Context, from Caller, q utp.EnqueueRequest) (utp.EnqueueAnswer, error) {
	if !utp.ValidToken(q.Agent) {
		return utp.EnqueueAnswer{}, fault(utp.CodeBadRequest, "the agent's name is not one token of A-Z a-z 0-9 _ -")
	}
	now := k.o.Clock.moment()
	id, err := k.id(now.Wall)
	if err != nil {
		return utp.EnqueueAnswer{}, err
	}
	a := utp.EnqueueAnswer{Turn: "turn_" + id, Session: "sess_" + id}
	rec := Record{
		State: turn.State{
			Turn: a.Turn, Session: a.Session, Project: k.o.Project, Channel: k.o.Channel,
			Agent: q.Agent, Owner: from.Name, Status: turn.Queued,
		},
		Args: q.Args, Request: q.Request, AnswerSeconds: q.Answer, Created: now.Wall,
	}
	if err := k.update(ctx, func(tx Tx) error { return tx.Save(Batch{Turn: &rec}) }); err != nil {
		return utp.EnqueueAnswer{}, err
	}
	k.drive(a.Turn, k.alarmFor(rec))
	k.ringWorker(ctx, rec.State)
	return a, nil
}

func (k *Kernel) sessions(ctx context.Context, _ Caller, q utp.SessionsRequest) ([]utp.SessionRow, error) {
	var out []utp.SessionRow
	err := k.o.Store.View(ctx, func(tx Tx) error {
		rows, err := tx.Turns(TurnFilter{Open: q.Open, Limit: listLimit})
		for _, r := range rows {
			out = append(out, utp.SessionRow{
				Session: r.Session, Turn: r.Turn, Agent: r.Agent, Status: string(r.Status), Created: r.Created,
			})
		}
		return err
	})
	return out, err
}

// events reads a page of a session's sequence, as much as one message may hold.
func (k *Kernel) events(ctx context.Context, _ Caller, q utp.EventsRequest) (utp.EventsAnswer, error) {
	var a utp.EventsAnswer
	err := k.o.Store.View(ctx, func(tx Tx) error {
		rec, err := tx.Turn(TurnRef{Session: q.Session})
		if err != nil {
			return err
		}
		rows, err := tx.Events(q.Session, q.After, eventPage)
		if err != nil {
			return err
		}
		a.More = len(rows) == eventPage
		room := utp.InlineLimit
		for i, e := range rows {
			if room -= len(e.Body); room < 0 && i > 0 {
				a.More = true
				break
			}
			a.Events = append(a.Events, utp.EventRow{Seq: e.Seq, Body: e.Body})
		}
		a.Ended = rec.State.Status == turn.Ended
		return nil
	})
	return a, err
}

func (k *Kernel) questions(ctx context.Context, _ Caller, _ struct{}) ([]utp.QuestionRow, error) {
	var out []utp.QuestionRow
	err := k.o.Store.View(ctx, func(tx Tx) error {
		rows, err := tx.Turns(TurnFilter{Open: true, Limit: listLimit})
		if err != nil {
			return err
		}
		for _, row := range rows {
			rec, err := tx.Turn(TurnRef{Turn: row.Turn})
			if err != nil {
				return err
			}
			for _, q := range rec.Questions {
				if q.State == consent.Open {
					out = append(out, utp.QuestionRow{Number: q.Number, Session: q.SessionID, Token: q.Token, Deadline: q.Deadline()})
				}
			}
		}
		return nil
	})
	return out, err
}

// arguments reads what a question is about: the arguments as they would run.
func (k *Kernel) arguments(ctx context.Context, _ Caller, q utp.ArgumentsRequest) (utp.GetAnswer, error) {
	var a utp.GetAnswer
	err := k.o.Store.View(ctx, func(tx Tx) error {
		rec, err := tx.Turn(TurnRef{Question: q.Question})
		if err != nil {
			return err
		}
		c, found := rec.State.FindQuestion(q.Question)
		if !found {
			return fault(utp.CodeNotFound, "no live question has that number")
		}
		raw, err := (&step{k: k, tx: tx, rec: rec}).args(c)
		if err != nil {
			return err
		}
		a.Size = int64(len(raw))
		from := min(max(q.Offset, 0), a.Size)
		a.Data = raw[from:min(from+utp.ChunkLimit, a.Size)]
		return nil
	})
	return a, err
}

// answer judges a reply and feeds it in. The reason for ignoring one goes to the log,
// never to the sender (CONF-56).
func (k *Kernel) answer(ctx context.Context, from Caller, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	var a utp.ReplyAnswer
	err := k.step(ctx, refOf(r), func(s *step) error {
		q := s.named(r)
		if q == nil {
			return fault(utp.CodeNotFound, "no open question has that number")
		}
		if takesBack(*q, r) {
			a = utp.ReplyAnswer{Question: q.Number, Resolution: "stopped"}
			s.tell.Resolution, s.tell.By, s.tell.Surface = "stopped", r.By, r.Surface
			return s.feed(turn.Undo{Question: q.Number, By: r.By, Surface: r.Surface})
		}
		if r.By == s.rec.State.Agent {
			return fault(utp.CodeAuthFailed, "who asks for a call never approves it")
		}
		judged, outcome := q.Reply(s.now.Wall, reply(*q, from, r, s.now))
		if !outcome.Changed {
			k.o.Logger.Info("reply ignored", "question", q.Number, "reason", string(outcome.Reason), "surface", r.Surface)
			return fault(utp.CodeDone, "the reply was not taken: the question is closed, or it was not an answer to it")
		}
		*q = judged
		a = utp.ReplyAnswer{Question: q.Number, Resolution: string(q.State), Deadline: q.Deadline()}
		s.tell.Resolution, s.tell.By, s.tell.Surface = string(q.State), r.By, r.Surface
		return s.feed(turn.Answered{
			Question: q.Number, Accept: q.State == consent.Accepted,
			Insist: q.Kind == consent.Clarification && r.Response == answerAskAgain,
			By:     r.By, Surface: r.Surface,
		})
	})
	return a, err
}

// takesBack: a no after the yes is an undo (call protocol, step U).
func takesBack(q consent.Question, r utp.ReplyRequest) bool {
	return q.Kind == consent.Confirmation && q.State == consent.Accepted && r.Decision == string(consent.Reject)
}

func refOf(r utp.ReplyRequest) TurnRef {
	switch {
	case r.Token != "":
		return TurnRef{Token: r.Token}
	case r.Question != 0:
		return TurnRef{Question: r.Question}
	default:
		return TurnRef{Session: r.Session}
	}
}

// named finds the question that a reply is about.
func (s *step) named(r utp.ReplyRequest) *consent.Question {
	for i := range s.rec.Questions {
		q := &s.rec.Questions[i]
		if (r.Token != "" && q.Token == r.Token) || (r.Token == "" && q.Number == r.Question) {
			return q
		}
	}
	return nil
}

// reply builds what consent judges. A reply by number, from a surface that shows no
// tokens, stands for the question's own token.
func reply(q consent.Question, from Caller, r utp.ReplyRequest, now turn.Moment) consent.Reply {
	token, at := r.Token, r.At
	if token == "" {
		token = q.Token
	}
	if at.IsZero() {
		at = now.Wall
	}
	out := consent.Reply{
		Kind: q.Kind, Token: token, Timestamp: at, Authenticated: true, Principal: r.By,
		Surface: r.Surface, Rationale: r.Reason, Decision: consent.Decision(r.Decision),
	}
	if out.Principal == "" {
		out.Principal = from.Name
	}
	if q.Kind == consent.Clarification {
		out.Response = consent.TextResponse(r.Response)
	}
	return out
}

// extend asks the same question again with more time.
func (k *Kernel) extend(ctx context.Context, _ Caller, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	var a utp.ReplyAnswer
	err := k.step(ctx, refOf(r), func(s *step) error {
		q := s.named(r)
		if q == nil {
			return fault(utp.CodeNotFound, "no open question has that number")
		}
		token, err := k.token()
		if err != nil {
			return err
		}
		longer, outcome := q.Extend(s.now.Wall, token)
		if !outcome.Changed {
			return fault(utp.CodeConflict, "no more time can be given: "+string(outcome.Reason))
		}
		*q = longer
		a = utp.ReplyAnswer{Question: q.Number, Resolution: "extended", Deadline: q.Deadline()}
		s.tell.Resolution, s.tell.By, s.tell.Surface = "extended", r.By, r.Surface
		call, _ := s.rec.State.FindQuestion(q.Number)
		return s.note(turn.Note{Kind: NoteExtended, Call: call.ID})
	})
	return a, err
}

func (k *Kernel) stop(ctx context.Context, _ Caller, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	err := k.step(ctx, refOf(r), func(s *step) error {
		s.tell.Resolution, s.tell.By, s.tell.Surface = "stopped", r.By, r.Surface
		return s.feed(turn.StopTurn{Stop: turn.Stop{
			By: r.By, Surface: r.Surface, Reason: r.Reason, System: r.By == "",
		}})
	})
	return utp.ReplyAnswer{Resolution: "stopped"}, err
}

func (k *Kernel) undo(ctx context.Context, _ Caller, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	err := k.step(ctx, refOf(r), func(s *step) error {
		s.tell.Resolution, s.tell.By, s.tell.Surface = "stopped", r.By, r.Surface
		return s.feed(turn.Undo{Question: r.Question, By: r.By, Surface: r.Surface})
	})
	return utp.ReplyAnswer{Question: r.Question, Resolution: "stopped"}, err
}

// absent says that nobody is left who could answer in a session: where policy decides
// rather than waits, its open questions and
// those that follow get their default at once (C-66).
func (k *Kernel) absent(ctx context.Context, _ Caller, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	err := k.step(ctx, TurnRef{Session: r.Session}, func(s *step) error {
		s.rec.Absent = true
		return s.decideUnanswered()
	})
	return utp.ReplyAnswer{Resolution: "decided"}, err
}

// Turn reads a turn as the ledger has it.
func (k *Kernel) Turn(ctx context.Context, id string) (Record, error) {
	var rec Record
	err := k.o.Store.View(ctx, func(tx Tx) (err error) {
		rec, err = tx.Turn(TurnRef{Turn: id})
		return err
	})
	return rec, protocolError(err)
}
