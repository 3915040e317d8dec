package chaos_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/rpc"
)

const (
	person   = "anna"
	turnSize = 8 // steps
)

// people begin turns and answer questions until they are told to stop. A request whose answer
// is lost is not repeated: they count what they were told.
type people struct {
	hub    *bus.Client
	open   func() int // how many turns are under way
	wanted int        // how many should be

	mu       sync.Mutex
	begun    map[string]task // by turn: what the kernel has taken
	said     map[string]bool // by call: those to which a yes was said, no matter who heard it
	refuse   map[string]bool // by call: whether a no is said
	accepted map[string]bool // by call: those to which a yes was recorded
	refused  int
	left     int // unknown fates that were left as they are
}

// begin keeps turns under way until ctx ends.
func (p *people) begin(ctx context.Context) {
	for seed := uint64(1); ctx.Err() == nil; {
		for range max(0, p.wanted-p.open()) {
			p.enqueue(ctx, task{Seed: seed, Steps: turnSize})
			seed++
		}
		pause(ctx, retry)
	}
}

func (p *people) enqueue(ctx context.Context, t task) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	args, err := json.Marshal(t)
	if err != nil {
		return
	}
	var a api.EnqueueAnswer
	if rpc.Ask(ctx, p.hub, api.OpEnqueue, api.EnqueueRequest{Agent: agent, Args: args, Owner: person, Request: "withstand"}, &a) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun[a.Turn] = t
}

// answer looks at what is asked until ctx ends.
func (p *people) answer(ctx context.Context) {
	for ctx.Err() == nil {
		after := 0
		for more := true; more && ctx.Err() == nil; {
			page, err := p.questions(ctx, after)
			for _, q := range page.Questions {
				p.reply(ctx, q)
			}
			after, more = page.Next, err == nil && page.Next != 0
		}
		pause(ctx, retry)
	}
}

func (p *people) questions(ctx context.Context, after int) (a api.QuestionsAnswer, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = rpc.Ask(ctx, p.hub, api.OpQuestions, api.QuestionsRequest{After: after}, &a)
	return a, err
}

func (p *people) reply(ctx context.Context, q api.QuestionRow) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r := api.ReplyRequest{Token: q.Token, By: person, Surface: "chaos", At: time.Now(), Decision: "accept"}
	switch {
	case q.Kind != "confirmation":
		r.Decision, r.Response = "", "leave"
	case p.refuses(q.Call):
		r.Decision = "reject"
	default:
		p.says(q.Call)
	}
	if rpc.Ask(ctx, p.hub, api.OpAnswer, r, nil) != nil {
		return
	}
	if r.Decision == "accept" {
		_ = rpc.Ask(ctx, p.hub, api.OpNoticed, api.ReplyRequest{Token: r.Token, By: r.By, Surface: r.Surface}, nil) // lost: it is asked again
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Response != "":
		p.left++
	case r.Decision == "accept":
		p.accepted[q.Call] = true
	default:
		p.refused++
	}
}

// refuses decides about a call, once: it may be asked about again while an answer is on its way, and a no behind a yes takes that back.
func (p *people) refuses(call string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	no, decided := p.refuse[call]
	if !decided {
		no = rand.IntN(8) == 0
		p.refuse[call] = no
	}
	return no
}

// says notes a yes before it is said: that its answer is lost does not unsay it.
func (p *people) says(call string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said[call] = true
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
