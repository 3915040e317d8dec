package worker

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// claimedTurn is a turn that this worker has claimed.
type claimedTurn struct {
	w        *Worker
	at       api.WorkerRequest
	turn     Turn
	step     int
	reported api.ReportedText
	seen     int // results observed
	refused  int // answers that were submitted and refused
	lease    time.Duration
	renewed  time.Time
	planner  Planner
	output   *output
	wakeup   <-chan struct{}
	lose     context.CancelCauseFunc // cancels the planner's context
	ended    bool                    // nothing is left to release
	page     *api.TranscriptAnswer   // results that came with the last poll; nil if there were none
	data     struct {                // of the step of the latest result
		step  string
		value jsontext.Value
	}
}

const (
	// renewals is how many times a lease is renewed within its duration.
	renewals = 3
	// maxRefused is how many times an answer may lack required fields.
	maxRefused = 5
	// atOnce is how long a planner may take before the worker starts to check its turn. A planner that answers faster
	// needs no check.
	atOnce = 5 * time.Millisecond
	// leastLease is the least time that ledger failures are retried before the turn is left, however short its lease.
	leastLease = 10 * time.Second
	// grace bounds the release of a turn when the worker ends.
	grace = 2 * time.Second
)

var (
	// errEnded means that the turn has ended meanwhile, for example because it was stopped.
	errEnded = errors.New("worker: the turn has ended")
	// errWentBack means that the ledger does not know the step that the worker waits for.
	errWentBack = errors.New("worker: the ledger has gone back to an earlier step; the turn is to be claimed again")
	// errLetGo means that the turn has waited so long that another turn gets its slot.
	errLetGo = errors.New("worker: the turn was let go while it waits")
)

// work runs one claimed turn until it ends or cannot continue.
func (w *Worker) work(ctx context.Context, a api.ClaimAnswer, slot string, wakeup <-chan struct{}) error {
	claimCtx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	h := &claimedTurn{
		w: w, at: a.WorkerRequest(slot), step: a.Step, reported: a.ReportedText, wakeup: wakeup, lose: lose,
		turn:  Turn{ID: a.Turn, Session: a.Session, ResultFields: a.ResultFields, Boxes: a.Boxes, Depth: a.Depth},
		lease: time.Duration(a.LeaseMS) * time.Millisecond, renewed: time.Now(),
	}
	h.output = newOutput(claimCtx, h.sendText)
	err := ignoreEnd(h.run(context.WithValue(claimCtx, handKey{}, h), a))
	if ctx.Err() != nil {
		h.release(ctx)
	}
	if cause := context.Cause(claimCtx); err != nil && claimCtx.Err() != nil && ctx.Err() == nil {
		return ignoreEnd(cause) // the reason for losing the turn is more useful than what followed
	}
	return err
}

// run alternates between planning and waiting.
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
	switch {
	case a.Suspended:
		if err := h.await(ctx, false); err != nil {
			return err
		}
	case a.Epoch == 1 && a.Step == 0: // its first worker finds no results
		h.page = &api.TranscriptAnswer{}
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

// ignoreEnd drops errEnded: the end of a turn is not a failure of the worker.
func ignoreEnd(err error) error {
	if errors.Is(err, errEnded) || errors.Is(err, errLetGo) || rpc.Code(err, utp.CodeTurnEnded) || rpc.Code(err, utp.CodeStopped) {
		return nil
	}
	return err
}

// calledOff returns why the planner's context has ended.
func calledOff(ctx context.Context) error {
	return fmt.Errorf("worker: called off: %w", context.Cause(ctx))
}

// guard runs the planner's code and turns a panic into an error.
func (h *claimedTurn) guard(plan func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			h.w.o.Logger.Error("the planner panicked", "turn", h.at.Turn, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("the planner panicked: %v", r)
		}
	}()
	return plan()
}

// plan asks for the next decision. Meanwhile it renews the lease and sends what the planner writes.
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
		err = fmt.Errorf("the planner's text could not be reported: %w", failure)
	}
	return move, err
}

// renewWhilePlanning renews the lease while the planner works, and ends its context as soon as the turn is lost. When
// stop returns, the renewing goroutine has ended.
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

// ask retries a request until there is an answer. If the ledger fails for longer than a lease, the turn is left and its
// slot is free for another.
func (h *claimedTurn) ask(ctx context.Context, op string, request, into any) error {
	return rpc.AskWithin(ctx, h.w.o.Conn, max(h.lease, leastLease), op, request, into)
}

// check finds out after a wakeup whether the turn continues, and renews its lease in time.
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

// observe passes new results to the planner.
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
	if r.Step != h.data.step {
		h.data.step, h.data.value = r.Step, nil
	}
	if h.data.value == nil {
		if h.data.value, err = rpc.Fetch(ctx, h.w.o.Conn, r.StepData); err != nil {
			return out, err
		}
	}
	out.Data = h.data.value
	if out.Value, err = rpc.Fetch(ctx, h.w.o.Conn, r.Result); err != nil {
		return out, err
	}
	out.Args, err = rpc.Fetch(ctx, h.w.o.Conn, r.Args)
	return out, err
}

// apply carries out the planner's decision. It reports whether that ended the turn.
func (h *claimedTurn) apply(ctx context.Context, m Decision) (ends bool, err error) {
	if m.Answer != nil && m.Handoff == nil && len(h.turn.ResultFields)+len(m.Answer.Fields) > 0 {
		fields, err := wireFields(m.Answer.Fields)
		if err != nil {
			return true, h.fail(ctx, utp.CodeInternalError, err)
		}
		alone := len(m.calls()) == 0
		good := m.Answer.Status == "" || m.Answer.Status == utp.StatusSuccess || m.Answer.Status == utp.StatusPartial
		if !alone || good && utp.CheckFields(h.turn.ResultFields, fields) != nil {
			return h.correct(ctx, *m.Answer, fields, m.Data, alone)
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

// correct returns an invalid answer to the planner as the failed result of a separate step, so that the transcript
// holds everything that the planner bases its decisions on.
func (h *claimedTurn) correct(ctx context.Context, a Answer, fields []utp.Field, data jsontext.Value, alone bool) (ends bool, err error) {
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
	if err := h.call(ctx, Decision{Calls: []Call{{Key: key, Tool: utp.SubmitResult, Args: args}}, Data: data}); err != nil {
		return true, h.unmade(ctx, err)
	}
	return false, nil
}

// results returns the next results that the planner has not seen.
func (h *claimedTurn) results(ctx context.Context) (api.TranscriptAnswer, error) {
	if page := h.page; page != nil {
		h.page = nil
		return *page, nil
	}
	var page api.TranscriptAnswer
	err := h.ask(ctx, api.OpTranscript, h.unseen(), &page)
	return page, err
}

// unseen requests the results that the planner has not seen. A plan function needs the arguments as well.
func (h *claimedTurn) unseen() api.TranscriptRequest {
	_, args := h.planner.(*scribe)
	return api.TranscriptRequest{WorkerRequest: h.at, After: h.seen, Args: args}
}

func (h *claimedTurn) call(ctx context.Context, m Decision) error {
	request := api.CallRequest{WorkerRequest: h.at, Step: h.step + 1}
	left := api.InlineLimit // of the one message that carries all fields
	if len(m.Data) > 0 {
		data, err := rpc.StoreWithin(ctx, h.w.o.Conn, m.Data, left)
		if err != nil {
			return err
		}
		left -= len(data.Inline)
		request.Data = data
	}
	for _, c := range m.calls() {
		out := api.ToolCall{Key: c.Key, Tool: c.Tool, Comment: c.Comment, Lang: c.Lang, From: c.From, To: c.To}
		if m.Question != nil && c.Tool == utp.AskPerson && c.Key == m.Question.Key {
			out.Question = m.Question.wire()
		} else {
			args, err := rpc.StoreWithin(ctx, h.w.o.Conn, asJSON(c.Args), left)
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

// asJSON takes bytes of any type as JSON, rather than as bytes to be encoded in base64.
func asJSON(args any) any {
	if v := reflect.ValueOf(args); v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return jsontext.Value(v.Bytes())
	}
	return args
}

// unmade fails the turn if the planner's decision can never be accepted. After any other error, the next worker that
// claims the turn continues it.
func (h *claimedTurn) unmade(ctx context.Context, err error) error {
	switch {
	case refusedForGood(err):
		return h.fail(ctx, utp.CodeBadRequest, err)
	case rpc.Code(err, utp.CodeTooManyCalls): // room might appear only after hours, without anyone knowing why
		return h.fail(ctx, utp.CodeTooManyCalls, err)
	}
	return err
}

func refusedForGood(err error) bool {
	return errors.Is(err, rpc.ErrValue) || rpc.Code(err, utp.CodeBadRequest) || rpc.Code(err, utp.CodeTooLarge)
}

// await waits until the step's calls have ended and the turn runs again, for at most Options.Retain, and renews the
// lease meanwhile. If the calls were only just requested, it polls only after a wakeup.
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
			if len(a.Results) > 0 { // a kernel may leave them for a separate request
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
			began = time.Now() // it has resumed since, and resume finds out; or it must wait as before
			continue
		}
		h.rest(ctx, &pace, began)
		if err := h.renew(ctx); err != nil && !rpc.Code(err, utp.CodeStale) { // it may have resumed since; resume finds out
			return err
		}
	}
	return calledOff(ctx)
}

// rest waits for a wakeup or the pace's next poll, but no longer than the turn may keep its slot.
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

// release gives the turn back when the worker ends, so that another need not wait for the lease to expire. It is
// optional, and tried once.
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

// fail ends the turn as failed, with the text of an error.
func (h *claimedTurn) fail(ctx context.Context, code utp.Code, err error) error {
	if ctx.Err() != nil {
		return calledOff(ctx) // another worker ends the turn
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

// deliver ends the turn with an answer. If the answer is invalid, the turn fails with that reason: it ends in any case.
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
		WorkerRequest: h.at, Status: a.Status, Code: a.Code, Summary: a.Summary, Output: a.Output, Lang: a.Lang, Fields: fields, Handoff: handoff,
	}
	if request.Status == "" {
		request.Status = utp.StatusSuccess
	}
	return h.ask(ctx, api.OpDeliver, request, nil)
}
