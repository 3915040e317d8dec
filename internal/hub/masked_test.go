package hub_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestTokensAreForAnswerers: the reply token of a question reaches those only who may answer
// it, live, sent again, resumed, read from the record or listed. The others get an event that
// is valid and the same everywhere, whose token leads nowhere, also for one who may answer.
func TestTokensAreForAnswerers(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		early := map[string]*ear{}
		people := map[string]struct {
			who     access.Principal
			answers bool
		}{
			"the owner":            {person("ann", access.Approver), true},
			"an approver for her":  {access.Principal{Name: "bob", Roles: []access.Role{access.Approver}, Owners: []string{"ann"}}, true},
			"the owner listening":  {person("ann", access.Listener), false},
			"an auditor":           {person("eve", access.Auditor), false},
			"auditor and approver": {person("eve", access.Auditor, access.Approver), false},
			"an operator":          {person("otto", access.Operator), false},
		}
		for name, one := range people {
			early[name] = s.listen(s.subscribe(one.who), "")
		}
		q := s.book.ask("sess_a", 7)
		var mask string
		judge := func(name, how string, raw []byte, answers bool) {
			t.Helper()
			e, err := aaep.DecodeEvent(raw)
			asks, is := e.Payload.(aaep.AwaitingConfirmation)
			if err != nil || !is || e.ID != eventID("sess_a", 2) {
				t.Errorf("%s, %s: %s, %v", name, how, raw, err)
				return
			}
			if answers {
				if asks.ReplyToken != q.Token {
					t.Errorf("%s, %s: the token is %s", name, how, asks.ReplyToken)
				}
				return
			}
			if mask == "" {
				mask = asks.ReplyToken
			}
			if bytes.Contains(raw, []byte(q.Token)) || asks.ReplyToken != mask || len(mask) != len(q.Token) {
				t.Errorf("%s, %s: %s", name, how, raw)
			}
		}
		for name, one := range people {
			live := early[name].all()
			judge(name, "live", live[len(live)-1].Raw, one.answers)
			early[name].leave()
			for how, after := range map[string]string{"sent again": "", "resumed": eventID("sess_a", 1)} {
				e := s.listen(s.subscribe(one.who), after)
				all := e.all()
				judge(name, how, all[len(all)-1].Raw, one.answers)
				e.leave()
			}
			page, err := s.hub.As(one.who).Events(s.t.Context(), api.EventsRequest{Session: "sess_a"}, "")
			if err != nil {
				t.Fatal(err)
			}
			judge(name, "the record", page.Events[1].Body, one.answers)
			list, err := s.hub.As(one.who).Questions(s.t.Context(), hub.QuestionOptions{})
			rows := list.Questions
			if err != nil || (rows[0].Token == q.Token) != one.answers || (rows[0].Token == "") == one.answers {
				t.Errorf("%s, the list: %+v, %v", name, rows, err)
			}
			judge(name, "the list", rows[0].Body, one.answers)
		}
		owner := person("ann", access.Approver)
		if _, err := s.hub.As(owner).Answer(context.Background(), api.ReplyRequest{Token: mask, Decision: "accept"}); err == nil || len(s.replies()) != 0 {
			t.Errorf("the masked token leads somewhere: %v", err)
		}
	})
}

// TestTokensInOtherEvents: a token is masked in whatever event it is, at once, and where the event was held and what came meanwhile names
// none.
func TestTokensInOtherEvents(t *testing.T) {
	onStage(t, func(s *stage) {
		const token = "rpl_00000000000000000000000000000007"
		s.book.begin("sess_a", "ann")
		who := person("ann", access.Listener)
		full, slow := s.listen(s.subscribe(who), ""), s.listen(s.subscribeAt(1, who), "")
		for range 3 {
			s.book.move("sess_a", 5)
			full.all()
			row := s.book.tell("sess_a", aaep.ToolInvoked{Tool: "a", SummaryNormal: "It goes on.", ArgsSummary: "a=1"}, "reply_token", token)
			if !bytes.Contains(row.Body, []byte(token)) {
				t.Fatal("the ledger has no token")
			}
			full.all()
			s.book.move("sess_a", 2)
			full.all()
		}
		<-time.After(time.Minute)
		for name, e := range map[string]*ear{"in full": full, "slowly": slow} {
			masks := 0
			for _, d := range e.all() {
				if bytes.Contains(d.Raw, []byte(token)) {
					t.Errorf("%s: %s", name, d.Raw)
				}
				if bytes.Contains(d.Raw, []byte("reply_token")) {
					masks++
				}
			}
			if masks != 3 {
				t.Errorf("%s: %d events were masked", name, masks)
			}
			e.leave()
		}
	})
}
