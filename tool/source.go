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

// Source supplies the tools of a service that come and go while it runs, such as those of a server of another protocol.
// It runs until ctx ends. It calls offer with the complete list of tools at the start, and whenever a tool has been
// added, removed or changed.
//
// Offer returns once the kernel has registered the new and changed tools, and they are served. A tool that is invalid,
// or that the kernel refuses, is left out; the joined errors name each of them, and the others are served. A call that
// was granted before ends with the tool as it was.
type Source func(ctx context.Context, offer Offer) error

// Offer receives all tools of a service, see [Source].
type Offer func(ctx context.Context, tools []Tool) error

// served is a completed and validated tool.
type served struct {
	Tool

	limit  time.Duration // of a call; 0 means none
	digest string
}

// toolset is the set of tools that a service serves at a time. It is immutable once it is served.
type toolset struct {
	tools  map[string]served
	offers []utp.Definition
}

// add adds a tool with a unique name.
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

// serving completes and validates a tool here, not only in the kernel, so that errors appear when the program starts.
func (s *Service) serving(t Tool) (served, error) {
	d, err := t.complete()
	if err != nil {
		return served{}, err
	}
	target, err := d.Service()
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

// complete fills in what the definition omits, except an unclaimed class.
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

// register waits until the kernel accepts a definition.
func (s *Service) register(ctx context.Context, d utp.Definition) error {
	if err := rpc.AskUntil(ctx, s.o.Conn, api.OpRegister, api.RegisterRequest{Definition: d}, nil); err != nil {
		return fmt.Errorf("tool: registering %s: %w", d.Tool, err)
	}
	return nil
}

// following is a running source.
type following struct {
	stop  context.CancelFunc
	ended chan struct{} // nil if there is no source
	err   error         // set once it has ended
}

// follow starts the source.
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

// end ends the source and waits for it; no call is running by then.
func (f *following) end() error {
	f.stop()
	if f.ended != nil {
		<-f.ended
	}
	return f.err
}

// offer implements [Offer]. The served tools change only after the kernel has registered them, and a call looks up its
// tool before it is started. Whichever happens first, no tool runs on a consent for another one.
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
	s.announce(ctx, now)
	return errors.Join(refused...)
}

// announce tells the kernel which tools are served now, so that those that have gone are not offered any more. A kernel
// that does not know this still offers them, and a call of one ends here.
func (s *Service) announce(ctx context.Context, all *toolset) {
	q := api.ServesRequest{Tools: make([]string, 0, len(all.offers))}
	for _, d := range all.offers {
		q.Tools = append(q.Tools, d.Tool)
	}
	if err := rpc.AskUntil(ctx, s.o.Conn, api.OpServes, q, nil); err != nil {
		s.o.Logger.Info("which tools are served is not noted", "error", err)
	}
}
