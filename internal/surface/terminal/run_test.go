package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// port is the other side: what the test puts into its channels is what Run hears.
type port struct {
	events chan client.Event
	failed chan error
	// answer and stop take over Answer and Stop when they are set.
	answer func(ctx context.Context, a terminal.Answer) error
	stop   func(ctx context.Context) error

	mu   sync.Mutex
	said []string
}

func newPort() *port {
	return &port{events: make(chan client.Event), failed: make(chan error)}
}

func (p *port) Events(ctx context.Context) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		for {
			select {
			case d, more := <-p.events:
				if !more || !yield(d, nil) {
					return
				}
			case err := <-p.failed:
				yield(client.Event{}, err)

				return
			case <-ctx.Done():
				return
			}
		}
	}
}

func (p *port) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.said = append(p.said, text)
}

func (p *port) heard() string {
	p.mu.Lock()
	defer p.mu.Unlock()

	return strings.Join(p.said, "; ")
}

func (p *port) Answer(ctx context.Context, a terminal.Answer) error {
	p.note("answer " + strconv.Itoa(a.Question) + " " + a.Token + " " + string(a.Decision))

	if p.answer != nil {
		return p.answer(ctx, a)
	}

	return nil
}

func (p *port) Extend(_ context.Context, e terminal.Extend) error {
	p.note("extend " + e.Token)

	return nil
}

func (p *port) Stop(ctx context.Context, _ terminal.Stop) error {
	p.note("stop")

	if p.stop != nil {
		return p.stop(ctx)
	}

	return nil
}

func (p *port) Undo(context.Context, terminal.Undo) error {
	p.note("undo")

	return nil
}

func (p *port) Arguments(_ context.Context, r terminal.PageRequest) (terminal.Page, error) {
	p.note("page " + strconv.Itoa(r.Page))

	return terminal.Page{Number: 1, Pages: 1, Total: 1, Items: []terminal.Item{{Value: "a.txt", Note: "3 bytes"}}}, nil
}

// screen is a writer that many goroutines may look at.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	full error
	more chan struct{} // closed and replaced at each write
}

func newScreen() *screen { return &screen{more: make(chan struct{})} }

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.full != nil {
		return 0, s.full
	}

	close(s.more)
	s.more = make(chan struct{})

	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.text.String()
}

// waitFor returns once the screen shows text.
func (s *screen) waitFor(t *testing.T, text string) {
	t.Helper()

	for {
		s.mu.Lock()
		shown, more := s.text.String(), s.more
		s.mu.Unlock()

		if strings.Contains(shown, text) {
			return
		}

		select {
		case <-more:
		case <-time.After(3 * time.Minute):
			t.Fatalf("waited for %q, saw:\n%s", text, shown)
		}
	}
}

func delivered(number string, payload aaep.Payload) client.Event {
	return client.Event{Event: aaep.Event{
		ID: "evt_" + number, SessionID: "sess_1", Time: time.Now(), Producer: aaep.Producer{AgentID: "test"}, Payload: payload,
	}}
}

func started() client.Event {
	return delivered("1", aaep.SessionStarted{SummaryNormal: "Work begins."})
}

func question() client.Event {
	d := delivered("2", aaep.AwaitingConfirmation{
		Action: "Delete a.", Consequence: "Gone.", ReplyToken: "rpl_1", TimeoutSeconds: 60,
		DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskHigh, Irreversible: true,
	})
	d.Urgency = aaep.UrgencyCritical

	return d
}

func completed() client.Event {
	return delivered("3", aaep.SessionCompleted{SummaryNormal: "Over."})
}

// running is a Run in a goroutine of its own.
func running(ctx context.Context, o terminal.Options, p terminal.Port) <-chan error {
	done := make(chan error, 1)

	go func() { done <- terminal.Run(ctx, o, p) }()

	return done
}

func TestRunCarriesAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, out, prompt, raw := newPort(), newScreen(), newScreen(), newScreen()
		in, typed := io.Pipe()
		flushed := 0
		done := running(t.Context(), terminal.Options{
			In: in, Out: out, Prompt: prompt, JSON: raw, FlushInput: func() { flushed++ },
		}, p)

		first := started()
		first.Raw = []byte(`{"as":"it came"}`)
		p.events <- first

		write(t, typed, "accept\n") // before the question: nothing to accept
		synctest.Wait()
		p.events <- question()
		synctest.Wait()
		write(t, typed, "list\r\n")
		synctest.Wait()
		write(t, typed, "accept\n")
		synctest.Wait()

		if want := "page 1; answer 1 rpl_1 accept"; p.heard() != want || flushed != 1 {
			t.Errorf("the other side heard %q, want %q; %d flushes", p.heard(), want, flushed)
		}

		p.events <- completed()
		close(p.events)

		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}

		if want := "Started: Work begins.\nDone: Over.\n"; out.String() != want {
			t.Errorf("narration %q, want %q", out.String(), want)
		}

		for _, want := range []string{"No question is open.", "Question 1: Delete a.", "a.txt", "Understood: accept", "Recorded: question 1 is accepted."} {
			if !strings.Contains(prompt.String(), want) {
				t.Errorf("the prompt lacks %q:\n%s", want, prompt)
			}
		}

		lines := strings.Split(strings.TrimSpace(raw.String()), "\n")
		if len(lines) != 3 || lines[0] != `{"as":"it came"}` || !strings.Contains(lines[1], "awaiting.confirmation") {
			t.Errorf("JSON lines: %q", lines)
		}

		closeAll(t, typed, in)
	})
}

// TestRunStopOvertakesAnswer shows that a slow answer does not stand in the way.
func TestRunStopOvertakesAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, out := newPort(), newScreen()
		p.answer = func(ctx context.Context, _ terminal.Answer) error {
			<-ctx.Done()

			return ctx.Err()
		}
		in, typed := io.Pipe()
		done := running(t.Context(), terminal.Options{In: in, Out: out, FlushInput: func() {}}, p)
		p.events <- question()
		synctest.Wait()
		write(t, typed, "accept\n")
		synctest.Wait()
		write(t, typed, "stop\n")
		synctest.Wait()

		if want := "answer 1 rpl_1 accept; stop"; p.heard() != want || !strings.Contains(out.String(), "Recorded: stop.") {
			t.Errorf("heard %q, want %q\n%s", p.heard(), want, out)
		}

		// The events end while the answer is still under way: for a second they wait for
		// it, and then Run gives it two more.
		before := time.Now()

		close(p.events)

		if err := <-done; err != nil || time.Since(before) != 3*time.Second {
			t.Errorf("Run: %v after %v", err, time.Since(before))
		}

		if strings.Contains(out.String(), "Recorded: question 1 is accepted.") {
			t.Errorf("an answer that never arrived is said to be recorded:\n%s", out)
		}

		closeAll(t, typed, in)
	})
}

// TestRunWaitsForTheLastResult shows a result that comes after the last event.
func TestRunWaitsForTheLastResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, out := newPort(), newScreen()
		p.answer = func(context.Context, terminal.Answer) error {
			<-time.After(time.Second)

			return errors.New("too late")
		}
		done := running(t.Context(), terminal.Options{In: strings.NewReader("reject\n"), Out: out}, p)
		p.events <- question()
		synctest.Wait()
		close(p.events)

		if err := <-done; err != nil || !strings.Contains(out.String(), "Not recorded: reject question 1. Too late.") {
			t.Errorf("Run: %v\n%s", err, out)
		}
	})
}

// TestRunPipe shows that a pipe's lines wait for their question, and that its end
// takes away this terminal only after its answer has been recorded.
func TestRunPipe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, out := newPort(), newScreen()
		done := running(t.Context(), terminal.Options{
			In: strings.NewReader("accept"), Out: out, InputEnded: func() { p.note("input ended") },
		}, p)
		p.events <- started()
		synctest.Wait()
		p.events <- question()
		synctest.Wait()

		if want := "answer 1 rpl_1 accept; input ended"; p.heard() != want {
			t.Errorf("heard %q, want %q\n%s", p.heard(), want, out)
		}
		close(p.events)

		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestRunNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, out := newPort(), newScreen()
		done := running(t.Context(), terminal.Options{Out: out, InputEnded: func() { p.note("input ended") }}, p)
		synctest.Wait()
		p.events <- question()
		close(p.events)

		if err := <-done; err != nil || p.heard() != "input ended" || !strings.Contains(out.String(), "cannot be answered here") {
			t.Errorf("Run: %v, heard %q\n%s", err, p.heard(), out)
		}
	})
}

// TestRunNoInput: a flag by which nothing is read is named as the reason, once: at the end of a question that nobody can answer
// anywhere, and where others can, when it is asked.
func TestRunNoInput(t *testing.T) {
	t.Parallel()

	for alone, want := range map[bool]string{
		false: "Question 1 cannot be answered here, because of --no-input. Nobody answered question 1 in time, so it is not done.",
		true:  "Without an answer it is not done. Nobody could answer question 1, because of --no-input, so it is not done.",
	} {
		synctest.Test(t, func(t *testing.T) {
			p, out := newPort(), newScreen()
			done := running(t.Context(), terminal.Options{Out: out, NoInput: "--no-input", Alone: alone}, p)
			synctest.Wait()
			p.events <- question()
			expired := delivered("4", aaep.StateChanged{FromState: aaep.StateAwaitingInput, ToState: aaep.StateThinking})
			expired.Extensions = map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"question":1,"resolution":"expired"}`)}
			p.events <- expired
			close(p.events)

			if err := <-done; err != nil || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
				t.Errorf("alone %v: Run: %v\n%s", alone, err, out)
			}
		})
	}
}

// TestRunClock shows that the shell wakes the machine: progress is thinned out,
// the end of the time is announced.
func TestRunClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, out := newPort(), newScreen()
		done := running(t.Context(), terminal.Options{Out: out, Width: func() int { return 40 }}, p)

		for i := range 100 {
			percent := float64(i)
			d := delivered("p"+strconv.Itoa(i), aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent}})
			p.events <- d

			<-time.After(30 * time.Millisecond)
		}

		if n := strings.Count(out.String(), "Progress"); n != 1 {
			t.Errorf("three seconds of progress are %d lines, want 1:\n%s", n, out)
		}
		p.events <- question()

		<-time.After(41 * time.Second)

		if !strings.Contains(out.String(), "30 seconds left to answer question 1.\n") {
			t.Errorf("no warning:\n%s", out)
		}
		close(p.events)

		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestRunEndsWithItsCause(t *testing.T) {
	t.Parallel()

	broken, gone := errors.New("the pipe is broken"), errors.New("the connection is gone")
	full := newScreen()
	full.full = broken

	cases := map[string]struct {
		options terminal.Options
		act     func(p *port, cancel context.CancelFunc)
		want    error
	}{
		"cancelled":       {terminal.Options{Out: io.Discard}, func(_ *port, cancel context.CancelFunc) { cancel() }, context.Canceled},
		"events fail":     {terminal.Options{Out: io.Discard}, func(p *port, _ context.CancelFunc) { p.failed <- gone }, gone},
		"writer fails":    {terminal.Options{Out: full}, func(p *port, _ context.CancelFunc) { p.events <- started() }, broken},
		"prompt fails":    {terminal.Options{Out: io.Discard, Prompt: full}, func(p *port, _ context.CancelFunc) { p.events <- question() }, broken},
		"JSON fails":      {terminal.Options{Out: io.Discard, JSON: full}, func(p *port, _ context.CancelFunc) { p.events <- started() }, broken},
		"last line fails": {terminal.Options{Out: full, Prompt: io.Discard}, func(p *port, _ context.CancelFunc) { p.events <- question(); p.events <- started(); close(p.events) }, broken},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()

				p := newPort()
				done := running(ctx, c.options, p)
				c.act(p, cancel)

				if err := <-done; !errors.Is(err, c.want) {
					t.Errorf("Run: %v, want %v", err, c.want)
				}
			})
		})
	}
}

// Events that end because Run was cancelled are not the end of the events.
func TestCancelledEndsTheEvents(t *testing.T) {
	t.Parallel()

	for range 32 { // Run may notice either first
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()

			out := writing(func(text []byte) (int, error) {
				cancel()
				synctest.Wait()

				return len(text), nil
			})
			p := newPort()
			done := running(ctx, terminal.Options{Out: out}, p)
			p.events <- started()

			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Fatalf("Run: %v, want %v", err, context.Canceled)
			}
		})
	}
}

// writing is a writer that is one function.
type writing func(text []byte) (int, error)

func (w writing) Write(text []byte) (int, error) { return w(text) }

func write(t *testing.T, to io.Writer, text string) {
	t.Helper()

	if _, err := io.WriteString(to, text); err != nil {
		t.Error(err)
	}
}

func closeAll(t *testing.T, all ...io.Closer) {
	t.Helper()

	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRunTellsTheAnswerFirst: what a request brings about may be heard before it has
// been answered. It is told after "Recorded", but never long after it came.
func TestRunTellsTheAnswerFirst(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		takes time.Duration
		want  []string
	}{
		"soon": {300 * time.Millisecond, []string{"Understood: stop.", "Recorded: stop.", "Cancelled: Stopped."}},
		"late": {1500 * time.Millisecond, []string{"Understood: stop.", "Cancelled: Stopped.", "Recorded: stop."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, out := newPort(), newScreen()
				p.stop = func(context.Context) error {
					<-time.After(row.takes) // by the bubble's clock

					return nil
				}
				in, typed := io.Pipe()
				done := running(t.Context(), terminal.Options{In: in, Out: out}, p)
				p.events <- started()
				write(t, typed, "stop\n")
				synctest.Wait()
				p.events <- delivered("9", aaep.SessionCancelled{CancelledBy: aaep.CancelledByUser, CancellationReason: "stopped", SummaryNormal: "Stopped."})

				close(p.events)

				if err := <-done; err != nil {
					t.Error(err)
				}

				closeAll(t, typed, in)

				at := -1
				for _, text := range row.want {
					i := strings.Index(out.String(), text)
					if i < at || i < 0 {
						t.Errorf("%q is missing or too early:\n%s", text, out)
					}
					at = i
				}
			})
		})
	}
}
