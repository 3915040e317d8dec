package web

import (
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

// startBox is the box in which a visitor starts an agent; nil if they may not, or there is none.
func (s *Server) startBox(v visitor, after string) *page.Start {
	if len(s.options.Startable) == 0 || v.form == "" || !v.May(api.Start) {
		return nil
	}
	box := page.Start{Form: v.form, Key: startKey(v.form, after, s.now().String())}
	for _, agent := range s.options.Startable {
		box.Agents = append(box.Agents, page.StartAgent{Name: agent.Name, About: agent.About})
		for _, folder := range agent.Folders {
			if !slices.Contains(box.Folders, folder) {
				box.Folders = append(box.Folders, folder)
			}
		}
	}
	return &box
}

// startKey is another one for each page that is made. A form that arrives twice therefore starts one turn.
func startKey(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return "page-" + hex.EncodeToString(sum[:16])
}

// startForm starts an agent from the page.
func (s *Server) startForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	started, err := s.startFrom(r, v)
	var refusal *Refusal
	if errors.As(err, &refusal) && (refusal.Kind == api.KindInvalid || refusal.Kind == api.KindConflict) {
		return s.done(w, r, v, page.Notice{Refused: true, Text: "Not started: " + sentences(refusal)})
	}
	if err != nil {
		return err
	}
	if !wantsPage(r) {
		writeJSON(w, http.StatusOK, page.Notice{Text: "Started.", Session: started.Session})
		return nil
	}
	http.Redirect(w, r, "/?session="+url.QueryEscape(started.Session)+"#session", http.StatusSeeOther)
	return nil
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
	i := slices.IndexFunc(s.options.Startable, func(a StartAgent) bool { return a.Name == name })
	if i < 0 {
		return api.EnqueueAnswer{}, refuse(api.KindInvalid, fmt.Sprintf("there is no agent %s to start here", clip(name)), "choose one of the list")
	}
	request := strings.TrimSpace(r.PostForm.Get("request"))
	args, err := s.options.Startable[i].Args(request, strings.TrimSpace(r.PostForm.Get("folder")))
	if err != nil {
		return api.EnqueueAnswer{}, err
	}
	return s.start(r.Context(), v, api.TurnStart{Agent: name, Request: request, Args: args, Key: r.PostForm.Get("key")})
}
