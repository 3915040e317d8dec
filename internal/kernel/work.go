package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const resultPage = 100

func (k *Kernel) renew(ctx context.Context, from Caller, q api.WorkerRequest) (api.HeartbeatAnswer, error) {
	a := api.HeartbeatAnswer{LeaseMS: milliseconds(k.o.WorkerLease)}
	err := k.stepAgentTurn(ctx, from, q.Turn, func(s *step) error {
		a.Stop = s.rec.State.Stop != nil
		return s.dispatch(turn.Renew{WorkerClaim: workerClaim(from, q, s.rec.State), Lease: k.o.WorkerLease})
	})
	return a, err
}

func notYours() error { return api.NewFault(utp.CodeAuthFailed, "the turn belongs to another agent") }

// stepAgentTurn steps a turn of the asking agent, never another agent's.
func (k *Kernel) stepAgentTurn(ctx context.Context, from Caller, id string, fn func(*step) error) error {
	return k.step(ctx, store.TurnRef{Turn: id}, func(s *step) error {
		if s.rec.State.Agent != from.Name {
			return notYours()
		}
		return fn(s)
	})
}

// workerClaim returns the claim that a worker states. A third-party peer does not know nonces: its epoch must do.
func workerClaim(from Caller, q api.WorkerRequest, s turn.State) turn.WorkerClaim {
	h := turn.WorkerClaim{Worker: q.Worker, Epoch: q.Epoch, Nonce: q.Nonce}
	if from.Kind == ExternalCaller && h.Nonce == "" {
		h.Nonce = s.Nonce
	}
	return h
}

// call asks for the calls of a step. An invalid call gets a failed result; the turn does not fail.
func (k *Kernel) call(ctx context.Context, from Caller, q api.CallRequest) (struct{}, error) {
	if err := checkKeys(q.Calls); err != nil {
		return struct{}{}, err
	}
	return struct{}{}, k.stepAgentTurn(ctx, from, q.Turn, func(s *step) error {
		in := turn.Request{WorkerClaim: workerClaim(from, q.WorkerRequest, s.rec.State), Step: q.Step}
		if s.rec.State.Step != q.Step { // not a repeat: there are new calls
			if over, err := s.overSteps(in.WorkerClaim); over || err != nil {
				return err
			}
			if err := s.admission.CheckOpenCalls(len(q.Calls)); err != nil {
				return err
			}
			if err := s.prepareAll(q, &in); err != nil {
				return err
			}
		}
		return s.dispatch(in)
	})
}

// checkKeys refuses a step that is too large, or whose results would have no valid key.
func checkKeys(calls []api.ToolCall) error {
	for _, c := range calls {
		if len(calls) > maxCalls || c.Key == "" || len(c.Key) > store.MaxName {
			return api.NewFault(utp.CodeBadRequest, "a step has at most 256 calls, each with a key of 1 to 128 bytes")
		}
	}
	return nil
}

func (s *step) prepareAll(q api.CallRequest, in *turn.Request) error {
	id, err := s.k.ids.ID(s.now.Wall)
	if err == nil {
		err = s.cards.AddStepData("step_"+id, q.Data)
	}
	if err != nil {
		return err
	}
	times := make(map[string]int, len(q.Calls))
	for _, w := range q.Calls {
		times[w.Key]++
	}
	for _, w := range q.Calls {
		n := times[w.Key]
		times[w.Key] = 0
		var c turn.Call
		switch n {
		case 0: // reported with the first call of that key
			continue
		case 1:
			c, err = s.prepare(w, "step_"+id)
		default:
			c, err = s.ambiguous(w, "step_"+id, n)
		}
		if err != nil {
			return err
		}
		in.Calls = append(in.Calls, c)
	}
	return nil
}

// ambiguous makes the one failed call that stands for several calls with one key. None of those is made, because
// their results could not be distinguished. The other calls of the step are made.
func (s *step) ambiguous(w api.ToolCall, stepID string, n int) (turn.Call, error) {
	r := admission.Request{Key: w.Key, Step: stepID, Tool: w.Tool, Comment: w.Comment, Lang: w.Lang, From: w.From, To: w.To}
	return s.admission.Refuse(r, utp.CodeBadRequest, fmt.Sprintf(
		"%d calls of this step have the id %q, so their results could not be told apart; none of them was made. Give each an id of its own", n, store.Clip(w.Key, store.MaxName)))
}

// resume returns the status of a worker's turn: what it still waits for, and under which epoch and with which
// results it goes on. It changes nothing: results are applied when the last call ends.
func (k *Kernel) resume(ctx context.Context, from Caller, q api.TranscriptRequest) (api.ResumeAnswer, error) {
	a := api.ResumeAnswer{LeaseMS: milliseconds(k.o.WorkerLease)}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: q.Turn})
		if err != nil {
			return err
		}
		st := rec.State
		switch {
		case st.Agent != from.Name:
			return notYours()
		case st.Status == turn.Ended:
			a.Ended = true
			return nil
		case !st.Recognizes(workerClaim(from, q.WorkerRequest, st)):
			return api.NewFault(utp.CodeStale, "the turn is leased under another epoch; claim it again")
		}
		a.Step = st.Step
		if a.Waiting = st.Waiting(); a.Waiting > 0 {
			return nil
		}
		a.Epoch, a.Nonce = st.Epoch, st.Nonce
		a.TranscriptAnswer, err = transcriptFrom(tx, q)
		return err
	})
	return a, err
}

// apply appends the result of an ended call to the transcript, where the worker reads it.
func (s *step) apply(id string) {
	if c, _ := s.rec.State.Find(id); c.Outcome != nil {
		s.batch.Applied = append(s.batch.Applied, store.ResultRow{Key: c.Key, Call: c.ID, Tool: c.Tool, Card: c.Outcome.Card})
	}
}

// transcript reads applied results, for a worker that restarts.
func (k *Kernel) transcript(ctx context.Context, from Caller, q api.TranscriptRequest) (api.TranscriptAnswer, error) {
	var a api.TranscriptAnswer
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: q.Turn})
		if err != nil {
			return err
		}
		if rec.State.Agent != from.Name {
			return notYours()
		}
		a, err = transcriptFrom(tx, q)
		return err
	})
	return a, err
}

func transcriptFrom(tx store.Tx, q api.TranscriptRequest) (api.TranscriptAnswer, error) {
	rows, err := tx.Results(q.Turn, q.After, resultPage)
	if err != nil {
		return api.TranscriptAnswer{}, err
	}
	return transcriptPage(tx, rows, q.Args)
}

// transcriptPage fills a page up to what one message may hold.
func transcriptPage(tx store.Tx, rows []store.ResultRow, args bool) (api.TranscriptAnswer, error) {
	a := api.TranscriptAnswer{More: len(rows) == resultPage}
	room := api.InlineLimit
	before := ""
	for _, row := range rows {
		r, err := cards.Result(tx, row)
		if err == nil && args {
			r.Args, err = cards.ArgsOf(tx, row)
		}
		if err == nil && args && r.Step != before {
			r.StepData, err = cards.StepData(tx, r.Step)
		}
		before = r.Step
		if err != nil {
			return a, err
		}
		raw, err := json.Marshal(r)
		if err != nil {
			return a, store.Unexpected("a result", err)
		}
		if room -= len(raw); room < 0 && len(a.Results) > 0 {
			a.More = true
			return a, nil
		}
		a.Results = append(a.Results, r)
	}
	return a, nil
}

func (k *Kernel) deliver(ctx context.Context, from Caller, q api.DeliverRequest) (struct{}, error) {
	if err := checkDeliver(&q); err != nil {
		return struct{}{}, err
	}
	err := k.stepEnd(ctx, q.Turn, func(s *step) error {
		if s.rec.State.Agent != from.Name {
			return notYours()
		}
		if ended, err := s.adoptConclusive(); ended || err != nil {
			return err
		}
		s.notification.Summary, s.notification.Output, s.notification.Handoff = q.Summary, q.Output, q.Handoff
		s.notification.Lang = q.Lang
		s.notification.TextReported = s.rec.State.IsReported(q.Output)
		end, err := s.endOf(q)
		if err != nil {
			return err
		}
		return s.dispatch(turn.Deliver{WorkerClaim: workerClaim(from, q.WorkerRequest, s.rec.State), End: end})
	})
	if isCode(err, utp.CodeTurnEnded) { // the answer to the first delivery was lost
		err = nil
	}
	return struct{}{}, err
}

// checkDeliver fills in and validates an agent's result.
func checkDeliver(q *api.DeliverRequest) error {
	if !q.Status.Valid() {
		return api.NewFault(utp.CodeBadRequest, "a turn ends success, failed, canceled, timeout or partial")
	}
	if err := checkLang(q.Lang); err != nil {
		return err
	}
	if q.Handoff == nil {
		return nil
	}
	complete, err := q.Handoff.Complete()
	if err != nil {
		return api.NewFault(utp.CodeBadRequest, "the hand-off's "+err.Error())
	}
	q.Handoff = &complete
	return nil
}

// endOf makes the end of a turn from an agent's result, and saves the result's fields.
func (s *step) endOf(q api.DeliverRequest) (turn.End, error) {
	end := turn.End{Status: q.Status, Code: utp.Code(store.Clip(string(q.Code), store.MaxName)), Message: store.Clip(q.Summary, maxMessage)}
	if end.Completes() {
		unmet, err := s.admission.Unmet(len(q.Fields) > 0)
		if err != nil {
			return end, err
		}
		if unmet.Status != "" { // what the agent says of it is still told, and it hands nothing over
			s.notification.Handoff = nil
			return unmet, nil
		}
	}
	err := s.deliverable(q, &end)
	return end, err
}

func isCode(err error, code utp.Code) bool {
	var f *api.Fault
	return errors.As(err, &f) && f.Code == code
}

func milliseconds(d time.Duration) int { return int(d / time.Millisecond) }
