package policyfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	allowPaint = "rules:\n  - {tool: paint, decide: allow}\n"
	askPaint   = "rules:\n  - {tool: paint, decide: ask}\n"
	denyPaint  = "rules:\n  - {tool: paint, decide: deny}\n"
)

// lawbook is a policy file that somebody writes while it is in use, in virtual time.
type lawbook struct {
	t      *testing.T
	path   string
	policy *File
}

func withPolicy(t *testing.T, text string, play func(*testing.T, *lawbook)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &lawbook{t: t, path: filepath.Join(t.TempDir(), "policy.yaml")}
		o.writes(text)
		var err error
		if o.policy, err = Open(o.path); err != nil {
			t.Fatal(err)
		}
		o.policy.notify = silent // what the system says comes in real time
		play(t, o)
	})
}

// silent is a system that does not say when a file changes.
func silent(string) (*notifier, error) { return nil, errors.ErrUnsupported }

func (o *lawbook) writes(text string) {
	o.t.Helper()
	if err := os.WriteFile(o.path, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

func (o *lawbook) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// links puts a link in the place of the file.
func (o *lawbook) links(target string) {
	o.t.Helper()
	o.must(os.Symlink(target, o.path+".link"))
	o.must(os.Rename(o.path+".link", o.path))
}

func (o *lawbook) decides(want turn.Decision) {
	o.t.Helper()
	paint := store.Tool{Definition: utp.Definition{Tool: "paint", Class: utp.Reversible, Risk: utp.RiskHigh}, Reviewed: true, Class: utp.Reversible, Risk: utp.RiskHigh}
	if got := o.policy.Decide("tidy", paint).Decision; got != want {
		o.t.Errorf("it decides %s; want %s", got, want)
	}
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestPolicyStricterAtOnce: what the file makes stricter counts in the instant in which it is
// written, what it makes looser once the file has stayed as it is.
func TestPolicyStricterAtOnce(t *testing.T) {
	t.Parallel()
	withPolicy(t, allowPaint, func(_ *testing.T, o *lawbook) {
		o.decides(turn.Allow)
		o.writes(askPaint)
		o.decides(turn.Ask)
		o.writes(denyPaint)
		o.decides(turn.Deny)
		o.policy.poll()
		pass(quietTime)
		o.policy.poll()
		o.decides(turn.Deny)
		o.writes(allowPaint)
		o.decides(turn.Deny)
		o.policy.poll()
		pass(quietTime - time.Millisecond)
		o.policy.poll()
		o.decides(turn.Deny)
		pass(time.Millisecond)
		o.policy.poll()
		o.decides(turn.Allow)
	})
}

// TestPolicyRewritten: the same size at the same time is another file all the same.
func TestPolicyRewritten(t *testing.T) {
	t.Parallel()
	withPolicy(t, "rules: [{tool: paint, decide: ask }]\n", func(t *testing.T, o *lawbook) {
		before, err := os.Stat(o.path)
		if err != nil {
			t.Fatal(err)
		}
		o.writes("rules: [{tool: paint, decide: deny}]\n")
		if err := os.Chtimes(o.path, before.ModTime(), before.ModTime()); err != nil {
			t.Fatal(err)
		}
		o.decides(turn.Deny)
	})
}

// TestPolicyExchanged: whatever takes the place of the file counts in that instant.
func TestPolicyExchanged(t *testing.T) {
	t.Parallel()
	for name, exchange := range map[string]func(o *lawbook){
		"another file": func(o *lawbook) {
			o.must(os.WriteFile(o.path+".new", []byte(denyPaint), 0o600))
			o.must(os.Rename(o.path+".new", o.path))
		},
		"a link": func(o *lawbook) {
			o.must(os.WriteFile(o.path+".new", []byte(denyPaint), 0o600))
			o.links(o.path + ".new")
		},
		"its folder": func(o *lawbook) {
			dir := filepath.Dir(o.path)
			o.must(os.Mkdir(dir+".new", 0o700))
			o.must(os.WriteFile(filepath.Join(dir+".new", filepath.Base(o.path)), []byte(denyPaint), 0o600))
			o.must(os.Rename(dir, dir+".old"))
			o.must(os.Rename(dir+".new", dir))
		},
		"its folder, made again": func(o *lawbook) {
			o.must(os.RemoveAll(filepath.Dir(o.path)))
			o.decides(turn.Ask)
			o.must(os.Mkdir(filepath.Dir(o.path), 0o700))
			o.decides(turn.Ask)
			o.writes(denyPaint)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withPolicy(t, askPaint, func(_ *testing.T, o *lawbook) {
				o.decides(turn.Ask)
				exchange(o)
				o.decides(turn.Deny)
			})
		})
	}
}

// TestPolicyGrows: a file that is longer when it is read than when it was opened is too long, too, and not cut off.
func TestPolicyGrows(t *testing.T) {
	t.Parallel()
	if raw, err := within(strings.NewReader(strings.Repeat("#", maxSize))); err != nil || len(raw) != maxSize {
		t.Errorf("at the limit: %d bytes, %v", len(raw), err)
	}
	if raw, err := within(strings.NewReader(strings.Repeat("#", maxSize+1))); err == nil {
		t.Errorf("beyond the limit: %d bytes, no error", len(raw))
	}
}

// TestReviewedAfterAChange: the rules of a file that was changed since the start are held against the tools, too.
func TestReviewedAfterAChange(t *testing.T) {
	t.Parallel()
	withPolicy(t, askPaint, func(t *testing.T, o *lawbook) {
		burn := store.Tool{Definition: utp.Definition{Tool: "burn"}, Reviewed: true, Class: utp.Irreversible, Risk: utp.RiskHigh}
		o.writes("rules:\n  - {tool: burn, decide: allow}\n")
		o.decides(turn.Ask) // it is read
		if err := o.policy.Reviewed([]store.Tool{burn}); err == nil {
			t.Error("a rule that allows what cannot be undone was taken")
		}
	})
}

// TestPolicySpoilt: a file that cannot be used changes nothing, however long it stays so, and
// counts again by itself once it is mended.
func TestPolicySpoilt(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*lawbook){
		"no YAML":              func(o *lawbook) { o.writes("rules: [}\n") },
		"cut off in a rule":    func(o *lawbook) { o.writes(denyPaint[:len(denyPaint)-4]) },
		"cut off before rules": func(o *lawbook) { o.writes(denyPaint[:len("rules:\n")]) },
		"questions only":       func(o *lawbook) { o.writes("questions: {when_nobody: decide}\n") },
		"an unknown word":      func(o *lawbook) { o.writes("questions: {when_nobody: yes}\n" + denyPaint) },
		"empty":                func(o *lawbook) { o.writes("") },
		"a misspelt word":      func(o *lawbook) { o.writes("rules:\n  - {tool: paint, decide: dny}\n") },
		"an unknown member":    func(o *lawbook) { o.writes("rules:\n  - {tol: paint, decide: deny}\n") },
		"two documents":        func(o *lawbook) { o.writes(denyPaint + "---\n" + denyPaint) },
		"too large":            func(o *lawbook) { o.writes(strings.Repeat("#", maxSize) + "\n" + denyPaint) },
		"missing":              func(o *lawbook) { _ = os.Remove(o.path) },
		"a link to nothing":    func(o *lawbook) { o.links(filepath.Join(filepath.Dir(o.path), "nothing")) },
		"a link to itself":     func(o *lawbook) { o.links(o.path) },
		"a device":             func(o *lawbook) { o.links(os.DevNull) },
		"its folder is gone":   func(o *lawbook) { o.must(os.RemoveAll(filepath.Dir(o.path))) },
		"not text":             func(o *lawbook) { o.writes("rules:\n  - {tool: \"p\xff\", decide: deny}\n") },
		"a folder":             func(o *lawbook) { _, _ = os.Remove(o.path), os.Mkdir(o.path, 0o700) },
		"allows too much": func(o *lawbook) {
			o.writes("rules:\n  - {tool: burn, decide: allow}\n  - {tool: paint, decide: deny}\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withPolicy(t, askPaint, func(t *testing.T, o *lawbook) {
				burn := store.Tool{Definition: utp.Definition{Tool: "burn"}, Reviewed: true, Class: utp.Irreversible, Risk: utp.RiskHigh}
				if err := o.policy.Reviewed([]store.Tool{burn}); err != nil {
					t.Fatal(err)
				}
				spoil(o)
				o.decides(turn.Ask)
				pass(quietTime)
				for range 3 {
					if s := o.policy.poll(); s.trouble == nil || s.changed || s.stable {
						t.Errorf("it stands as %+v", s)
					}
					o.decides(turn.Ask)
					pass(time.Minute)
				}
				_ = os.Remove(o.path)
				o.must(os.MkdirAll(filepath.Dir(o.path), 0o700))
				o.writes(denyPaint)
				o.decides(turn.Deny)
				pass(quietTime)
				if s := o.policy.poll(); !s.changed || !s.stable || s.trouble != nil {
					t.Errorf("mended, it stands as %+v", s)
				}
			})
		})
	}
}

// TestPolicyHalfWritten: of a file that is written in two pieces, the first can be read by
// itself. Until it is whole nothing is looser than before, and nobody is alarmed.
func TestPolicyHalfWritten(t *testing.T) {
	t.Parallel()
	const whole = "rules:\n  - {tool: mail, decide: ask}\n  - {tool: paint, decide: deny}\n  - {tool: \"*\", decide: allow}\n"
	withPolicy(t, denyPaint, func(t *testing.T, o *lawbook) {
		for end := range len(whole) {
			o.writes(whole[:end])
			o.decides(turn.Deny)
			if s := o.policy.poll(); s.trouble != nil || s.changed {
				t.Errorf("after %d bytes it stands as %+v", end, s)
			}
			pass(time.Millisecond)
		}
		o.writes(whole)
		pass(quietTime)
		o.policy.poll()
		pass(quietTime)
		if s := o.policy.poll(); !s.stable {
			t.Errorf("whole, it stands as %+v", s)
		}
		o.decides(turn.Deny)
	})
}

// heardOf is what an overseer was told, in its order.
type heardOf struct {
	mu    sync.Mutex
	lines []string
	fail  int // how often rejudging fails
}

func (h *heardOf) says(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
}

func (h *heardOf) are(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.lines, want) {
		t.Errorf("told: %q; want %q", h.lines, want)
	}
	h.lines = nil
}

func (h *heardOf) observer() Observer {
	return Observer{
		Rejudge: func(context.Context) error {
			h.says("rejudged")
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.fail--; h.fail >= 0 {
				return errors.New("the ledger is busy")
			}
			return nil
		},
		Broken: func(_ context.Context, err error) {
			h.says("broken: " + err.Error()[strings.LastIndex(err.Error(), " ")+1:])
		},
		Mended: func(context.Context) { h.says("mended") },
	}
}

// TestPolicyWatched: a change is acted on within two seconds, once, and again where that
// failed; trouble is told once, and so is its end.
func TestPolicyWatched(t *testing.T) {
	t.Parallel()
	withPolicy(t, askPaint, func(t *testing.T, o *lawbook) {
		ctx, stop := context.WithCancel(t.Context())
		var told heardOf
		done := make(chan struct{})
		go func() {
			defer close(done)
			o.policy.Watch(ctx, told.observer())
		}()
		defer func() {
			stop()
			<-done
		}()
		const soon = pollEvery + quietTime + time.Millisecond
		pass(time.Minute)
		told.are(t)
		o.writes(denyPaint)
		pass(soon)
		told.are(t, "rejudged")
		pass(time.Minute)
		told.are(t)
		o.writes("")
		pass(soon)
		told.are(t, "broken: []")
		pass(time.Minute)
		told.are(t)
		if err := os.Remove(o.path); err != nil {
			t.Fatal(err)
		}
		pass(soon)
		told.are(t, "broken: directory")
		told.fail = 2
		o.writes(askPaint)
		pass(soon + 2*pollEvery)
		told.are(t, "rejudged", "mended", "rejudged", "rejudged")
		o.writes("")
		pass(quietTime / 2)
		o.writes(askPaint)
		pass(time.Minute)
		told.are(t)
	})
}

// TestNoPolicy: without a file nothing is watched, and the rules are those of the tools.
func TestNoPolicy(t *testing.T) {
	t.Parallel()
	p, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	p.Watch(t.Context(), Observer{}) // ends by itself
	if s := p.poll(); !s.stable || s.changed || s.trouble != nil {
		t.Errorf("it stands as %+v", s)
	}
}
