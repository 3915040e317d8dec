package main

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel"
)

const (
	// policyPoll is how often the file of the rules is looked at beside the decisions that read
	// it themselves.
	policyPoll = time.Second
	// policySettle is how long a file has to stay as it is before what it makes looser counts,
	// and before anybody is told that it cannot be used: it may be half written.
	policySettle = time.Second
)

// livePolicy is the operator's file as it stands at each moment: every decision reads it. What
// it makes stricter counts at once, what it makes looser once the file has stayed as it is; a
// file that cannot be used changes nothing. It is safe for concurrent use.
type livePolicy struct {
	path string // named from the root; "" has no file, and never changes
	now  func() time.Time

	mu      sync.Mutex
	tools   []kernel.Tool // that no rule may allow where they are irreversible
	settled *kernel.Rules // those that count alone, once latest is the same
	latest  *kernel.Rules // as the file was last when it could be used
	raw     []byte        // the bytes of latest
	since   time.Time     // when they were first seen
	// trouble is why the file cannot be used as it is, since when, and its bytes.
	trouble  error
	troubled time.Time
	spoilt   []byte
}

// loadPolicy reads the operator's rules, and goes on reading them; without a file there are
// none.
func loadPolicy(path string) (*livePolicy, error) {
	rules, raw, err := readPolicy(path)
	if err != nil {
		return nil, usage(why(err), "see docs/policy.md for the form of the file")
	}
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return nil, failed(err, "the folder that this runs in is gone", "start it in another one")
		}
	}
	return &livePolicy{path: path, now: time.Now, settled: rules, latest: rules, raw: raw}, nil
}

// reviewed takes the tools that have been reviewed, and refuses rules that allow an
// irreversible one; those of a changed file, too.
func (p *livePolicy) reviewed(tools []kernel.Tool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools = tools
	return p.settled.CheckTools(tools)
}

// Decide implements [kernel.Policy].
func (p *livePolicy) Decide(agent string, t kernel.Tool) kernel.Ruling {
	p.mu.Lock()
	p.look()
	settled, latest := p.settled, p.latest
	p.mu.Unlock()
	ruling := settled.Decide(agent, t)
	if settled == latest {
		return ruling
	}
	return kernel.Strictest(t, ruling, latest.Decide(agent, t))
}

// look reads the file. Comparing its bytes costs no more than asking when it was written, and
// no clock is too coarse for it.
func (p *livePolicy) look() {
	if p.path == "" {
		return
	}
	raw, err := policyBytes(p.path)
	if err == nil && bytes.Equal(raw, p.raw) {
		if p.trouble != nil {
			p.trouble, p.spoilt, p.since = nil, nil, p.now()
		}
		return
	}
	if err == nil && p.spoilt != nil && bytes.Equal(raw, p.spoilt) {
		return
	}
	var rules *kernel.Rules
	if err == nil {
		if rules, err = parsePolicy(p.path, raw); err == nil {
			err = rules.CheckTools(p.tools)
		}
	}
	if err != nil {
		if p.trouble == nil {
			p.troubled = p.now()
		}
		p.trouble, p.spoilt = err, raw
		return
	}
	p.latest, p.raw, p.since = rules, raw, p.now()
	p.trouble, p.spoilt = nil, nil
}

// standing is how things stand with the file after a look at it.
type standing struct {
	changed bool  // other rules count from now on, and alone
	steady  bool  // those that the file holds count, and no others
	trouble error // the file cannot be used, and not only for a moment
}

// poll looks at the file, and lets its rules count alone once it has stayed as it is.
func (p *livePolicy) poll() standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look()
	now := p.now()
	if p.trouble != nil {
		if now.Sub(p.troubled) < policySettle {
			return standing{}
		}
		return standing{trouble: p.trouble}
	}
	if p.latest == p.settled {
		return standing{steady: true}
	}
	if now.Sub(p.since) < policySettle {
		return standing{}
	}
	p.settled = p.latest
	return standing{changed: true, steady: true}
}

// overseer does what follows a change of the rules.
type overseer struct {
	// rejudge has the rules judge what waits. It is called again where it fails.
	rejudge func(context.Context) error
	// broken tells that the file cannot be used, and mended that it can again.
	broken func(context.Context, error)
	mended func(context.Context)
}

// watch looks at the file until the context ends.
func (p *livePolicy) watch(ctx context.Context, o overseer) {
	if p.path == "" {
		return
	}
	ticker := time.NewTicker(policyPoll)
	defer ticker.Stop()
	told, due := "", false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s := p.poll()
		if due = due || s.changed; due {
			due = o.rejudge(ctx) != nil
		}
		switch {
		case s.trouble != nil && s.trouble.Error() != told:
			told = s.trouble.Error()
			o.broken(ctx, s.trouble)
		case s.steady && told != "":
			told = ""
			o.mended(ctx)
		}
	}
}

// overseer tells the operator on standard error of a server, in the log, and everybody who
// listens to an open turn; those are not told what is in the file.
func (m *Main) overseer(h *house, o houseOptions) overseer {
	say := func(line string) {
		o.log.Warn("policy", "says", line)
		if o.serves { // in a run there is one who listens
			m.tellf("%s", line)
		}
	}
	passed := func(err error) {
		if err != nil {
			o.log.Warn("policy", slog.Any("error", err))
		}
	}
	return overseer{
		rejudge: func(ctx context.Context) error {
			err := h.kernel.Rejudge(ctx)
			passed(err)
			return err
		},
		broken: func(ctx context.Context, trouble error) {
			say("Policy: " + oneLine(why(trouble)) + ". The rules that were read before stay in force. Mend the file; it is read again by itself.")
			passed(h.kernel.NoteAll(ctx, kernel.NoteRulesBroken))
		},
		mended: func(ctx context.Context) {
			say("Policy: " + oneLine(h.policy.path) + " can be read again, and counts.")
			passed(h.kernel.NoteAll(ctx, kernel.NoteRulesMended))
		},
	}
}
