package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// flushAfter is how long an unfinished sentence waits before it is sent.
	flushAfter = 250 * time.Millisecond
	// maxPending bounds the bytes of text that wait to be sent; beyond it, a write blocks.
	maxPending = 64 << 10
)

// Output returns a writer for text that the person receives while the planner plans, such as the output of a language
// model. The text is sent sentence by sentence; an unfinished sentence is sent after 250 ms. A restarted planner that
// writes the same text continues where sending stopped; a different text is sent from its beginning. Writes fail
// outside of planning, and once this worker no longer holds the turn. If ctx is not a planner's context, the text is
// discarded.
func Output(ctx context.Context) io.Writer { return OutputIn(ctx, "") }

// OutputIn returns a writer like that of [Output], for text in one language. The listener's voice and the direction of
// the text follow it. The language is a BCP 47 tag, such as es or pt-BR; "" says nothing about it. Writers of several
// languages write to one text, in the order of their writes. With a wrong tag, writes fail with an [*api.Fault].
func OutputIn(ctx context.Context, lang string) io.Writer {
	if h, is := ctx.Value(handKey{}).(*claimedTurn); is {
		return languageWriter{h.output, lang}
	}
	return io.Discard
}

// languageWriter writes text in one language.
type languageWriter struct {
	output *output
	lang   string
}

func (w languageWriter) Write(p []byte) (int, error) {
	if err := api.CheckLang(w.lang); err != nil {
		return 0, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return w.output.write(w.lang, p)
}

var errNotPlanning = errors.New("worker: text is written while the planner plans, and not before or after")

// output sends what is written, piece by piece, in a goroutine that lives from the first write of a step to the end of
// that step.
type output struct {
	send func(ctx context.Context, q api.AgentTextRequest) error
	life context.Context //nolint:containedctx // It is the life of the turn in hand, not of a call.

	mu       sync.Mutex
	drained  sync.Cond // signals that there is room, or an error; waited for under mu
	open     bool
	raw      []byte // the first bytes of an incomplete character
	rawLang  string // the language of raw
	text     pending
	since    time.Time
	reported api.ReportedText // what had been sent of the step before it began here
	known    bool             // whether the text is known to be the same as before
	at       api.AgentTextRequest
	err      error
	wake     chan struct{}
	done     chan struct{} // nil if there is no goroutine
}

func newOutput(life context.Context, send func(context.Context, api.AgentTextRequest) error) *output {
	o := &output{life: life, send: send}
	o.drained.L = &o.mu
	return o
}

// begin opens the output while a step is planned.
func (o *output) begin(step int, reported api.ReportedText) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if reported.Step != step {
		reported = api.ReportedText{}
	}
	o.open, o.reported, o.known = true, reported, reported.Bytes == 0
	o.at = api.AgentTextRequest{Step: step, Try: reported.Try}
	o.raw, o.text, o.err, o.done = nil, pending{}, nil, nil
	o.wake = make(chan struct{}, 1)
}

func (o *output) write(lang string, p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.open && o.err == nil && o.text.size > maxPending+int(o.reported.Bytes) {
		o.drained.Wait()
	}
	switch {
	case o.err != nil:
		return 0, o.err
	case !o.open:
		return 0, errNotPlanning
	case len(p) == 0:
		return 0, nil
	}
	if o.done == nil {
		o.done = make(chan struct{})
		go o.run(o.done)
	}
	if o.text.size == 0 {
		o.since = time.Now()
	}
	if lang != o.rawLang {
		o.endCharacter()
		o.rawLang = lang
	}
	o.raw = append(o.raw, p...)
	whole := len(o.raw) - unfinished(o.raw)
	o.text.add(lang, string(bytes.ToValidUTF8(o.raw[:whole], []byte("\uFFFD"))))
	o.raw = append(o.raw[:0], o.raw[whole:]...)
	signal(o.wake)
	return len(p), nil
}

// unfinished returns how many bytes at the end belong to an incomplete character.
func unfinished(raw []byte) int {
	for n := 1; n <= min(len(raw), utf8.UTFMax-1); n++ {
		if tail := raw[len(raw)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			break
		}
	}
	return 0
}

// endCharacter gives up the rest of an incomplete character.
func (o *output) endCharacter() {
	if len(o.raw) > 0 {
		o.text.add(o.rawLang, "\uFFFD")
		o.raw = nil
	}
}

// finish sends the rest and waits until it is sent.
func (o *output) finish() error {
	o.mu.Lock()
	o.open = false
	o.endCharacter()
	done := o.done
	o.drained.Broadcast()
	o.mu.Unlock()
	if done == nil {
		return nil
	}
	signal(o.wake)
	<-done
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// run sends pieces until the output is finished.
func (o *output) run(done chan struct{}) {
	defer close(done)
	for {
		text, wait, done := o.next()
		if done {
			return
		}
		if text.Text != "" {
			if err := o.send(o.life, text); err != nil {
				o.fail(err)
				return
			}
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-o.wake:
		case <-timer.C:
		case <-o.life.Done():
			timer.Stop()
			o.fail(context.Cause(o.life))
			return
		}
		timer.Stop()
	}
}

func (o *output) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
	o.drained.Broadcast()
}

// next removes the next piece from the text, or returns how long to wait for one.
func (o *output) next() (text api.AgentTextRequest, wait time.Duration, done bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const long = time.Hour // until it is woken
	if !o.known && !o.compare() {
		return text, long, !o.open
	}
	first, complete := o.text.first()
	n := sentenceCut(first.text)
	switch left := flushAfter - time.Since(o.since); {
	case n > 0:
	case first.text == "":
		return text, long, !o.open
	case complete || !o.open || o.text.size > maxPending:
		n = anyCut(first.text)
	case left > 0:
		return text, left, false
	default:
		if n = wordBoundary(first.text); n == 0 {
			return text, long, false
		}
	}
	text = o.at
	text.Text, text.Lang = first.text[:n], first.lang
	o.text.drop(n)
	o.at.From, o.since = o.at.From+int64(n), time.Now()
	o.drained.Broadcast()
	return text, 0, false
}

// compare checks, once there is enough text, whether it repeats what was already sent, and if so removes that part.
func (o *output) compare() bool {
	n := int(o.reported.Bytes)
	if o.text.size < n && o.open || o.text.size == 0 {
		return false
	}
	o.known = true
	if o.text.size >= n && api.AddSum(0, o.text.text()[:n]) == o.reported.Sum {
		o.text.drop(n)
		o.at.From = o.reported.Bytes
		o.drained.Broadcast()
		return true
	}
	o.at.Try++
	return true
}

func signal(wakeup chan struct{}) {
	select {
	case wakeup <- struct{}{}:
	default:
	}
}

// sendText asks the kernel to send a piece. If this worker no longer holds the turn, the planner's context ends.
func (h *claimedTurn) sendText(ctx context.Context, q api.AgentTextRequest) error {
	q.WorkerRequest = h.at
	err := h.ask(ctx, api.OpAgentText, q, nil)
	if err != nil && ctx.Err() == nil {
		h.lose(err)
	}
	return err
}
