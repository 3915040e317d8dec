package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// listFrame is the current content of a part of the page.
type listFrame struct {
	HTML  string `json:"html"`
	Title string `json:"title,omitzero"`
	Open  int    `json:"open"`
	Where string `json:"where,omitzero"`
	// Chosen is the session to show on a page that had none.
	Chosen string `json:"chosen,omitzero"`
	State  string `json:"state,omitzero"` // of the chosen session
	When   string `json:"when,omitzero"`  // it has begun
	Ended  bool   `json:"ended,omitzero"`
}

// lists makes the frames of those lists that the page does not have as they are.
func (p *pageStream) lists(ctx context.Context) ([]stream.Frame, page.News, error) {
	n, err := p.server.news(ctx, p.visitor, p.chosen, false)
	if err != nil {
		return nil, n, err
	}
	all, marks, err := p.server.lists(n, p.in())
	if err != nil {
		return nil, n, err
	}
	var group []stream.Frame
	have := strings.Split(p.last, ".")
	for i, frame := range all {
		if len(have) != len(all) || have[i] != marks[i] {
			group = append(group, frame)
		}
	}
	p.last = strings.Join(marks, ".")
	return group, n, nil
}

// lists makes the frames of the lists in a language, and a mark of each that is another one for another content.
func (s *Server) lists(n page.News, in *page.Language) (frames []stream.Frame, marks []string, err error) {
	questions, err := in.Render("questions", n.Questions)
	if err != nil {
		return nil, nil, err
	}
	sessions, err := in.Render("sessions", n.Sessions)
	if err != nil {
		return nil, nil, err
	}
	list := listFrame{HTML: string(sessions), Where: in.Say(n.Where())}
	if n.Chosen != nil {
		list.Chosen, list.State, list.When, list.Ended = n.Chosen.ID, in.Say(n.Chosen.State), in.Say(n.Chosen.When), n.Chosen.Ended
	}
	for _, part := range []struct {
		name string
		list listFrame
	}{
		{"earshot.questions", listFrame{HTML: string(questions), Title: in.Say(n.Title()), Open: n.Questions.Total}},
		{"earshot.sessions", list},
	} {
		made, err := encoded(part.name, part.list)
		if err != nil {
			return nil, nil, err
		}
		sum := sha256.Sum256(made[0].Data)
		frames, marks = append(frames, made...), append(marks, hex.EncodeToString(sum[:8]))
	}
	return frames, marks, nil
}
