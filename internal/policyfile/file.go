// Package policyfile reads the operator's policy from its YAML file, strictly, and reloads it while it is in use, so
// that a change takes effect without a restart. Stricter rules take effect at once. Looser rules take effect once the
// file has been unchanged for a second. An invalid file changes nothing: it may be half written.
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
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/tool/settings"
)

const (
	// pollEvery is the polling interval, besides the decisions that read the file themselves, if there are no
	// notifications or a change has not been followed up completely.
	pollEvery = time.Second
	// pollSeldom is the polling interval in addition to notifications: a network file system may send none.
	pollSeldom = 10 * time.Second
	// quietTime is how long a file must be unchanged before looser rules take effect, and before it is reported as
	// invalid: it may be half written.
	quietTime = time.Second
)

// File is the operator's current file: every decision reads it. Stricter rules take effect at once, looser ones once
// the file has been unchanged for a while; an invalid file changes nothing. It is safe for concurrent use.
type File struct {
	Path string // absolute; "" means that there is no file

	now    func() time.Time
	notify func(path string) (*notifier, error)

	mu        sync.Mutex
	tools     []store.Tool    // that no rule may allow if they are irreversible
	confirmed *rulebook.Rules // those that apply alone, once latest is the same
	latest    *rulebook.Rules // the last valid rules of the file
	raw       []byte          // the bytes of latest
	since     time.Time       // when they were first seen
	// trouble is why the current file is invalid, with its first time and its bytes.
	trouble  error
	troubled time.Time
	spoilt   []byte
}

// Open reads the operator's rules, and reloads them later; without a file there are none.
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

// Reviewed sets the reviewed tools, and refuses rules that allow an irreversible one, now and after changes of the
// file.
func (p *File) Reviewed(tools []store.Tool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools = tools
	if err := p.confirmed.CheckTools(tools); err != nil {
		return err
	}
	return p.latest.CheckTools(tools)
}

// Decide implements the policy of a kernel.
func (p *File) Decide(agent string, t store.Tool) rulebook.Ruling {
	p.mu.Lock()
	p.check()
	confirmed, latest := p.confirmed, p.latest
	p.mu.Unlock()
	ruling := confirmed.Decide(agent, t)
	if confirmed == latest {
		return ruling
	}
	return rulebook.Strictest(t, ruling, latest.Decide(agent, t))
}

// check reads the file. Comparing its bytes costs no more than reading its modification time, and does not depend on
// the clock's resolution.
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
	var rules *rulebook.Rules
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

// standing is the state of the file after a check.
type standing struct {
	changed bool  // other rules apply from now on, and alone
	stable  bool  // only the rules in the file apply
	trouble error // the file is invalid, and not only for a moment
}

// poll checks the file, and lets its rules apply alone once it has been unchanged long enough.
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

// Observer reacts to changes of the rules.
type Observer struct {
	// Rejudge applies the rules to what waits. It is called again if it fails.
	Rejudge func(context.Context) error
	// Broken reports that the file is invalid, and Mended that it is valid again.
	Broken func(context.Context, error)
	Mended func(context.Context)
}

// Watch checks the file whenever it changes, until the context ends.
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

// watch is the state of the reactions to the checks of a file.
type watch struct {
	Observer

	reported string // the last reported problem of the file, until it is fixed
	due      bool   // the rules have not been applied to what waits
}

// follow reacts to a check. calm means that nothing is left to do until the next change.
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

// Decides reports whether the default of a question holds as soon as nobody who is connected can answer it, by the file as
// it is in force.
func (p *File) Decides() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.confirmed.Questions.WhenNobody == rulebook.Decide
}

// Text returns the file of the rules as it was last valid, nil without one, and why the file is invalid now.
func (p *File) Text() (raw []byte, trouble error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.check()
	return p.raw, p.trouble
}

// InForce returns the rules in their file; none without one.
func (p *File) InForce() ([]store.InForce, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Path == "" {
		return nil, nil
	}
	sum := sha256.Sum256(p.raw)
	return []store.InForce{{Subject: "rules", Digest: hex.EncodeToString(sum[:]), Detail: p.Path}}, nil
}
