package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// fillIn fills the start box in from a session of the visitor's. One that is not there, or of an agent that is not in the
// box, leaves it empty: its reader sees that, and nothing is lost.
func (s *Server) fillIn(ctx context.Context, v visitor, box *page.Start, session string) {
	if box == nil || session == "" {
		return
	}
	one, err := s.hub.Session(ctx, v.Principal, session)
	if err != nil || one.Owner != v.Name {
		return
	}
	i := slices.IndexFunc(s.options.Startable, func(a StartAgent) bool { return a.Name == one.Agent })
	if i < 0 || !slices.ContainsFunc(box.Agents, func(a page.StartAgent) bool { return a.Name == one.Agent }) {
		return
	}
	box.Open = true
	box.Request, box.Agent, box.Folder = one.Request, one.Agent, folderIn(s.options.Startable[i], one.Request, one.Args)
	box.Again = &page.Template{
		Session: one.ID, Name: legible.Text(one.DisplayName()), Request: one.Request, Agent: one.Agent,
	}
}

// folderIn finds the folder that an agent has made a turn's arguments of: the text among them that makes the same ones again. It
// returns "" if there is none.
func folderIn(agent StartAgent, request string, args jsontext.Value) string {
	want := args.Clone()
	if want.Canonicalize() != nil {
		return ""
	}
	for _, text := range texts(args) {
		made, err := agent.Args(request, text)
		if err == nil && made.Canonicalize() == nil && bytes.Equal(made, want) {
			return text
		}
	}
	return ""
}

// texts returns the texts of a JSON value, in order, names of members among them.
func texts(value jsontext.Value) []string {
	var found []string
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return nil
			}
			return found
		}
		if token.Kind() == '"' {
			found = append(found, token.String())
		}
	}
}
