package kernel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// inquiry is what came of a question that a service asks in the middle of a call.
type inquiry struct {
	answer api.Answered
	err    error
}

// inquires has the service ask before each effect. The effect is had whatever the answer is.
func (w *world) inquires(q api.Question) <-chan inquiry {
	ended := make(chan inquiry, 4)
	w.effects.at("begun", func(ctx context.Context, _ *service, c *tool.Call) error {
		var i inquiry
		i.answer, i.err = c.Ask(ctx, q)
		ended <- i
		return nil
	})
	return ended
}

// TestInquiry: a service asks the person in the middle of its call, which goes on with the answer. The turn sees one result, and the
// question says who asks.
func TestInquiry(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		ended := w.inquires(api.Question{Text: "Which colour?", Choices: []api.Choice{{Value: "red", Label: "Red"}, {Value: "blue", Label: "Blue"}}})
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.until("the service asks", func() bool { return len(w.questions()) == 1 && w.questions()[0].Kind == "clarification" })
		q := w.asked()
		if st := w.turn(a.Turn); st.Status != turn.Suspended {
			t.Errorf("meanwhile the turn is %s", st.Status)
		}
		w.say(q, "blue")
		w.succeeded(a.Turn)
		if i := <-ended; i.err != nil || string(i.answer.Answer) != `"blue"` || i.answer.By != person {
			t.Errorf("the service got %+v, %v", i.answer, i.err)
		}
		w.effectsAre(1)
		w.tells(a.Session, burn+" asks, in the middle of its work: “Which colour?”", "Recorded, as the answer to question 2")
	})
}

// TestInquiryOutside: the same in the session of a program outside, across a restart of the kernel. The answer to it consents to
// nothing else.
func TestInquiryOutside(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		ended := w.inquires(api.Question{Text: "Go on?", Kinds: []string{api.AnswerYesNo}})
		p := w.program()
		first := p.asked(poller)
		q := w.asked()
		w.restart()
		other := p.asked(burn)
		w.until("both are open", func() bool { return len(w.questions()) == 2 })
		if _, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: w.questions()[0].Token, Question: q.Number, Response: "true", By: person, Surface: "page"}); err != nil {
			t.Fatal(err)
		}
		if i := <-ended; i.err != nil || string(i.answer.Answer) != "true" {
			t.Errorf("the service got %+v, %v", i.answer, i.err)
		}
		w.isStatus(p.waits(first.Call), utp.StatusSuccess, "")
		if still := p.await(api.AwaitRequest{Call: other.Call, Peek: true}); still.State != api.CallWaiting {
			t.Errorf("the other call is %+v", still)
		}
		w.effectsAre(0)
		w.say(w.asked(), "reject")
		p.waits(other.Call)
		p.closes()
	})
}

// TestInquiryEnds: the question ends with its call: when the person stops the turn, when the service dies, and when nobody answers.
func TestInquiryEnds(t *testing.T) {
	asks := api.Question{Text: "Which one?", Seconds: 60}
	t.Run("a stop", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			ended := w.inquires(asks)
			p := w.program()
			p.asked(poller)
			w.asked()
			if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: p.session, By: person}); err != nil {
				t.Fatal(err)
			}
			if i := <-ended; i.err == nil {
				t.Errorf("the service got %+v", i.answer)
			}
			w.cancelled(p.turn)
		})
	})
	t.Run("the service dies", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.inquires(asks)
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			w.until("the service asks", func() bool {
				return len(w.questions()) == 1 && w.questions()[0].Kind == "clarification" && w.questions()[0].Number == 2
			})
			w.services[0].kill()
			w.until("the question is withdrawn", func() bool {
				open := w.questions()
				return len(open) == 1 && open[0].Number != 2
			})
			if c := w.turn(a.Turn).Calls[0]; c.State != turn.Unknown {
				t.Errorf("the call is %s", c.State)
			}
			w.tells(a.Session, "Question 2 is withdrawn. The tool does not wait for the answer any more.")
			w.effectsAre(0)
			w.say(w.asked(), "leave")
			w.over(a.Turn)
		})
	})
	t.Run("nobody answers", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			ended := w.inquires(asks)
			p := w.program()
			first := p.asked(poller)
			w.asked()
			w.pass(2 * time.Minute)
			i := <-ended
			if wrong, is := errors.AsType[*utp.ToolError](i.err); !is || wrong.Code != utp.CodeConsentExpired {
				t.Errorf("the service got %+v, %v", i.answer, i.err)
			}
			w.isStatus(p.waits(first.Call), utp.StatusSuccess, "")
			p.closes()
		})
	})
}

// TestInquiryIsTheOwners: another service, another owner, and a call that has ended ask nothing.
func TestInquiryIsTheOwners(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		running := w.gate()
		w.effects.at("begun", running.pass)
		p := w.program()
		a := p.asked(poller)
		w.until("it is to run", func() bool { return w.last(p.turn).State == turn.Started })
		c := w.last(p.turn)
		owner := api.OwnerRequest{Call: a.Call, Owner: c.Owner, Fence: c.Fence}
		asks := func(o api.OwnerRequest) api.InquireRequest {
			return api.InquireRequest{OwnerRequest: o, Key: "1", Question: &api.Question{Text: "Which one?"}}
		}
		wantFault(t, w.as(kernel.ToolCaller, "another", api.OpInquire, asks(owner), nil), utp.CodeAuthFailed)
		stale := owner
		stale.Owner = "own_2"
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpInquire, asks(stale), nil), utp.CodeStale)
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpInquire, api.InquireRequest{OwnerRequest: owner, Key: "1"}, nil), utp.CodeBadRequest)
		var first, again api.CallStatus
		for _, status := range []*api.CallStatus{&first, &again} {
			if err := w.as(kernel.ToolCaller, target, api.OpInquire, asks(owner), status); err != nil {
				t.Fatal(err)
			}
		}
		if first.Call == "" || first.Call != again.Call || len(w.questions()) != 1 {
			t.Errorf("the same key gave %+v and %+v", first, again)
		}
		running.open()
		w.isStatus(p.waits(a.Call), utp.StatusSuccess, "")
		if open := w.questions(); len(open) != 0 {
			t.Errorf("after its call there is still %+v", open)
		}
		p.closes()
	})
}
