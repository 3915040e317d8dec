package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// StartAgent is an agent that people start from the page.
type StartAgent struct {
	Name  string
	About string // what it does, in a sentence
	// Folders are those that it may work in, or below; none if it takes no folder.
	Folders []string
	// Args makes the turn's arguments of the person's request and a folder; either may be empty. Its error is for the
	// person.
	Args func(request, folder string) (jsontext.Value, error)
}

// startBox is the box in which a visitor starts an agent; nil if they may not, or there is none. Where the agents cannot be
// read there is no box: the questions on the page matter more.
func (s *Server) startBox(ctx context.Context, v visitor, after string) *page.Start {
	if v.form == "" || !v.May(api.Start) {
		return nil
	}
	all, err := s.startable(ctx)
	if err != nil {
		s.log.ErrorContext(ctx, "the agents that can be started cannot be read", "error", err)
	}
	if len(all) == 0 {
		return nil
	}
	box := page.Start{Form: v.form, Key: startKey(v.form, after, s.now().String())}
	for _, one := range all {
		if one.line.Formal {
			box.Others = append(box.Others, one.line)
			continue
		}
		box.Agents = append(box.Agents, one.line)
		for _, folder := range one.Folders {
			if !slices.Contains(box.Folders, folder) {
				box.Folders = append(box.Folders, folder)
			}
		}
	}
	if len(box.Folders) == 1 {
		box.Folder = box.Folders[0]
	}
	return &box
}

// startKey is another one for each page that is made. A form that arrives twice therefore starts one turn.
func startKey(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return "page-" + hex.EncodeToString(sum[:16])
}

// startForm starts an agent from the start box.
func (s *Server) startForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	started, err := s.startFrom(r, v)
	refusal, is := errors.AsType[*Refusal](err)
	switch {
	case is && wantsPage(r) && correctable(refusal):
		return s.startAgain(w, r, v, refusal)
	case is && !wantsPage(r) && (refusal.Kind == api.KindInvalid || refusal.Kind == api.KindConflict):
		return s.done(w, r, v, page.Notice{Refused: true, Field: refusal.Field, Text: "Not started: " + sentences(refusal)})
	case err != nil:
		return err
	case !wantsPage(r):
		writeJSON(w, http.StatusOK, page.Notice{Text: "Started.", Session: started.Session})
		return nil
	}
	toSession(w, r, started.Session)
	return nil
}

// toSession leads to the session that was started.
func toSession(w http.ResponseWriter, r *http.Request, session string) {
	http.Redirect(w, r, "/?session="+url.QueryEscape(session)+"#session-heading", http.StatusSeeOther)
}

// correctable reports whether the same person may send the form again, with other words or later. They keep what they typed.
func correctable(refusal *Refusal) bool {
	switch refusal.Kind {
	case api.KindInvalid, api.KindConflict, api.KindTooLarge, api.KindBusy, api.KindUnavailable, api.KindUncertain, api.KindNotFound:
		return true
	case api.KindUnauthenticated, api.KindForbidden, api.KindMethod, api.KindMedia, api.KindMisdirected, api.KindInternal:
	}
	return false
}

// startAgain shows the page with what was typed, and why nothing came of it.
func (s *Server) startAgain(w http.ResponseWriter, r *http.Request, v visitor, refusal *Refusal) error {
	view, err := s.homeView(r.Context(), v, r.PostForm.Get("session"), false)
	if err != nil {
		return err
	}
	if view.Start == nil {
		return refusal
	}
	box := view.Start
	box.Request, box.Agent, box.Folder = r.PostForm.Get("request"), r.PostForm.Get("agent"), r.PostForm.Get("folder")
	box.Key = keyAgain(r, refusal, box.Key)
	box.Refuse(refusal.Field, sentences(refusal))
	view.Title = "Not started: " + view.Title
	return s.show(w, r, refusal.status(), "home", view)
}

// keyAgain is the key of a form that is sent again: the same one where a turn may have begun, so that there is one.
func keyAgain(r *http.Request, refusal *Refusal, other string) string {
	if key := r.PostForm.Get("key"); key != "" && (refusal.Kind == api.KindUnavailable || refusal.Kind == api.KindUncertain) {
		return key
	}
	return other
}

// sentences says what was found, and what to do.
func sentences(refusal *Refusal) string {
	text := strings.TrimSuffix(legible.Text(refusal.Message), ".") + "."
	if refusal.Hint != "" {
		text += " " + legible.Capital(strings.TrimSuffix(legible.Text(refusal.Hint), ".")) + "."
	}
	return text
}

func (s *Server) startFrom(r *http.Request, v visitor) (api.EnqueueAnswer, error) {
	name := r.PostForm.Get("agent")
	all, err := s.startable(r.Context())
	if err != nil {
		return api.EnqueueAnswer{}, err
	}
	i := slices.IndexFunc(all, func(a startable) bool { return a.Name == name && !a.line.Formal })
	if i < 0 {
		return api.EnqueueAnswer{}, &Refusal{
			Kind: api.KindInvalid, Message: fmt.Sprintf("there is no agent %s to start here", clip(name)), Hint: "choose one of the list", Field: page.FieldAgent,
		}
	}
	request := strings.TrimSpace(r.PostForm.Get("request"))
	args, err := all[i].Args(request, strings.TrimSpace(r.PostForm.Get("folder")))
	if err != nil {
		return api.EnqueueAnswer{}, err
	}
	return s.start(r.Context(), v, api.TurnStart{Agent: name, Request: request, Args: args, Key: r.PostForm.Get("key")})
}
