package page

import (
	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// Announcement is an announcement as it is sent.
func Announcement(a announce.Announcement) api.Announcement {
	p := api.Announcement{
		ID: a.ID, Session: a.Session, Seq: a.Seq, Text: legible.Text(a.Text), Language: a.Language, Priority: string(a.Priority), Kind: string(a.Kind), Question: a.Question,
		At: a.At.UTC(),
	}
	if a.Language != "" {
		p.Direction = string(aaep.Direction(a.Language))
	}
	return p
}

// Surface is what a page is to those who hear it: it shows the answer itself, and is pressed.
var Surface = announce.Surface{Name: "page", Controls: announce.ControlsButtons}
