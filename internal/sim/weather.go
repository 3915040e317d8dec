package sim

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// weather is what may go wrong in one run. The numbers are chances for each occasion.
type weather struct {
	until    time.Duration
	drop     float64 // a message is lost
	again    float64 // a message comes twice
	late     float64 // a message comes later than those behind it
	unsent   float64 // a kernel cannot publish
	store    float64 // a transaction fails, before or after its commit
	crash    float64 // a process dies while it waits
	every    time.Duration
	restores bool
	kinds    []string
	ceased   atomic.Bool
}

// winds are the kinds of weather.
func winds() []string {
	return []string{crash, absent, pause, cut, clockSet, suspend, reboot, restore, upgrade, reflected}
}

const (
	crash     = "a process dies"
	absent    = "a process is gone for long"
	pause     = "a process is paused"
	cut       = "a process is cut off"
	clockSet  = "the time of day is set"
	suspend   = "the machine is suspended"
	reboot    = "the machine boots again"
	restore   = "the ledger is restored from a backup"
	upgrade   = "tools have new definitions"
	reflected = "commands come that no kernel has sent"
)

// draw makes the weather of a seed: some runs are calm, some have one kind of trouble, some
// have everything.
func (w *world) draw() {
	x := w.weather
	x.until = 30*time.Second + w.upTo(3*time.Minute)
	part := func(most float64) float64 {
		if w.rand.IntN(3) == 0 {
			return 0
		}
		return most * w.rand.Float64()
	}
	if w.rand.IntN(20) == 0 {
		return
	}
	x.drop, x.again, x.late = part(0.2), part(0.2), part(0.2)
	x.unsent, x.store, x.crash = part(0.1), part(0.08), part(0.01)
	x.every = time.Second + w.upTo(15*time.Second)
	for _, kind := range winds() {
		if w.rand.IntN(2) == 0 {
			x.kinds = append(x.kinds, kind)
		}
	}
	x.restores = slices.Contains(x.kinds, restore)
}

// happens draws a chance.
func (w *world) happens(chance float64) bool {
	return chance > 0 && !w.weather.ceased.Load() && w.rand.Float64() < chance
}

// upTo draws a time.
func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.rand.Int64N(int64(d))) }

// absence is how long a dead process stays away.
func (w *world) absence() time.Duration {
	if w.rand.IntN(4) == 0 {
		return w.upTo(100 * time.Second)
	}
	return w.upTo(5 * time.Second)
}

// blow is one piece of weather, and the next one.
func (w *world) blow() {
	if w.weather.ceased.Load() {
		return
	}
	kind := w.weather.kinds[w.rand.IntN(len(w.weather.kinds))]
	w.count.weather[kind]++
	w.sayf("weather: %s", kind)
	p := w.anyone()
	switch kind {
	case crash:
		w.kill(p, w.upTo(5*time.Second))
	case absent:
		w.kill(p, w.upTo(100*time.Second))
	case pause:
		p.paused = time.Now().Add(w.upTo(90 * time.Second))
	case cut:
		p.cut = time.Now().Add(w.upTo(60 * time.Second))
	case clockSet:
		w.clock.set(time.Duration(w.rand.IntN(3)-1) * time.Hour)
	case suspend:
		w.clock.suspend(w.upTo([]time.Duration{time.Minute, time.Hour, 48 * time.Hour}[w.rand.IntN(3)]))
	case reboot:
		w.stopAll(func(at *position) bool { return at.kind != hubKind })
		w.clock.reboot()
	case restore:
		w.goBack()
	case upgrade:
		w.version++
		w.stopAll(func(at *position) bool { return at.kind == toolKind && w.rand.IntN(2) == 0 })
	case reflected:
		w.reflect()
	}
	w.after(w.upTo(2*w.weather.every), "weather", w.blow)
}

// anyone is a process that may be struck: a person is none.
func (w *world) anyone() *process {
	for {
		if at := w.positions[w.rand.IntN(len(w.positions))]; at.kind != hubKind {
			return at.now
		}
	}
}

func (w *world) stopAll(which func(*position) bool) {
	for _, at := range w.positions {
		if which(at) {
			w.kill(at.now, w.upTo(5*time.Second))
		}
	}
}

// goBack is the operator's mistake: all kernels are stopped, and a backup is put in the place
// of the ledger.
func (w *world) goBack() {
	w.stopAll(func(at *position) bool { return at.kind == kernelKind })
	if len(w.backups) == 0 {
		return
	}
	n := w.rand.IntN(len(w.backups))
	w.ledger.Restore(w.backups[n])
	w.sayf("the ledger goes back by %d commits", len(w.backups)-1-n)
	w.backups = w.backups[:n+1]
	w.judge.restored()
}

// reflect brings a service a command that no kernel has sent it: one of a call that is open,
// to its own service or to another.
func (w *world) reflect() {
	var calls []turn.Call
	var names []string
	for _, rec := range w.judge.records() {
		for _, c := range rec.State.Calls {
			if c.State == turn.Asked || c.State == turn.Accepted || c.State == turn.Dispatched {
				calls = append(calls, c)
				names = append(names, rec.State.Turn)
			}
		}
	}
	if len(calls) == 0 {
		return
	}
	n := w.rand.IntN(len(calls))
	for _, at := range w.positions {
		if at.kind == toolKind && w.rand.IntN(2) == 0 {
			subject := "cg.v1r4." + project + ".public.cmd.tool." + at.peer + ".run"
			w.deliver(at.now, at.now, tool.Message{Subject: subject, Payload: []byte("{}"), Header: map[string][]string{
				utp.HeaderToolCallID: {calls[n].ID}, utp.HeaderTurnID: {names[n]},
			}})
		}
	}
}

// clear ends the weather: everybody is there again, and everything that leaves arrives.
func (w *world) clear() {
	w.cleared = time.Now()
	w.weather.ceased.Store(true)
	w.sayf("the weather clears up")
	for _, at := range w.positions {
		at.now.paused, at.now.cut = time.Time{}, time.Time{}
	}
	soon := time.Now().Add(time.Second)
	for _, i := range w.items {
		if i.event && i.at.After(soon) {
			i.at = soon
		}
	}
}
