package kernel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/worker"
)

// TestDuplicates: every request and every message comes two or three times.
func TestDuplicates(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.bus.fault(func(m message) sendResult {
			if m.op == api.OpEnqueue || m.op == api.OpAnswer {
				return sendResult{} // a person's word is not repeated by anyone
			}
			return sendResult{again: 2}
		})
		w.serve(target, standardTools)
		w.work(one(poller), one(burn), one(put))
		w.work(one(poller), one(burn), one(put))
		a := w.begin()
		q := w.accepts()
		q = w.askedAfter(q)
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(2)
		if n := w.cell(`SELECT count(*) FROM calls`); n != "3" {
			t.Errorf("%s calls; want three", n)
		}
	})
}

// weather disturbs everything at random, from a seed: messages are lost, doubled and
// late, services and workers die and are replaced, the kernel is killed at its named
// points and started again. The person accepts some and rejects some.
type weather struct {
	w    *world
	mu   sync.Mutex
	rand *rand.Rand
}

func (x *weather) n(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rand.IntN(n)
}

func (x *weather) judge(m message) sendResult {
	if m.op == api.OpEnqueue {
		return sendResult{}
	}
	var f sendResult
	switch x.n(12) {
	case 0, 1:
		f.drop = true
	case 2:
		f.again = 1 + x.n(2)
	case 3:
		f.delay = time.Duration(x.n(3000)) * time.Millisecond
	}
	return f
}

// points at which a kernel may be killed.
func points() []string {
	return []string{
		"question.saving", "question.saved", "answer.saved", "undo.waiting", "dispatch.committing", "invoked.logged",
		"command.published", "start.committed", "finish.committed", "report.applying", "unknown.asked", "enqueued",
	}
}

func (x *weather) disturb(steps [][]worker.Call) {
	w := x.w
	switch x.n(9) {
	case 0:
		s := w.services[x.n(len(w.services))]
		s.kill()
		w.serve(target, standardTools)
	case 1:
		w.agents[x.n(len(w.agents))].kill()
		w.work(steps...)
	case 2:
		all := points()
		w.now.dieWhenReaching(all[x.n(len(all))])
	case 3:
		w.now.die()
	case 4:
		cable := w.services[x.n(len(w.services))].conn
		cable.cut.Store(true)
		time.AfterFunc(time.Duration(x.n(60))*time.Second, func() { cable.cut.Store(false) })
	case 5:
		w.clock.step(time.Duration(x.n(3)-1) * time.Hour)
	case 6:
		w.clock.suspend(time.Duration(x.n(60)) * time.Minute)
	case 7:
		p := w.now
		p.full.Store(true)
		time.AfterFunc(time.Duration(x.n(20))*time.Second, func() { p.full.Store(false) })
	case 8:
		w.now.die()
		<-w.now.done
		w.clock.reboot()
	}
	if w.now.dead.Load() {
		w.restart()
	}
}

// TestChaos: whatever the weather, every turn ends once, and every effect has its
// consent.
func TestChaos(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() || raced() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) { w.patient = seed%2 == 1 }, func(t *testing.T, w *world) {
				x := &weather{w: w, rand: rand.New(rand.NewPCG(seed, 1))}
				w.effects.at("begun", func(ctx context.Context, _ *service, _ *tool.Call) error {
					select {
					case <-time.After(time.Duration(x.n(4000)) * time.Millisecond):
					case <-ctx.Done():
					}
					return nil
				})
				w.effects.at("done", w.effects.hooks["begun"])
				steps := [][]worker.Call{one(poller), one(burn), one(put), one(shred)}
				w.work(steps...)
				w.work(steps...)
				a := w.begin()
				w.bus.fault(x.judge)
				for range 60 {
					w.pass(time.Duration(x.n(8000)) * time.Millisecond)
					x.disturb(steps)
					x.answer()
					if w.turn(a.Turn).Status == turn.Ended {
						break
					}
				}
				w.bus.heal() // the weather clears up
				for range 40 {
					if w.now.dead.Load() {
						w.restart()
					}
					x.answer()
					w.pass(10 * time.Second)
					if w.turn(a.Turn).Status == turn.Ended {
						break
					}
				}
				w.over(a.Turn)
			})
		})
	}
}

// answer says something to what is open, if the kernel hears it.
func (x *weather) answer() {
	var page api.QuestionsAnswer
	if x.w.as(kernel.HubCaller, person, api.OpQuestions, api.QuestionsRequest{}, &page) != nil {
		return
	}
	for _, q := range page.Questions {
		if x.n(2) == 0 {
			_, _ = x.w.shows(q) // and then its token may be dead
		}
		words := []string{"accept", "accept", "accept", "reject", "leave", "ask again"}
		_, _ = x.w.reply(q, words[x.n(len(words))]) // a wrong word, or a lost one, is not an answer
	}
}
