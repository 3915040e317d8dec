package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// claimedTurn is a claimed turn in the worker's hands.
type claimedTurn struct {
	w        *Worker
	at       api.WorkerRequest
	turn     Turn
	step     int
	reported api.ReportedText
	seen     int // results observed
	refused  int // results that were handed in and not taken
	lease    time.Duration
	renewed  time.Time
	planner  Planner
	output   *output
	wakeup   <-chan struct{}
	lose     context.CancelCauseFunc // ends the planner's context
	ended    bool                    // nothing is left to give back
	page     *api.TranscriptAnswer   // results that came with the last look; nil if none did
}

const (
	// renewals is how often a lease is renewed in its own time.
	renewals = 3
	// maxRefused is how often a result may lack what the turn requires.
	maxRefused = 5
	// atOnce is how long a planner may take before anybody looks after its turn: of one that
	// answers at once, a look would come too late.
	atOnce = 5 * time.Millisecond
	// leastLease is how long the ledger may be in trouble before a turn is left, however short
	// its lease.
	leastLease = 10 * time.Second
	// grace is how long giving a turn back may take at the end.
	grace = 2 * time.Second
)

var (
	// errEnded: the turn has ended meanwhile, by a stop for example.
	errEnded = errors.New("worker: the turn has ended")
	// errWentBack: the ledger knows nothing of the step that is waited for.
	errWentBack = errors.New("worker: the ledger has gone back to an earlier step; the turn is to be claimed again")
	// errLetGo: the turn waits for so long that its slot is of more use to another.
	errLetGo = errors.New("worker: the turn was let go while it waits")
)

// work runs one claimed turn to its end, or until something stands in the way.
func (w *Worker) work(ctx context.Context, a api.ClaimAnswer, slot string, wakeup <-chan struct{}) error {
	claimCtx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	h := &claimedTurn{
		w: w, at: a.WorkerRequest(slot), step: a.Step, reported: a.ReportedText, wakeup: wakeup, lose: lose,
		turn:  Turn{ID: a.Turn, Session: a.Session, ResultFields: a.ResultFields},
		lease: time.Duration(a.LeaseMS) * time.Millisecond, renewed: time.Now(),
	}
	h.output = newOutput(claimCtx, h.sendText)
	err := ignoreEnd(h.run(context.WithValue(claimCtx, handKey{}, h), a))
	if ctx.Err() != nil {
		h.release(ctx)
	}
	if cause := context.Cause(claimCtx); err != nil && claimCtx.Err() != nil && ctx.Err() == nil {
		return ignoreEnd(cause) // why the turn was lost says more than what came of it
	}
	return err
}

// run plans and waits by turns.
func (h *claimedTurn) run(ctx context.Context, a api.ClaimAnswer) error {
	err := h.guard(func() (err error) {
		h.planner, err = h.w.o.Agent.Plan(ctx, a.Args)
		if err == nil && h.planner == nil {
			err = errors.New("the agent's Plan gave no planner")
		}
		return err
	})
	if err != nil {
		return h.fail(ctx, utp.CodeBadRequest, err)
	}
	if a.Suspended {
		if err := h.await(ctx, false); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		if err := h.observe(ctx); err != nil {
			return err
		}
		move, err := h.plan(ctx)
		switch {
		case ctx.Err() != nil:
			return calledOff(ctx)
		case err != nil:
			return h.fail(ctx, utp.CodeInternalError, err)
		}
		if ends, err := h.apply(ctx, move); ends || err != nil {
			return err
		}
		if err := h.await(ctx, true); err != nil {
			return err
		}
	}
	return calledOff(ctx)
}

// ignoreEnd takes the turn's end for what it is: no failure of the worker.
func ignoreEnd(err error) error {
	if errors.Is(err, errEnded) || errors.Is(err, errLetGo) || rpc.Code(err, utp.CodeTurnEnded) || rpc.Code(err, utp.CodeStopped) {
		return nil
	}
	return err
}

// calledOff is why the planner's context has ended.
func calledOff(ctx context.Context) error {
	return fmt.Errorf("worker: called off: %w", context.Cause(ctx))
}

// guard runs what a planner does; its panic is its error.
func (h *claimedTurn) guard(plan func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			h.w.o.Logger.Error("the planner panicked", "turn", h.at.Turn, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("the planner panicked: %v", r)
		}
	}()
	return plan()
}

// plan asks for the next move, keeps the turn meanwhile, and tells what the planner writes.
func (h *claimedTurn) plan(ctx context.Context) (Decision, error) {
	stop := h.renewWhilePlanning(ctx)
	defer stop()
	h.output.begin(h.step+1, h.reported)
	var move Decision
	err := h.guard(func() (err error) {
		move, err = h.planner.Next()
		return err
	})
	if failure := h.output.finish(); failure != nil && err == nil {
		err = fmt.Errorf("what the planner wrote could not be told: %w", failure)
	}
	return move, err
}

// renewWhilePlanning renews the lease while the planner is at work, and ends its context as soon as the
// turn is not its any more. The keeper is gone when stop returns.
func (h *claimedTurn) renewWhilePlanning(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait(ctx, nil, atOnce)
		for ctx.Err() == nil {
			woken := wait(ctx, h.wakeup, max(0, h.lease/renewals-time.Since(h.renewed)))
			if ctx.Err() != nil {
				return
			}
			if err := h.check(ctx, woken); err != nil && ctx.Err() == nil {
				h.lose(err)
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// ask asks until there is an answer. Where the ledger cannot be read or written, and that does
// not pass within a lease, the turn is left: its slot is of more use to another one.
func (h *claimedTurn) ask(ctx context.Context, op string, request, into any) error {
	return rpc.AskWithin(ctx, h.w.o.Conn, max(h.lease, leastLease), op, request, into)
}

// check finds out, when it is woken, whether the turn goes on, and renews its lease in time.
func (h *claimedTurn) check(ctx context.Context, woken bool) error {
	if woken {
		var a api.ResumeAnswer
		if err := h.ask(ctx, api.OpResume, h.unseen(), &a); err != nil {
			return err
		}
		if a.Ended {
			return errEnded
		}
	}
	return h.renew(ctx)
}

func (h *claimedTurn) renew(ctx context.Context) error {
	if time.Since(h.renewed) < h.lease/renewals {
		return nil
	}
	h.renewed = time.Now()
	var a api.HeartbeatAnswer
	if err := h.ask(ctx, api.OpRenew, h.at, &a); err != nil {
		return err
	}
	return nil
}

// observe feeds the results that the planner has not seen.
func (h *claimedTurn) observe(ctx context.Context) error {
	for {
		page, err := h.results(ctx)
		if err != nil {
			return err
		}
		for _, r := range page.Results {
			result, err := h.result(ctx, r)
			if err != nil {
				return err
			}
			if r.Tool == utp.SubmitResult {
				h.refused++
			}
			if err := h.guard(func() error { return h.planner.Observe(result) }); err != nil {
				if err := h.fail(ctx, utp.CodeInternalError, err); err != nil {
					return err
				}
				return errEnded
			}
			h.seen++
		}
		if !page.More {
			return nil
		}
	}
}

func (h *claimedTurn) result(ctx context.Context, r api.CallResult) (Result, error) {
	out := Result{
		Key: r.Key, Call: r.Call, Tool: r.Tool, Status: r.Status, Code: r.Code, Message: r.Message, Step: r.Step,
	}
	var err error
	if out.Value, err = rpc.Fetch(ctx, h.w.o.Conn, r.Result); err != nil {
		return out, err
	}
	out.Args, err = rpc.Fetch(ctx, h.w.o.Conn, r.Args)
	return out, err
}

// apply does what the planner wants. It reports whether that has ended the turn.
func (h *claimedTurn) apply(ctx context.Context, m Decision) (ends bool, err error) {
	if m.Answer != nil && m.Handoff == nil && len(h.turn.ResultFields)+len(m.Answer.Fields) > 0 {
		fields, err := wireFields(m.Answer.Fields)
		if err != nil {
			return true, h.fail(ctx, utp.CodeInternalError, err)
		}
		alone := len(m.calls()) == 0
		good := m.Answer.Status == "" || m.Answer.Status == utp.StatusSuccess || m.Answer.Status == utp.StatusPartial
		if !alone || good && utp.CheckFields(h.turn.ResultFields, fields) != nil {
			return h.correct(ctx, *m.Answer, fields, alone)
		}
	}
	if err := m.check(); err != nil {
		return true, h.fail(ctx, utp.CodeBadRequest, err)
	}
	switch {
	case m.Answer != nil:
		return true, h.deliver(ctx, *m.Answer, nil)
	case m.Handoff != nil:
		return true, h.handOff(ctx, *m.Handoff)
	}
	if err := h.call(ctx, m); err != nil {
		return true, h.unmade(ctx, err)
	}
	return false, nil
}

func wireFields(fields []Field) ([]utp.Field, error) {
	var out []utp.Field
	for _, f := range fields {
		raw, err := json.Marshal(f.Value, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("the field %q of the planner's answer is not JSON: %w", f.Name, err)
		}
		out = append(out, utp.Field{Name: f.Name, Value: raw})
	}
	return out, nil
}

// correct gives an answer that cannot be taken back to the planner, as the failed result of
// a step of its own: it stands in the transcript, like everything that the planner goes by.
func (h *claimedTurn) correct(ctx context.Context, a Answer, fields []utp.Field, alone bool) (ends bool, err error) {
	if h.refused >= maxRefused {
		return true, h.fail(ctx, utp.CodeBadRequest, fmt.Errorf(
			"the agent has given %d results that cannot be taken: %w", h.refused+1, utp.CheckFields(h.turn.ResultFields, fields)))
	}
	key := a.Key
	if key == "" {
		key = fmt.Sprintf("%s %d", utp.SubmitResult, h.step+1)
	}
	args := struct {
		Fields   []utp.Field `json:"fields"`
		NotAlone bool        `json:"not_alone,omitzero"`
	}{fields, !alone}
	if err := h.call(ctx, Decision{Calls: []Call{{Key: key, Tool: utp.SubmitResult, Args: args}}}); err != nil {
		return true, h.unmade(ctx, err)
	}
	return false, nil
}

// results are the next ones that the planner has not seen.
func (h *claimedTurn) results(ctx context.Context) (api.TranscriptAnswer, error) {
	if page := h.page; page != nil {
		h.page = nil
		return *page, nil
	}
	var page api.TranscriptAnswer
	err := h.ask(ctx, api.OpTranscript, h.unseen(), &page)
	return page, err
}

// unseen asks for them; who writes a transcript wants the arguments as well.
func (h *claimedTurn) unseen() api.TranscriptRequest {
	_, args := h.planner.(*scribe)
	return api.TranscriptRequest{WorkerRequest: h.at, After: h.seen, Args: args}
}

func (h *claimedTurn) call(ctx context.Context, m Decision) error {
	request := api.CallRequest{WorkerRequest: h.at, Step: h.step + 1}
	left := api.InlineLimit // of the one message that carries them all
	for _, c := range m.calls() {
		out := api.ToolCall{Key: c.Key, Tool: c.Tool, Comment: c.Comment, From: c.From, To: c.To}
		if m.Question != nil && c.Tool == utp.AskPerson && c.Key == m.Question.Key {
			out.Question = m.Question.wire()
		} else {
			args, err := rpc.StoreWithin(ctx, h.w.o.Conn, c.Args, left)
			if err != nil {
				return err
			}
			left -= len(args.Inline)
			out.Args = args
		}
		request.Calls = append(request.Calls, out)
	}
	if err := h.ask(ctx, api.OpCall, request, nil); err != nil {
		return err
	}
	h.step++
	return nil
}

// unmade fails the turn when what the planner wants will never be taken. Anything else
// is left to anyone who claims the turn next.
func (h *claimedTurn) unmade(ctx context.Context, err error) error {
	switch {
	case refusedForGood(err):
		return h.fail(ctx, utp.CodeBadRequest, err)
	case rpc.Code(err, utp.CodeTooManyCalls): // it could take hours until there is room, and nobody would know why
		return h.fail(ctx, utp.CodeTooManyCalls, err)
	}
	return err
}

func refusedForGood(err error) bool {
	return errors.Is(err, rpc.ErrValue) || rpc.Code(err, utp.CodeBadRequest) || rpc.Code(err, utp.CodeTooLarge)
}

// await waits until the step's calls have ended and the turn runs again, and keeps
// the turn meanwhile, as long as a slot is to be kept for one that waits. Where they were
// only just asked for, it looks when it is woken, not before.
func (h *claimedTurn) await(ctx context.Context, asked bool) error {
	began, pace := time.Now(), h.w.pace(min(h.w.o.Idle, h.lease/renewals))
	if asked {
		h.rest(ctx, &pace, began)
	}
	for ctx.Err() == nil {
		var a api.ResumeAnswer
		if err := h.ask(ctx, api.OpResume, h.unseen(), &a); err != nil {
			return err
		}
		switch {
		case a.Ended:
			return errEnded
		case a.Step != h.step:
			return errWentBack
		case a.Waiting == 0:
			h.at.Epoch, h.at.Nonce, h.renewed = a.Epoch, a.Nonce, time.Now()
			if len(a.Results) > 0 { // a kernel may leave them to be asked for
				h.page = &a.TranscriptAnswer
			}
			return nil
		case h.w.o.Retain > 0 && time.Since(began) >= h.w.o.Retain:
			if err := h.ask(ctx, api.OpRelease, h.at, nil); err == nil {
				h.ended = true
				return errLetGo
			} else if !rpc.Code(err, utp.CodeStale) {
				return err
			}
			began = time.Now() // it runs again since, and resume tells; or it is to be waited for as before
			continue
		}
		h.rest(ctx, &pace, began)
		if err := h.renew(ctx); err != nil && !rpc.Code(err, utp.CodeStale) { // it may run again since; resume tells
			return err
		}
	}
	return calledOff(ctx)
}

// rest waits for a wakeup at a pace, and no longer than the turn keeps its place.
func (h *claimedTurn) rest(ctx context.Context, p *pace, began time.Time) {
	left := h.w.o.Retain - time.Since(began)
	if left <= 0 || left >= p.next {
		p.wait(ctx, h.wakeup)
		return
	}
	if wait(ctx, h.wakeup, left) {
		p.reset()
	}
}

// release lets go of the turn at the worker's end, so that another need not wait for the
// end of the lease. It is a courtesy, tried once.
func (h *claimedTurn) release(ctx context.Context) {
	if h.ended {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := ignoreEnd(rpc.Ask(ctx, h.w.o.Conn, api.OpRelease, h.at, nil)); err != nil {
		h.w.o.Logger.Info("turn not given back", "turn", h.at.Turn, "error", err)
	}
}

// fail ends the turn as failed, in the words of an error.
func (h *claimedTurn) fail(ctx context.Context, code utp.Code, err error) error {
	if ctx.Err() != nil {
		return calledOff(ctx) // the turn is another's to end
	}
	return h.deliver(ctx, Answer{Status: utp.StatusFailed, Code: code, Summary: err.Error()}, nil)
}

func (h *claimedTurn) handOff(ctx context.Context, m Handoff) error {
	out := &api.Handoff{Reason: m.Reason, To: m.To, URI: m.URI, Urgency: m.Urgency}
	if m.Context != nil {
		raw, err := json.Marshal(m.Context, json.Deterministic(true), jsontext.PreserveRawStrings(true))
		if err != nil {
			return h.fail(ctx, utp.CodeBadRequest, fmt.Errorf("the context of the planner's hand-off is not JSON: %w", err))
		}
		out.Context = raw
	}
	return h.deliver(ctx, Answer{Status: utp.StatusPartial, Summary: m.Summary, Output: m.Output}, out)
}

// deliver ends the turn with an answer, or, where that is not one that can be taken,
// says so in its place: a turn ends in any case.
func (h *claimedTurn) deliver(ctx context.Context, a Answer, handoff *api.Handoff) error {
	err := h.send(ctx, a, handoff)
	if refusedForGood(err) {
		why := fmt.Errorf("the agent's answer was refused: %w", err)
		err = h.send(ctx, Answer{Status: utp.StatusFailed, Code: utp.CodeInternalError, Summary: why.Error()}, nil)
	}
	if ignoreEnd(err) == nil {
		h.ended = true
	}
	return err
}

func (h *claimedTurn) send(ctx context.Context, a Answer, handoff *api.Handoff) error {
	fields, err := wireFields(a.Fields)
	if err != nil {
		return fmt.Errorf("%w: %w", rpc.ErrValue, err)
	}
	request := api.DeliverRequest{
		WorkerRequest: h.at, Status: a.Status, Code: a.Code, Summary: a.Summary, Output: a.Output, Fields: fields, Handoff: handoff,
	}
	if request.Status == "" {
		request.Status = utp.StatusSuccess
	}
	return h.ask(ctx, api.OpDeliver, request, nil)
}
