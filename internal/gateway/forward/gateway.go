package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// Server takes events; [client.Agent] implements it.
type Server interface {
	Ingest(ctx context.Context, owner string, events [][]byte) (api.Ingested, error)
	IngestReply(ctx context.Context, session, token string, wait time.Duration) (api.IngestReply, error)
}

// Options configure a [Gateway]. From, To, Notice and Save are required.
type Options struct {
	From *subscribe.Subscription
	To   Server
	// Owner is whose sessions they are; "" is the default of the server.
	Owner string
	// Cursor is where an earlier gateway to the same producer was, and Save stores where this one is.
	Cursor Cursor
	Save   func(Cursor) error
	// Notice is told, in a sentence, what the person at the gateway has to know.
	Notice func(string)
	// Record gets what the gateway does, for a program; by several goroutines, one after the other. Default: nobody.
	Record func(Record)
}

// Gateway carries events and answers. Use [New], and run it once.
type Gateway struct {
	o     Options
	tasks sync.WaitGroup // those that wait for an answer

	recording sync.Mutex // held while something is recorded

	telling sync.Mutex // guards told, and is taken also while mu is held
	told    map[string]bool

	mu     sync.Mutex // guards the cursor, and the latest questions that need no answer any more
	cursor Cursor
	over   []Question
}

// New returns a gateway.
func New(o Options) *Gateway {
	if o.Record == nil {
		o.Record = func(Record) {}
	}
	return &Gateway{o: o, told: map[string]bool{}, cursor: o.Cursor}
}

// pause is the time between two attempts, and replyWait how long one request waits for an answer.
const (
	pause     = time.Second
	replyWait = 50 * time.Second
)

// Run carries until the producer ends, or the context. It returns nil for both.
func (g *Gateway) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer g.tasks.Wait()
	defer cancel()
	for _, q := range g.o.Cursor.Questions {
		g.tasks.Go(func() { g.answer(ctx, q) })
	}
	for m, err := range g.o.From.Messages(ctx) {
		if ctx.Err() != nil {
			break
		}
		switch {
		case errors.Is(err, subscribe.ErrLost):
			g.o.Notice("Messages of the producer may be missing here: the connection to it was lost, and it cannot resume.")
			g.Connected(PeerProducer, StateIncomplete)
		case err != nil:
			return err
		default:
			if err := g.message(ctx, m.Raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// message passes a message on, and tries it until the server has it.
func (g *Gateway) message(ctx context.Context, raw []byte) error {
	switch kind, _ := aaep.Read(raw).Text("type"); kind {
	case aaep.TypeSubscriptionAccepted, aaep.TypeSubscriptionRejected, aaep.TypeSubscriptionClose:
		return nil
	case transport.TypeReplyRefused:
		why, _ := aaep.Read(raw).Text("error", "message")
		g.o.Notice("The producer did not take an answer: " + cmp.Or(strings.TrimRight(why, "."), "it does not say why") + ".")
		return nil
	}
	for told := false; ; {
		answer, err := g.o.To.Ingest(ctx, g.o.Owner, [][]byte{raw})
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end
		case err == nil && len(answer.Events) == 1 && answer.Events[0].Status != api.IngestStatusDeferred:
			if told {
				g.Connected(PeerServer, StateBack)
			}
			g.answered(ctx, answer.Events[0])
			return nil
		case err != nil && !away(err):
			return err
		case !told:
			told = true
			g.o.Notice("Earshot does not take events at the moment; the producer waits." + why(answer))
			g.Connected(PeerServer, StateLost)
		}
		if !wait(ctx, pause) {
			return nil
		}
	}
}

// why says why an event has to wait, where the server has said so, and what to do.
func why(answer api.Ingested) string {
	if len(answer.Events) == 0 || answer.Events[0].Error == nil {
		return ""
	}
	e := answer.Events[0].Error
	var text strings.Builder
	for _, sentence := range []string{e.Message, e.Hint} {
		if sentence = strings.TrimRight(sentence, "."); sentence != "" {
			text.WriteString(" " + strings.ToUpper(sentence[:1]) + sentence[1:] + ".")
		}
	}
	return text.String()
}

// away reports whether the server may come back, in contrast to one that refuses. While it is started again, its file is not there or names one
// that has gone.
func away(err error) bool {
	e, is := errors.AsType[*client.Error](err)
	return is && (e.Retry || e.Code == client.CodeUnreachable || e.Code == client.CodeUsage || e.Code == client.CodeStrange) || errors.Is(err, fs.ErrNotExist)
}

// answered processes what became of an event.
func (g *Gateway) answered(ctx context.Context, e api.IngestedEvent) {
	g.record(Record{Event: eventOf(e)})
	for _, f := range e.Findings {
		if f.Severity == string(aaep.SeverityError) {
			g.once(f.Rule+" "+f.Path, fmt.Sprintf("Finding in %.80q: %s at %s: %s", e.ID, f.Rule, f.Path, f.Message))
		}
	}
	if e.Error != nil {
		g.once(e.Session+" "+e.Error.Code, fmt.Sprintf("Not told: the event %.80q. %s.", e.ID, strings.TrimRight(e.Error.Message, ".")))
	}
	g.mu.Lock()
	before := g.cursor.After
	g.cursor.After = g.o.From.Position()
	q := Question{Session: e.Session, Token: e.Token, Number: e.Question}
	// Also one that the server had before: its word of that may have been lost.
	taken := e.Status == api.IngestStatusAccepted || e.Status == api.IngestStatusRepeated
	isNew := e.Token != "" && taken && !slices.Contains(g.over, q) && g.cursor.add(q)
	if isNew || g.cursor.After != before {
		g.save()
	}
	g.mu.Unlock()
	if isNew {
		g.tasks.Go(func() { g.answer(ctx, q) })
	}
}

// save stores the cursor. Its owner holds the lock.
func (g *Gateway) save() {
	if err := g.o.Save(g.cursor); err != nil {
		g.once("save", "Where the gateway is cannot be written down, so that after a restart it begins from now on: "+err.Error()+".")
	}
}

// maxTold bounds what is remembered.
const maxTold = 1000

// once tells something once.
func (g *Gateway) once(key, text string) {
	g.telling.Lock()
	known := g.told[key] || len(g.told) >= maxTold
	if !known {
		g.told[key] = true
	}
	g.telling.Unlock()
	if !known {
		g.o.Notice(text)
	}
}

// answer waits for the answer to a question, and gives it to the producer.
func (g *Gateway) answer(ctx context.Context, q Question) {
	for {
		r, err := g.o.To.IngestReply(ctx, q.Session, q.Token, replyWait)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && r.Outcome == "":
			continue
		case err == nil:
			g.reply(ctx, q, r)
			return
		case !away(err):
			g.o.Notice(fmt.Sprintf("Question %d has no answer that could be passed on: %s.", q.Number, strings.TrimRight(err.Error(), ".")))
			g.record(Record{Answer: q.ended("", err)})
			g.done(q)
			return
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

const (
	// replyTries is how often an answer that was not sent is tried.
	replyTries = 30
	// replyGrace is how long one that is being sent may take once the gateway ends: the producer may have it, and end because of it.
	replyGrace = 5 * time.Second
)

// reply gives an answer to the producer. One that was not sent, because there is no connection, is tried again: it was not heard.
func (g *Gateway) reply(ctx context.Context, q Question, r api.IngestReply) {
	defer g.done(q)
	if len(r.Reply) == 0 {
		g.record(Record{Answer: &Answer{Question: q.Number, Session: q.Session, Outcome: r.Outcome}}) // AAEP has no message for it
		return
	}
	var err error
	for range replyTries {
		if err = g.send(ctx, []byte(r.Reply)); err == nil {
			g.record(Record{Answer: q.ended(r.Outcome, nil)})
			return
		}
		if e, is := errors.AsType[*subscribe.Error](err); !is || e.Code != subscribe.CodeUnreachable || !wait(ctx, pause) {
			break
		}
	}
	g.record(Record{Answer: q.ended(r.Outcome, err)})
	g.o.Notice(fmt.Sprintf("The answer to question %d (%s) did not reach the producer: %s.", q.Number, r.Outcome, strings.TrimRight(err.Error(), ".")))
}

func (g *Gateway) send(ctx context.Context, raw []byte) error {
	ctx, cancel := graced(ctx)
	defer cancel()
	if kind, _ := aaep.Read(raw).Text("type"); kind == aaep.TypeClarificationReply {
		r, err := aaep.DecodeClarificationReply(raw)
		if err != nil {
			return err
		}
		r.SubscriptionID = "" // it is the producer's own
		return g.o.From.Clarify(ctx, r)
	}
	r, err := aaep.DecodeConfirmationReply(raw)
	if err != nil {
		return err
	}
	r.SubscriptionID = ""
	return g.o.From.Confirm(ctx, r)
}

// graced returns a context that ends a while after another one.
func graced(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(replyGrace, cancel) })
	return late, func() { stop(); cancel() }
}

// maxOver is how many questions that are over are remembered: a producer that resumes sends them again.
const maxOver = 100

// done ends the wait for an answer to a question.
func (g *Gateway) done(q Question) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cursor.remove(q)
	if g.over = append(g.over, q); len(g.over) > maxOver {
		g.over = slices.Delete(g.over, 0, 1)
	}
	g.save()
}

// wait waits, and reports whether the context has not ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
