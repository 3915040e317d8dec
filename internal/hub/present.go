package hub

import (
	"context"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// maxShown bounds the memory for acknowledged showings. Acknowledging one again changes nothing.
const maxShown = 4096

// showings remembers which questions the kernel knows to be shown, by their tokens, so that each process reports one
// only once. It is safe for concurrent use.
type showings struct {
	mu    sync.Mutex
	known map[string]struct{}
	order []string
}

// claim reports whether the caller is the first for this token, and so the one to report it.
func (s *showings) claim(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.known[token]; known {
		return false
	}
	if s.known == nil {
		s.known = map[string]struct{}{}
	}
	s.known[token] = struct{}{}
	if s.order = append(s.order, token); len(s.order) > maxShown {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	return true
}

// forget releases a claim whose report failed.
func (s *showings) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, token)
	s.order = slices.DeleteFunc(s.order, func(one string) bool { return one == token })
}

// present reports to the kernel that a question, identified by its token, is shown to somebody who can answer it. It
// returns whether the kernel accepted that. A lost or refused report gives the person more time, never less, so it is
// not retried.
func (h *Hub) present(ctx context.Context, who access.Principal, token string) bool {
	if !h.shown.claim(token) {
		return false
	}
	r := api.ReplyRequest{Token: token, By: who.Name, Credential: who.Credential, Surface: who.Surface}
	if err := rpc.AskUntil(ctx, h.o.Conn, api.OpPresent, r, nil); err != nil {
		h.shown.forget(token)
		h.o.Logger.Info("a question that is shown is not noted as such", "surface", who.Surface, "reason", err)
		return false
	}
	return true
}

// presentAll reports every question of a list that was not shown before and that the principal can answer. It returns
// whether any was accepted: then the list has changed.
func (h *Hub) presentAll(ctx context.Context, who access.Principal, rows []api.QuestionRow) bool {
	claimed := false
	for _, q := range rows {
		if q.Unseen && !q.Parked && who.Approves(q.Owner) {
			claimed = h.present(ctx, who, q.Token) || claimed
		}
	}
	return claimed
}

// notices acknowledges that a subscriber was informed of their own accept.
func (st *stream) notices(e aaep.Event) {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	text := func(name string) string {
		value, _ := ours.Text(name)
		return value
	}
	number, _ := ours.Whole("question")
	if text("resolution") == string(aaep.ResolutionAccepted) && text("by") == st.sub.who.Name && text("surface") == st.sub.who.Surface {
		// The token distinguishes this asking from a later one under the same number.
		st.hub.Noticed(st.ctx, api.ReplyRequest{
			Question: int(number), Token: text("reply_token"), By: st.sub.who.Name, Credential: st.sub.who.Credential, Surface: st.sub.who.Surface,
		})
	}
}

// shows reports that a question was delivered to a subscriber who can answer it.
func (st *stream) shows(p *cursor, e aaep.Event) {
	token, can := "", false
	switch asked := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		token, can = asked.ReplyToken, st.terms.CanConfirm()
	case aaep.AwaitingClarification:
		token, can = asked.ReplyToken, st.terms.CanClarify()
	}
	if !can {
		return
	}
	if who, err := st.hub.current(st.sub.who); err == nil && who.Approves(p.owner) {
		st.hub.present(st.ctx, who, token)
	}
}
