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

// maxShown bounds the memory for what has been said to be shown. A word that is said again
// changes nothing.
const maxShown = 4096

// showings remembers which askings the kernel knows to be shown, by their tokens, so that it
// is told once by each process. It is safe for concurrent use.
type showings struct {
	mu    sync.Mutex
	known map[string]struct{}
	order []string
}

// claim reports whether nobody has told of the token yet, and is about to: the one who may.
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

// forget gives a claim back that came to nothing.
func (s *showings) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, token)
	s.order = slices.DeleteFunc(s.order, func(one string) bool { return one == token })
}

// present tells the kernel that a question, as it was asked under a token, is shown to
// somebody who can answer it, and reports whether that was taken. A word that is lost or
// refused gives the person more time, never less: nothing is repeated for it.
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

// presentAll tells of every question in a list that nobody was known to have seen and that
// the principal can answer, and reports whether any was taken: then the list is another.
func (h *Hub) presentAll(ctx context.Context, who access.Principal, rows []api.QuestionRow) bool {
	claimed := false
	for _, q := range rows {
		if q.Unseen && !q.Parked && who.Approves(q.Owner) {
			claimed = h.present(ctx, who, q.Token) || claimed
		}
	}
	return claimed
}

// notices tells that a subscriber has been handed the word on a yes of their own.
func (st *stream) notices(e aaep.Event) {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	text := func(name string) string {
		value, _ := ours.Text(name)
		return value
	}
	number, _ := ours.Whole("question")
	if text("resolution") == string(aaep.ResolutionAccepted) && text("by") == st.sub.who.Name && text("surface") == st.sub.who.Surface {
		// The token tells this asking from a later one under the same number, whose yes is another.
		st.hub.Noticed(st.ctx, api.ReplyRequest{
			Question: int(number), Token: text("reply_token"), By: st.sub.who.Name, Credential: st.sub.who.Credential, Surface: st.sub.who.Surface,
		})
	}
}

// shows tells that a question has been handed to a subscriber who can answer it.
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
