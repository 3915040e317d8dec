package kernel

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const resultPage = 100

// claim gives a worker the oldest turn of its agent that is driven here and free.
func (k *Kernel) claim(ctx context.Context, from Caller, q utp.ClaimRequest) (utp.ClaimAnswer, error) {
	if q.Agent != from.Name {
		return utp.ClaimAnswer{}, fault(utp.CodeAuthFailed, "this credential belongs to the agent "+from.Name)
	}
	var rows []TurnRow
	err := k.o.Store.View(ctx, func(tx Tx) (err error) {
		rows, err = tx.Turns(TurnFilter{Agent: q.Agent, Open: true})
		return err
	})
	if err != nil {
		return utp.ClaimAnswer{}, err
	}
	for _, row := range rows {
		if !k.driven(row.Turn) {
			continue
		}
		answer, err := k.claimTurn(ctx, row.Turn, q.Worker)
		if isCode(err, utp.CodeBusy) || isCode(err, utp.CodeTurnEnded) {
			continue
		}
		return answer, err
	}
	return utp.ClaimAnswer{}, nil
}

func (k *Kernel) claimTurn(ctx context.Context, id, worker string) (utp.ClaimAnswer, error) {
	var a utp.ClaimAnswer
	err := k.step(ctx, TurnRef{Turn: id}, func(s *step) error {
		if err := s.feed(turn.Claim{Worker: worker, Lease: k.o.WorkerLease}); err != nil {
			return err
		}
		st := s.rec.State
		a = utp.ClaimAnswer{
			Turn: st.Turn, Session: st.Session, Epoch: st.Epoch, Step: st.Step, Args: s.rec.Args,
			Suspended: st.Status == turn.Suspended, LeaseMS: milliseconds(k.o.WorkerLease),
		}
		return nil
	})
	return a, err
}

func (k *Kernel) renew(ctx context.Context, from Caller, q utp.WorkerRequest) (utp.BeatAnswer, error) {
	a := utp.BeatAnswer{LeaseMS: milliseconds(k.o.WorkerLease)}
	err := k.held(ctx, from, q.Turn, func(s *step) error {
		a.Stop = s.rec.State.Stop != nil
		return s.feed(turn.Renew{Worker: q.Worker, Epoch: q.Epoch, Lease: k.o.WorkerLease})
	})
	return a, err
}

func notYours() error { return fault(utp.CodeAuthFailed, "the turn belongs to another agent") }

// held steps a turn of the asking agent, never another's.
func (k *Kernel) held(ctx context.Context, from Caller, id string, fn func(*step) error) error {
	return k.step(ctx, TurnRef{Turn: id}, func(s *step) error {
		if s.rec.State.Agent != from.Name {
			return notYours()
		}
		return fn(s)
	})
}

// call asks for the calls of a step. Whatever is wrong with one of them becomes its
// result, never the turn's failure.
func (k *Kernel) call(ctx context.Context, from Caller, q utp.CallRequest) (struct{}, error) {
	return struct{}{}, k.held(ctx, from, q.Turn, func(s *step) error {
		in := turn.Request{Worker: q.Worker, Epoch: q.Epoch, Step: q.Step}
		if s.rec.State.Step != q.Step { // not a repeat: the calls have to be made
			if err := s.prepareAll(q.Calls, &in); err != nil {
				return err
			}
		}
		return s.feed(in)
	})
}

func (s *step) prepareAll(calls []utp.ToolCall, in *turn.Request) error {
	id, err := s.k.id(s.now.Wall)
	if err != nil {
		return err
	}
	for _, w := range calls {
		c, err := s.prepare(w, "step_"+id)
		if err != nil {
			return err
		}
		in.Calls = append(in.Calls, c)
	}
	return nil
}

func (k *Kernel) resume(ctx context.Context, from Caller, q utp.WorkerRequest) (utp.ResumeAnswer, error) {
	waiting, ended := 0, false
	err := k.o.Store.View(ctx, func(tx Tx) error {
		rec, err := tx.Turn(TurnRef{Turn: q.Turn})
		if err != nil {
			return err
		}
		if rec.State.Agent != from.Name {
			return notYours()
		}
		waiting, ended = rec.State.Waiting(), rec.State.Status == turn.Ended
		return nil
	})
	a := utp.ResumeAnswer{Waiting: waiting, Ended: ended, LeaseMS: milliseconds(k.o.WorkerLease)}
	if err != nil || ended || waiting > 0 {
		return a, err
	}
	err = k.held(ctx, from, q.Turn, func(s *step) error {
		before := s.rec.State.Calls
		if err := s.feed(turn.Resume{Worker: q.Worker, Epoch: q.Epoch, Lease: k.o.WorkerLease}); err != nil {
			return err
		}
		a.Waiting, a.Epoch = s.rec.State.Waiting(), s.rec.State.Epoch
		if s.rec.State.Status == turn.Running {
			s.before = append(s.before, "report.applying")
			s.apply(before)
		}
		return nil
	})
	return a, err
}

// apply appends the step's results to the transcript, where the worker reads them. A
// call of an earlier step that is kept for a late word stands there already.
func (s *step) apply(calls []turn.Call) {
	for _, c := range calls {
		if c.Adopted || c.Applied || c.ReplacedBy != "" || c.Outcome == nil {
			continue
		}
		s.batch.Applied = append(s.batch.Applied, ResultRow{Key: c.Key, Call: c.ID, Tool: c.Tool, Card: c.Outcome.Card})
	}
}

// transcript reads applied results, for a worker that starts anew.
func (k *Kernel) transcript(ctx context.Context, from Caller, q utp.TranscriptRequest) (utp.TranscriptAnswer, error) {
	var a utp.TranscriptAnswer
	err := k.o.Store.View(ctx, func(tx Tx) error {
		rec, err := tx.Turn(TurnRef{Turn: q.Turn})
		if err != nil {
			return err
		}
		if rec.State.Agent != from.Name {
			return notYours()
		}
		rows, err := tx.Results(q.Turn, q.After, resultPage)
		if err != nil {
			return err
		}
		a, err = transcriptPage(tx, rows)
		return err
	})
	return a, err
}

// transcriptPage fills a page up to what one message may hold.
func transcriptPage(tx Tx, rows []ResultRow) (utp.TranscriptAnswer, error) {
	a := utp.TranscriptAnswer{More: len(rows) == resultPage}
	room := utp.InlineLimit
	for _, row := range rows {
		r, err := result(tx, row)
		if err != nil {
			return a, err
		}
		if room -= len(r.Result.Inline); room < 0 && len(a.Results) > 0 {
			a.More = true
			return a, nil
		}
		a.Results = append(a.Results, r)
	}
	return a, nil
}

func (k *Kernel) deliver(ctx context.Context, from Caller, q utp.DeliverRequest) (struct{}, error) {
	if !q.Status.Valid() {
		return struct{}{}, fault(utp.CodeBadRequest, "a turn ends success, failed, canceled, timeout or partial")
	}
	err := k.held(ctx, from, q.Turn, func(s *step) error {
		s.tell.Summary, s.tell.Output = q.Summary, q.Output
		return s.feed(turn.Deliver{Worker: q.Worker, Epoch: q.Epoch, End: turn.End{
			Status: q.Status, Code: q.Code, Message: q.Summary,
		}})
	})
	if isCode(err, utp.CodeTurnEnded) { // the answer to the first delivery was lost
		err = nil
	}
	return struct{}{}, err
}

func (k *Kernel) driven(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, driven := k.active[id]
	return driven
}

func isCode(err error, code utp.Code) bool {
	var f *utp.Fault
	return errors.As(err, &f) && f.Code == code
}

func milliseconds(d time.Duration) int { return int(d / time.Millisecond) }
