package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/schema"
)

// Source tells the tools of a service that come and go while it runs, such as those of a server of another protocol. It stays
// until ctx ends, and calls offer with all tools that there are: first of all, and whenever one has come, gone or changed.
//
// Offer returns when the kernel knows of each that is new or has changed, and they are served. A tool that is refused, by the
// kernel or for what is wrong with it, is left out; the error names each of them, joined, and the others are served. A call that
// was granted before ends with the tool as it was.
type Source func(ctx context.Context, offer Offer) error

// Offer takes all tools of a service, see [Source].
type Offer func(ctx context.Context, tools []Tool) error

// served is a tool that was completed and checked.
type served struct {
	Tool

	limit  time.Duration // of its calls; 0 is none
	digest string
}

// toolset is what a service serves at one time. It is not changed once it is served.
type toolset struct {
	tools  map[string]served
	offers []utp.Definition
}

// add takes in a tool under a name of its own.
func (all *toolset) add(t served) error {
	d := t.Definition
	if _, twice := all.tools[d.Tool]; twice {
		return fmt.Errorf("tool: %s is listed twice", d.Tool)
	}
	if all.tools == nil {
		all.tools = map[string]served{}
	}
	all.tools[d.Tool] = t
	all.offers = append(all.offers, d)
	return nil
}

// serving checks a tool, whose definition is completed here and not only at the kernel: what is
// wrong is told when the program starts.
func (s *Service) serving(t Tool) (served, error) {
	d, err := t.complete()
	if err != nil {
		return served{}, err
	}
	target, err := targetOf(d)
	if err != nil {
		return served{}, err
	}
	if s.target == "" {
		s.target = target
	}
	switch {
	case t.Run == nil:
		return served{}, fmt.Errorf("tool: %s has no Run", d.Tool)
	case target != s.target:
		return served{}, fmt.Errorf("tool: %s is a tool of the service %s, and others here of %s; each target has a service of its own", d.Tool, target, s.target)
	}
	if _, err := schema.Compile(d.Parameters); err != nil {
		return served{}, &utp.DefinitionError{Tool: d.Tool, Field: "parameters", Found: "refused: " + err.Error(), Expected: "a JSON Schema", Err: err}
	}
	one := served{Tool: t}
	if one.limit, err = limitOf(d); err != nil {
		return served{}, err
	}
	one.Definition = d
	one.digest, err = d.Digest()
	return one, err
}

// complete is the definition with what it leaves out, but for a class that nobody claims.
func (t Tool) complete() (utp.Definition, error) {
	d := t.Definition
	unclaimed := t.Unclaimed && d.Class == "" && d.Risk == ""
	d, err := Complete(d)
	if unclaimed && err == nil {
		d.Class, d.Risk = "", ""
		err = d.Validate()
	}
	return d, err
}

// register waits for the kernel to take a definition.
func (s *Service) register(ctx context.Context, d utp.Definition) error {
	if err := rpc.AskUntil(ctx, s.o.Conn, api.OpRegister, api.RegisterRequest{Definition: d}, nil); err != nil {
		return fmt.Errorf("tool: registering %s: %w", d.Tool, err)
	}
	return nil
}

// following is a source at work.
type following struct {
	stop  context.CancelFunc
	ended chan struct{} // nil where there is none
	err   error         // once it has ended
}

// follow has the source tell the tools.
func (s *Service) follow(ctx context.Context) *following {
	declared, stop := context.WithCancel(context.WithoutCancel(ctx))
	f := &following{stop: stop}
	if s.o.Source == nil {
		return f
	}
	f.ended = make(chan struct{})
	go func() {
		defer close(f.ended)
		f.err = s.o.Source(declared, s.offer)
	}()
	return f
}

// end ends the source and waits for it; by then no call is under way.
func (f *following) end() error {
	f.stop()
	if f.ended != nil {
		<-f.ended
	}
	return f.err
}

// offer implements [Offer]. What is served changes after the kernel knows of it, and a call takes its tool before it is
// started: whichever way the two meet, no tool runs on a consent for another one.
func (s *Service) offer(ctx context.Context, tools []Tool) error {
	before, now := s.known.Load(), &toolset{}
	var refused []error
	for _, t := range tools {
		one, err := s.serving(t)
		if d := one.Definition; err == nil && before.tools[d.Tool].digest != one.digest {
			err = s.register(ctx, d)
		}
		if err == nil {
			err = now.add(one)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			refused = append(refused, err)
			continue
		}
		s.stats.know(one.Definition.Tool)
	}
	s.known.Store(now)
	return errors.Join(refused...)
}
