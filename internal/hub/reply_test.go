package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/utp"
)

func (s *stage) replies() []api.ReplyRequest {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	all := s.book.replies
	s.book.replies = nil
	return all
}

const at = "2026-03-01T10:00:00Z"

func confirmation(sub, token, decision, more string) []byte {
	return fmt.Appendf(nil, `{"type":"confirmation.reply","reply_token":%q,"decision":%q,"subscription_id":%q,"timestamp":%q%s}`, token, decision, sub, at, more)
}

// TestReply: each message becomes the kernel's word, under the principal's own name and
// surface, whatever the message says of who decided.
func TestReply(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		q := s.book.ask("sess_a", 7)
		sub := s.subscribe(person("ann", access.Approver))
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			raw  []byte
			want api.ReplyRequest
		}{
			"accept": {confirmation(sub.ID(), q.Token, "accept", `,"decided_by":"eve","decision_rationale":"why not"`), api.ReplyRequest{Decision: "accept", Reason: "why not"}},
			"reject": {confirmation(sub.ID(), q.Token, "reject", ""), api.ReplyRequest{Decision: "reject"}},
			"CONF-38 a changed action is a reject": {
				confirmation(sub.ID(), q.Token, "accept", `,"modified_action":{}`), api.ReplyRequest{Decision: "reject"},
			},
			"a clarification": {
				fmt.Appendf(nil, `{"type":"clarification.reply","reply_token":%q,"response":"leave","subscription_id":%q,"timestamp":%q}`, q.Token, sub.ID(), at),
				api.ReplyRequest{Response: "leave", ResponseType: api.ResponseText},
			},
			"more time": {
				fmt.Appendf(nil, `{"type":"earshot:question.extend","reply_token":%q,"subscription_id":%q,"timestamp":%q}`, q.Token, sub.ID(), at),
				api.ReplyRequest{},
			},
		} {
			if err := sub.Reply(s.t.Context(), c.raw); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			c.want.Token, c.want.At, c.want.By, c.want.Surface = q.Token, when, "ann", "page"
			if got := s.replies(); len(got) != 1 || got[0] != c.want {
				t.Errorf("%s: the kernel heard %+v, want %+v", name, got, c.want)
			}
		}
	})
}

// TestReplyIgnored: CONF-56, SEC-19: what fails a check is silent, and does not reach the
// kernel where it is plain before.
func TestReplyIgnored(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		mine, his := s.book.ask("sess_a", 7), s.book.ask("sess_b", 8)
		sub := s.subscribe(person("ann", access.Approver))
		no := false
		deaf, _, err := s.hub.Subscribe(s.t.Context(), person("ann", access.Approver), aaep.SubscriptionRequest{
			AAEPVersion: aaep.Version, SubscriberID: "x", Capabilities: aaep.Capabilities{SupportsConfirmationReply: &no},
		})
		if err != nil {
			t.Fatal(err)
		}
		narrow := s.subscribe(person("otto", access.Approver, access.Operator), "sess_b")
		for name, c := range map[string]struct {
			sub *hub.Subscription
			raw []byte
		}{
			"a token that there is not":                   {sub, confirmation(sub.ID(), "rpl_00000000000000000000000000000000", "accept", "")},
			"another owner's question (SEC-04)":           {sub, confirmation(sub.ID(), his.Token, "accept", "")},
			"another subscription's id (CONF-33)":         {sub, confirmation(deaf.ID(), mine.Token, "accept", "")},
			"a subscription that does not reply (CAP-04)": {deaf, confirmation(deaf.ID(), mine.Token, "accept", "")},
			"a session that it does not hear (MS-07)":     {narrow, confirmation(narrow.ID(), mine.Token, "accept", "")},
		} {
			if err := c.sub.Reply(s.t.Context(), c.raw); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := s.replies(); len(got) != 0 {
				t.Errorf("%s: the kernel heard %+v", name, got)
			}
		}
		s.book.answer = &api.Fault{Code: utp.CodeDone}
		if err := sub.Reply(s.t.Context(), confirmation(sub.ID(), mine.Token, "accept", "")); err != nil {
			t.Errorf("one that the kernel does not take: %v", err)
		}
		for _, f := range []*api.Fault{{Code: utp.CodeUpstreamUnavailable, Retry: true}, {Code: utp.CodeStorageError}} {
			s.book.answer = f
			if err := sub.Reply(s.t.Context(), confirmation(sub.ID(), mine.Token, "accept", "")); err == nil {
				t.Errorf("%s: the sender is to know that nothing was recorded", f.Code)
			}
		}
	})
}

// TestReplyRefused: what cannot be read, and who answers nothing at all, is told.
func TestReplyRefused(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		q := s.book.ask("sess_a", 7)
		sub := s.subscribe(person("ann", access.Approver))
		for name, raw := range map[string]string{
			"CONF-50 no JSON": `{`, "another type": `{"type":"subscription.request"}`, "an unknown member": string(confirmation(sub.ID(), q.Token, "accept", `,"x":1`)),
			"CONF-32 another decision": string(confirmation(sub.ID(), q.Token, "yes", "")), "CONF-31 no token": string(confirmation(sub.ID(), "x", "accept", "")),
			"a broken renegotiation": `{"type":"subscription.renegotiate"}`, "a broken close": `{"type":"subscription.close"}`, "empty": "",
		} {
			if err := sub.Reply(s.t.Context(), []byte(raw)); !errors.Is(err, hub.ErrMalformed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, role := range []access.Role{access.Listener, access.Auditor, access.Operator} {
			other := s.subscribe(person("ann", role))
			if err := other.Reply(s.t.Context(), confirmation(other.ID(), q.Token, "accept", "")); !errors.Is(err, hub.ErrNotAllowed) {
				t.Errorf("%s: %v", role, err)
			}
		}
		if got := s.replies(); len(got) != 0 {
			t.Errorf("the kernel heard %+v", got)
		}
	})
}

// TestHandshake: HS-60, HS-61, HS-63, HS-68: new terms are told and kept, and a close
// ends the stream; a message about another subscription does neither.
func TestHandshake(t *testing.T) {
	onStage(t, func(s *stage) {
		sub := s.subscribe(person("ann", access.Listener))
		e := s.listen(sub, "")
		raw := func(id string) []byte {
			return fmt.Appendf(nil, `{"type":"subscription.renegotiate","subscription_id":%q,"capabilities":{"max_events_per_second":7}}`, id)
		}
		if err := sub.Reply(s.t.Context(), raw("sub_another")); !errors.Is(err, hub.ErrClosed) {
			t.Errorf("another's: %v", err)
		}
		if err := sub.Reply(s.t.Context(), raw(sub.ID())); err != nil || sub.Accepted().HonoredCapabilities.MaxEventsPerSecond != 7 {
			t.Errorf("%v, %+v", err, sub.Accepted())
		}
		s.book.begin("sess_a", "ann")
		live, _ := e.told()
		s.want("afterwards", live, []string{"sess_a/1"})
		closing := func(id string) []byte {
			return fmt.Appendf(nil, `{"type":"subscription.close","subscription_id":%q,"reason_code":"bye"}`, id)
		}
		if err := sub.Reply(s.t.Context(), closing("sub_another")); !errors.Is(err, hub.ErrClosed) {
			t.Errorf("another's: %v", err)
		}
		if err := sub.Reply(s.t.Context(), closing(sub.ID())); err != nil || !errors.Is(e.ended(), hub.ErrClosed) {
			t.Errorf("%v, and the stream: %v", err, e.ended())
		}
		s.book.move("sess_a", 1)
		live, _ = e.told()
		s.want("after the close", live, []string{"sess_a/1"})
	})
}

// TestPersonMay: who may do what, each right apart.
func TestPersonMay(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		q := s.book.ask("sess_a", 7)
		byNumber, bySession := api.ReplyRequest{Question: 7, By: "mallory", Surface: "forged"}, api.ReplyRequest{Session: "sess_a"}
		words := map[string]func(*hub.Person) error{
			"hear": func(p *hub.Person) error { _, err := p.Session(s.t.Context(), "sess_a"); return err },
			"read": func(p *hub.Person) error {
				_, err := p.Events(s.t.Context(), api.EventsRequest{Session: "sess_a"}, "")
				return err
			},
			"answer": func(p *hub.Person) error { _, err := p.Answer(s.t.Context(), byNumber); return err },
			"extend": func(p *hub.Person) error { _, err := p.Extend(s.t.Context(), byNumber); return err },
			"undo":   func(p *hub.Person) error { _, err := p.Undo(s.t.Context(), byNumber); return err },
			"stop":   func(p *hub.Person) error { _, err := p.Stop(s.t.Context(), bySession); return err },
			"enqueue": func(p *hub.Person) error {
				_, err := p.Enqueue(s.t.Context(), api.EnqueueRequest{Owner: "mallory"})
				return err
			},
		}
		for _, c := range []struct {
			who  access.Principal
			may  string
			none error // what the other words give
		}{
			{person("ann", access.Listener), "hear read stop", hub.ErrNotAllowed},
			{person("ann", access.Approver), "hear read answer extend undo stop enqueue", nil},
			{person("eve", access.Auditor), "hear read", hub.ErrNotAllowed},
			{person("otto", access.Operator), "hear read stop enqueue", hub.ErrNotAllowed},
			{person("otto", access.Operator, access.Approver), "hear read answer extend undo stop enqueue", nil},
			{person("eve", access.Auditor, access.Approver), "hear read enqueue", hub.ErrNotAllowed},
			{access.Principal{Name: "bob", Roles: []access.Role{access.Approver}, Owners: []string{"ann"}}, "hear read answer extend undo stop enqueue", nil},
			{person("bob", access.Listener), "", nil},
			{person("ann", access.Agent), "", hub.ErrNotAllowed},
			{person("ann"), "", hub.ErrNotAllowed},
		} {
			for word, say := range words {
				s.replies()
				err := say(s.hub.As(c.who))
				switch {
				case has(c.may, word) && err != nil:
					t.Errorf("%s %v may not %s: %v", c.who.Name, c.who.Roles, word, err)
				case !has(c.may, word) && err == nil:
					t.Errorf("%s %v may %s", c.who.Name, c.who.Roles, word)
				case !has(c.may, word) && c.none != nil && !errors.Is(err, c.none):
					t.Errorf("%s %v, %s: %v", c.who.Name, c.who.Roles, word, err)
				}
				for _, r := range s.replies() {
					if r.By != c.who.Name || r.Surface != c.who.Surface {
						t.Errorf("%s reached the kernel as %+v", word, r)
					}
				}
			}
		}
		list, err := s.hub.As(person("ann", access.Approver)).Questions(s.t.Context(), hub.QuestionOptions{})
		if rows := list.Questions; err != nil || len(rows) != 1 || rows[0].Title != "Delete file 7" || rows[0].Token != q.Token {
			t.Errorf("questions %+v, %v", list, err)
		}
		list, err = s.hub.As(person("bob", access.Approver)).Questions(s.t.Context(), hub.QuestionOptions{})
		if err != nil || len(list.Questions) != 0 {
			t.Errorf("another's questions %+v, %v", list, err)
		}
	})
}

// TestUnattended: where no person is known to be, a no, more time, an undo and a stop are forwarded, and nothing else;
// also on a subscription.
func TestUnattended(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.ask("sess_a", 7)
		who := person("ann", access.Approver, access.Operator)
		who.Unattended = "nobody is there"
		p := s.hub.As(who)
		for name, c := range map[string]struct {
			say  func(context.Context, api.ReplyRequest) (api.ReplyAnswer, error)
			word api.ReplyRequest
			may  bool
		}{
			"accept":           {p.Answer, api.ReplyRequest{Question: 7, Decision: "accept"}, false},
			"an answer":        {p.Answer, api.ReplyRequest{Question: 7, Response: "yes"}, false},
			"nothing":          {p.Answer, api.ReplyRequest{Question: 7}, false},
			"another spelling": {p.Answer, api.ReplyRequest{Question: 7, Decision: "Reject"}, false},
			"reject":           {p.Answer, api.ReplyRequest{Question: 7, Decision: "reject"}, true},
			"extend":           {p.Extend, api.ReplyRequest{Question: 7}, true},
			"undo":             {p.Undo, api.ReplyRequest{Question: 7}, true},
			"stop":             {p.Stop, api.ReplyRequest{Session: "sess_a"}, true},
		} {
			s.replies()
			_, err := c.say(s.t.Context(), c.word)
			var refusal *hub.Error
			if forwarded := len(s.replies()) > 0; forwarded != c.may || (err == nil) != c.may {
				t.Errorf("%s: forwarded %v, %v", name, forwarded, err)
			} else if !c.may && (!errors.As(err, &refusal) || !errors.Is(err, hub.ErrLogin) || !strings.Contains(refusal.Message, "nobody is there") || refusal.Hint == "") {
				t.Errorf("%s is refused with %v", name, err)
			}
		}
	})
}

// TestNumberAndToken: a word that names a question by both reaches the kernel with both, which
// judges whether they belong together; its refusal comes back as it is.
func TestNumberAndToken(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		first, second := s.book.ask("sess_a", 7), s.book.ask("sess_a", 8)
		p := s.hub.As(person("ann", access.Approver))
		for op, say := range map[string]func(context.Context, api.ReplyRequest) (api.ReplyAnswer, error){
			api.OpAnswer: p.Answer, api.OpExtend: p.Extend, api.OpUndo: p.Undo, api.OpStop: p.Stop,
		} {
			s.book.answer = &api.Fault{Code: utp.CodeConflict, Message: "they do not belong together"}
			_, err := say(s.t.Context(), api.ReplyRequest{Question: first.Number, Token: second.Token})
			if fault, is := errors.AsType[*api.Fault](err); !is || fault.Code != utp.CodeConflict {
				t.Errorf("%s: %v", op, err)
			}
			if got := s.replies(); len(got) != 1 || got[0].Question != first.Number || got[0].Token != second.Token {
				t.Errorf("%s reached the kernel as %+v", op, got)
			}
		}
	})
}

func has(words, word string) bool {
	return slices.Contains(strings.Fields(words), word)
}

// TestPersonSessions: lists hold what one may hear only, and a revoked one gets nothing.
func TestPersonSessions(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		list := func(who access.Principal, q api.SessionsRequest) string {
			rows, err := s.hub.As(who).Sessions(context.Background(), q)
			if err != nil {
				return err.Error()
			}
			all := ""
			for _, r := range rows {
				all += r.Session + " "
			}
			return all
		}
		for _, c := range []struct {
			who  access.Principal
			q    api.SessionsRequest
			want string
		}{
			{person("ann", access.Listener), api.SessionsRequest{}, "sess_a "},
			{person("ann", access.Listener), api.SessionsRequest{Owners: []string{"bob"}}, ""},
			{person("ann", access.Listener), api.SessionsRequest{Owners: []string{"bob", "ann"}}, "sess_a "},
			{person("eve", access.Auditor), api.SessionsRequest{}, "sess_a sess_b "},
			{access.Principal{Name: "c", Roles: []access.Role{access.Listener}, Owners: []string{access.Everybody}}, api.SessionsRequest{}, "sess_a sess_b "},
		} {
			if got := list(c.who, c.q); got != c.want {
				t.Errorf("%s asks %+v and gets %q, want %q", c.who.Name, c.q, got, c.want)
			}
		}
		s.badges.revoke("ann")
		if _, err := s.hub.As(person("ann", access.Listener)).Sessions(s.t.Context(), api.SessionsRequest{}); !errors.Is(err, hub.ErrRevoked) {
			t.Errorf("revoked: %v", err)
		}
	})
}
