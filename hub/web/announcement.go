package web

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// spoken is an announcement as it goes out.
type spoken struct {
	ID        string `json:"id"`
	Session   string `json:"session_id,omitzero"`
	Seq       int64  `json:"seq,omitzero"`
	Text      string `json:"text"`
	Language  string `json:"language,omitzero"`
	Direction string `json:"direction,omitzero"`
	Priority  string `json:"priority"`
	Kind      string `json:"kind,omitzero"`
	Question  int    `json:"question,omitzero"`
	At        string `json:"at,omitzero"`
}

func speak(a Announcement) spoken {
	p := spoken{
		ID: a.ID, Session: a.Session, Seq: a.Seq, Text: legible.Text(a.Text), Language: a.Language, Priority: string(a.Priority), Kind: string(a.Kind), Question: a.Question,
	}
	if a.Language != "" {
		p.Direction = string(aaep.Direction(a.Language))
	}
	if !a.At.IsZero() {
		p.At = a.At.UTC().Format(time.RFC3339Nano)
	}
	return p
}
