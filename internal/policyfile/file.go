// Package policyfile is the operator's policy in its YAML file: read strictly, and read again while it is in use, so that a
// change counts without a restart. What it makes stricter counts at once. What it makes looser counts once the file has
// stayed as it is for a second, and a file that cannot be used changes nothing: it may be half written.
package policyfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/tool/settings"
)

const (
	// pollEvery is how often the file is looked at, beside the decisions that read it themselves, where nobody says when it
	// changes, and while something has yet to follow a change.
	pollEvery = time.Second
	// pollSeldom is how often where the system says it: a file system of another machine may say nothing.
	pollSeldom = 10 * time.Second
	// quietTime is how long a file has to stay as it is before what it makes looser counts,
	// and before anybody is told that it cannot be used: it may be half written.
	quietTime = time.Second
)

// File is the operator's file as it stands at each moment: every decision reads it. What
// it makes stricter counts at once, what it makes looser once the file has stayed as it is; a
// file that cannot be used changes nothing. It is safe for concurrent use.
type File struct {
	Path string // named from the root; "" has no file, and never changes

	now    func() time.Time
	notify func(path string) (*notifier, error)

	mu        sync.Mutex
	tools     []store.Tool  // that no rule may allow where they are irreversible
	confirmed *kernel.Rules // those that count alone, once latest is the same
	latest    *kernel.Rules // as the file was last when it could be used
	raw       []byte        // the bytes of latest
	since     time.Time     // when they were first seen
	// trouble is why the file cannot be used as it is, since when, and its bytes.
	trouble  error
	troubled time.Time
	spoilt   []byte
}

// Open reads the operator's rules, and goes on reading them; without a file there are
// none.
func Open(path string) (*File, error) {
	rules, raw, err := read(path)
	if err != nil {
		hint := "`earshot help policy` prints an example"
		if wrong, is := errors.AsType[*settings.Error](err); is && wrong.Hint != "" {
			hint = wrong.Hint
		}
		return nil, &cause.Error{Kind: cause.Usage, Message: cause.Of(err), Hint: hint, Err: err}
	}
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return nil, cause.Fail(err, "the folder that this runs in is gone", "start it in another one")
		}
	}
	return &File{Path: path, now: time.Now, notify: newNotifier, confirmed: rules, latest: rules, raw: raw}, nil
}

// Reviewed takes the tools that have been reviewed, and refuses rules that allow an
// irreversible one; those of a changed file, too.
func (p *File) Reviewed(tools []store.Tool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools = tools
	if err := p.confirmed.CheckTools(tools); err != nil {
		return err
	}
	return p.latest.CheckTools(tools)
}

// Decide implements [kernel.Policy].
func (p *File) Decide(agent string, t store.Tool) kernel.Ruling {
	p.mu.Lock()
	p.check()
	confirmed, latest := p.confirmed, p.latest
	p.mu.Unlock()
	ruling := confirmed.Decide(agent, t)
	if confirmed == latest {
		return ruling
	}
	return kernel.Strictest(t, ruling, latest.Decide(agent, t))
}

// check reads the file. Comparing its bytes costs no more than asking when it was written, and
// no clock is too coarse for it.
func (p *File) check() {
	if p.Path == "" {
		return
	}
	raw, err := bytesOf(p.Path)
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
		if rules, err = parse(p.Path, raw); err == nil {
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
	stable  bool  // those that the file holds count, and no others
	trouble error // the file cannot be used, and not only for a moment
}

// poll looks at the file, and lets its rules count alone once it has stayed as it is.
func (p *File) poll() standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.check()
	now := p.now()
	if p.trouble != nil {
		if now.Sub(p.troubled) < quietTime {
			return standing{}
		}
		return standing{trouble: p.trouble}
	}
	if p.latest == p.confirmed {
		return standing{stable: true}
	}
	if now.Sub(p.since) < quietTime {
		return standing{}
	}
	p.confirmed = p.latest
	return standing{changed: true, stable: true}
}

// Observer does what follows a change of the rules.
type Observer struct {
	// Rejudge has the rules judge what waits. It is called again where it fails.
	Rejudge func(context.Context) error
	// Broken tells that the file cannot be used, and Mended that it can again.
	Broken func(context.Context, error)
	Mended func(context.Context)
}

// Watch looks at the file whenever it changes, until the context ends.
func (p *File) Watch(ctx context.Context, o Observer) {
	if p.Path == "" {
		return
	}
	changes, err := p.notify(p.Path)
	if err == nil {
		defer changes.close()
	}
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	w := watch{Observer: o}
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-changes.wait():
		}
		calm := w.follow(ctx, p.poll())
		if calm && changes.renew() {
			timer.Reset(pollSeldom)
		} else {
			timer.Reset(pollEvery)
		}
	}
}

// watch is what has followed the looks at a file so far.
type watch struct {
	Observer

	reported string // what was told of the file last, until it is mended
	due      bool   // the rules have yet to judge what waits
}

// follow does what follows a look at the file. Calm is that nothing has to be done but on the next change.
func (w *watch) follow(ctx context.Context, s standing) (calm bool) {
	if w.due = w.due || s.changed; w.due {
		w.due = w.Rejudge(ctx) != nil
	}
	switch {
	case s.trouble != nil && s.trouble.Error() != w.reported:
		w.reported = s.trouble.Error()
		w.Broken(ctx, s.trouble)
	case s.stable && w.reported != "":
		w.reported = ""
		w.Mended(ctx)
	}
	return !w.due && (s.stable || s.trouble != nil)
}

// InForce are the rules as their file has them; none without one.
func (p *File) InForce() ([]store.InForce, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Path == "" {
		return nil, nil
	}
	sum := sha256.Sum256(p.raw)
	return []store.InForce{{Subject: "rules", Digest: hex.EncodeToString(sum[:]), Detail: p.Path}}, nil
}
