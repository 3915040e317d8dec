package web

import (
	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// speak converts an announcement to its wire form.
func speak(a Announcement) api.Announcement {
	p := api.Announcement{
		ID: a.ID, Session: a.Session, Seq: a.Seq, Text: legible.Text(a.Text), Language: a.Language, Priority: string(a.Priority), Kind: string(a.Kind), Question: a.Question,
		At: a.At.UTC(),
	}
	if a.Language != "" {
		p.Direction = string(aaep.Direction(a.Language))
	}
	return p
}
