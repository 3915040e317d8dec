package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/client"
)

// resultWait is how long open requests may take after the last event.
const resultWait = 2 * time.Second

// Options configure a terminal's input and output. Only Out is required.
type Options struct {
	// In provides the typed lines, at most 4 KiB each; nil means that nobody can answer here. The caller owns it, and
	// [Run] never closes it. A *os.File on Unix is only read when it is readable, so that Run leaves no goroutine
	// behind. With any other reader, a blocked Read may outlive Run: its goroutine touches nothing else, and ends when
	// the Read returns.
	In io.Reader
	// NoInput and Alone say why In is nil; see [Settings.NoInput].
	NoInput string
	Alone   bool
	// FlushInput discards what was typed and not yet read. It must be set if and only if In is a terminal; without it
	// In is a pipe, whose lines wait for their question.
	FlushInput func()
	// RawKeys makes the terminal send every key without echo, until restore. If it is set and succeeds, nothing is
	// printed inside a line that is being typed; otherwise the terminal itself edits and displays lines. It is called
	// once, and may only be set together with FlushInput.
	RawKeys func() (restore func(), err error)
	// InputEnded is called once, when no more answers can come from In.
	InputEnded func()

	Out    io.Writer // narration; required
	Prompt io.Writer // questions; Out when nil
	// JSON receives every event as one line of JSON, at once and complete.
	JSON io.Writer

	Width  func() int     // of the terminal in columns, called often; 80 if nil
	Zone   *time.Location // for times; UTC when nil
	Person string         // see [Settings.Person]
	// Verbosity is the length of the narration; see [Settings.Verbosity].
	Verbosity aaep.Verbosity
	// OneQuestion shows one question at a time; see [Settings.OneQuestion].
	OneQuestion bool
	// Away reports whether the connection is lost; see [Settings.Away].
	Away func() bool
	Now  func() time.Time // time.Now when nil
}

// Run narrates the port's events and sends typed commands to it, until the events end or ctx is done. Then it waits for
// everything that it started. It returns nil at the end of the events, otherwise the error of the events, of a writer,
// or of ctx. Running again is safe; nothing is answered twice.
func Run(ctx context.Context, o Options, port Port) error {
	o = o.withDefaults()

	restore, err := o.RawKeys()
	keys := err == nil

	if keys {
		defer restore()
	}

	_, prompts := port.(Prompter)
	_, permits := port.(Permitter)
	ctx, cancel := context.WithCancel(ctx)
	s := &shell{
		o: o, port: port, ctx: ctx, keys: keys,
		results: make(chan Result), asked: map[int]bool{},
		input: newInput(o.In, o.FlushInput, keys),
		machine: New(Settings{
			Zone: o.Zone, Person: o.Person, Verbosity: o.Verbosity, OneQuestion: o.OneQuestion, Away: o.Away,
			NoInput: o.NoInput, Alone: o.Alone,
			Typed: o.FlushInput != nil, Keys: keys, Prompts: prompts, Permits: permits,
		}),
	}

	defer s.wait()
	defer cancel()

	return s.run(ctx)
}

func (o Options) withDefaults() Options {
	if o.Prompt == nil {
		o.Prompt = o.Out
	}

	if o.Now == nil {
		o.Now = time.Now
	}

	if o.Width == nil {
		o.Width = func() int { return defaultWidth }
	}

	if o.RawKeys == nil {
		o.RawKeys = func() (func(), error) { return nil, errors.ErrUnsupported }
	}

	if o.InputEnded == nil {
		o.InputEnded = func() {}
	}

	if o.In == nil {
		o.In = strings.NewReader("")
	}

	return o
}

// shell owns the goroutines around one machine: one for the events, one for the input, and one for each open request.
// Only run touches machine.
type shell struct {
	o       Options
	port    Port
	machine *Terminal
	ctx     context.Context //nolint:containedctx // the life of one Run, for its requests

	input   *input
	keys    bool        // the terminal sends every key
	results chan Result // written by the requests, read by run
	pending int         // requests whose result has not been read
	// asked are the requests that cause events. These events are shown after the result of the request, unless that
	// takes longer than grace.
	asked map[int]bool
	grace <-chan time.Time
	tasks sync.WaitGroup
}

// received is what the goroutine of the events sends.
type received struct {
	delivered client.Event
	err       error
}

func (s *shell) run(ctx context.Context) error {
	events := s.listen(ctx)
	timer := time.NewTimer(0)

	defer timer.Stop()

	for {
		s.setTimer(timer)

		incoming := events
		if len(s.asked) > 0 && s.grace != nil {
			incoming = nil
		}

		lines := s.input.lines
		if !s.machine.Ready() {
			lines = nil
		}

		var err error

		select {
		case <-ctx.Done():
			return fmt.Errorf("terminal: %w", context.Cause(ctx))
		case h, more := <-incoming:
			if !more {
				return s.finish(ctx)
			}

			err = s.receive(h)
		case line, more := <-lines:
			err = s.read(line, more)
		case r := <-s.results:
			err = s.result(r)
		case <-s.grace:
			s.grace = nil
		case <-timer.C:
			err = s.apply(s.machine.Tick)
		}

		if err != nil {
			return err
		}
	}
}

// result processes the result of a request.
func (s *shell) result(r Result) error {
	s.pending--
	delete(s.asked, r.ID)

	return s.apply(func(now time.Time) []Effect { return s.machine.Result(now, r) })
}

// listen sends the events one by one; the channel closes after the last.
func (s *shell) listen(ctx context.Context) <-chan received {
	events := make(chan received)

	s.tasks.Go(func() {
		defer close(events)

		for delivered, err := range s.port.Events(ctx) {
			select {
			case events <- received{delivered, err}:
			case <-ctx.Done():
				return
			}

			if err != nil {
				return
			}
		}
	})

	return events
}

func (s *shell) receive(h received) error {
	if h.err != nil {
		return fmt.Errorf("terminal: events: %w", h.err)
	}

	if err := s.copyJSON(h.delivered); err != nil {
		return err
	}

	if h.delivered.Payload == nil {
		return nil
	}

	return s.apply(func(now time.Time) []Effect { return s.machine.Event(now, h.delivered.Event) })
}

func (s *shell) copyJSON(d client.Event) error {
	if s.o.JSON == nil {
		return nil
	}

	raw := d.Raw
	if raw == nil {
		var err error
		if raw, err = d.Forward(); err != nil {
			return fmt.Errorf("terminal: writing event %s: %w", d.ID, err)
		}
	}

	line := append(append(make([]byte, 0, len(raw)+1), raw...), '\n')
	if _, err := s.o.JSON.Write(line); err != nil {
		return fmt.Errorf("terminal: writing event %s: %w", d.ID, err)
	}

	return nil
}

// read processes one line, unless it was typed before a question for which it cannot be meant.
func (s *shell) read(line typedLine, more bool) error {
	if !more {
		return s.apply(s.machine.EndInput)
	}

	if !s.input.current(line) {
		return nil
	}

	return s.apply(func(now time.Time) []Effect {
		if s.keys {
			return s.machine.Keys(now, []byte(line.text))
		}

		return s.machine.Line(now, line.text)
	})
}

// finish waits for open requests after the last event. If the events ended because of ctx, that is not their regular
// end.
func (s *shell) finish(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("terminal: %w", context.Cause(ctx))
	}

	if err := s.apply(s.machine.Close); err != nil {
		return err
	}

	timer := time.NewTimer(resultWait)
	defer timer.Stop()

	for s.pending > 0 {
		select {
		case r := <-s.results:
			if err := s.result(r); err != nil {
				return err
			}
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("terminal: %w", context.Cause(ctx))
		}
	}

	return nil
}
