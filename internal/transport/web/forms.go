package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
	"github.com/earshot-dev/earshot/utp"
)

// questionForm takes an answer from the page. The form carries the token of the question as it was read: an answer does
// not count if the question has changed since.
func (s *Server) questionForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	number, err := questionNumber(r)
	if err != nil {
		return err
	}
	reply := Reply{Question: number, Token: r.PostForm.Get("token"), At: s.now(), Language: r.PostForm.Get("lang"), Assertion: assertionIn(r)}
	switch act := r.PathValue("act"); act {
	case "accept", "reject":
		reply.Verb, reply.Decision = VerbAnswer, act
	case "reply":
		reply.Verb, reply.Response = VerbAnswer, api.Response{Text: strings.TrimSpace(r.PostForm.Get("response"))}
	case "more-time":
		reply.Verb = VerbExtend
	case "undo":
		reply.Verb, reply.Language = VerbUndo, s.language(v) // its button says nothing of the question
	default:
		return refuse(api.KindNotFound, "there is nothing at this address", "go back to the page")
	}
	if reply.Token == "" && reply.Verb != VerbUndo {
		return refuse(api.KindInvalid, "the form does not say which question was read", "reload the page and try again")
	}
	if reply.Verb == VerbAnswer && reply.Decision == "" && reply.Response.Text == "" {
		return s.done(w, r, v, page.Notice{Refused: true, Wrong: true, Text: fmt.Sprintf("Question %d: there was no answer in the form. Nothing was sent.", number)})
	}
	s.counts.replies.Add(1)
	answer, err := s.hub.Reply(r.Context(), v.Principal, reply)
	if err != nil {
		n, ok := s.unsaid(number, err, v.zone)
		if !ok {
			return err
		}
		return s.done(w, r, v, n)
	}
	err = s.done(w, r, v, outcome(reply, answer))
	s.noticed(w, r, v, reply, answer)
	return err
}

// noticeWithin is the timeout for acknowledging that an answer was sent.
const noticeWithin = 10 * time.Second

// noticed acknowledges an accept as confirmed to the person, once the confirmation was sent: their time to take it back
// begins then. If they have disconnected meanwhile, a stream may still deliver the confirmation.
func (s *Server) noticed(w http.ResponseWriter, r *http.Request, v visitor, reply Reply, answer api.ReplyAnswer) {
	if reply.Decision != "accept" || answer.Resolution != "accepted" || http.NewResponseController(w).Flush() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), noticeWithin)
	defer cancel()
	_, _ = s.hub.Reply(ctx, v.Principal, Reply{Verb: VerbNoticed, Question: answer.Question, Token: reply.Token}) // if this is lost, the accept expires
}

// unsaid is the notice of a word that was not taken because of how the question stands:
// that is told on the page, where the other refusals get a page of their own. It says who
// was first and what was decided, when the time ended, or which answers are taken.
func (s *Server) unsaid(number int, err error, zone *time.Location) (page.Notice, bool) {
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != string(utp.CodePasskeyRequired) &&
		refusal.Kind != api.KindNotFound && refusal.Kind != api.KindConflict && refusal.Kind != api.KindInvalid {
		return page.Notice{}, false
	}
	n := page.Notice{
		Refused: true, Wrong: refusal.Kind == api.KindInvalid,
		Text: fmt.Sprintf("Question %d is not open any more, or has been asked again. Nothing was recorded.", number),
	}
	switch c := refusal.Closed; {
	case c != nil:
		n.Text = announce.Closed{
			Question: c.Question, Resolution: aaep.Resolution(c.Resolution), By: c.By, Surface: c.Surface, At: c.At,
		}.Text(s.now(), zone)
	case refusal.Kind != api.KindNotFound:
		n.Text = about(number, strings.TrimSuffix(legible.Text(refusal.Message), ".")+".")
		if refusal.Hint != "" {
			n.Text += " " + legible.Capital(legible.Text(refusal.Hint)) + "."
		}
	}
	return n, true
}

// about returns a sentence that names its question.
func about(number int, text string) string {
	label := fmt.Sprintf("question %d", number)
	if strings.HasPrefix(text, label+" ") {
		return legible.Capital(text)
	}
	return legible.Capital(label) + ": " + text
}

// outcome says what the ledger holds after a word.
func outcome(w Reply, answer api.ReplyAnswer) page.Notice {
	n := page.Notice{Text: announce.Recorded(w.Question, aaep.Resolution(answer.Resolution))}
	expected := map[string]string{"accept": "accepted", "reject": "rejected"}[w.Decision]
	switch {
	case answer.Unused:
		n.Refused, n.Text = true, announce.Unused(w.Question)
	case w.Verb == VerbAnswer && w.Decision == "" && answer.Resolution != "answered",
		expected != "" && answer.Resolution != expected && (expected != "rejected" || answer.Resolution != "stopped"):
		n.Refused = true
		n.Text = fmt.Sprintf("Question %d was already %s. Your answer did not count.", w.Question, legible.Text(answer.Resolution))
	case answer.Resolution == "accepted":
		n.Undo = w.Question
	case w.Verb == VerbExtend:
		n.Open = true
	}
	return n
}

// stopForm stops a session from the page.
func (s *Server) stopForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	_, err := s.hub.Reply(r.Context(), v.Principal, Reply{Verb: VerbStop, Session: r.PathValue("session"), At: s.now()})
	if err != nil {
		return err
	}
	return s.done(w, r, v, page.Notice{Text: "Stopping. No further step is taken; what had already happened will be said."})
}

// done answers a form: with a notice for the script, or by leading back to the page,
// which then shows it.
func (s *Server) done(w http.ResponseWriter, r *http.Request, v visitor, n page.Notice) error {
	if !wantsPage(r) && accepts(r, "application/json") {
		writeJSON(w, http.StatusOK, s.pageLanguage(r).Notice(n))
		return nil
	}
	s.flashes.add(v.form, n)
	to := "/"
	if session := r.PostForm.Get("session"); session != "" {
		to += "?session=" + url.QueryEscape(session)
	}
	http.Redirect(w, r, to+"#notice", http.StatusSeeOther)
	return nil
}
