package web

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// Principal is the authenticated sender of a request.
type Principal = access.Principal

// Terminal is a session of a terminal in which a person logs in.
type Terminal = access.Terminal

// Delivery is one event as it is sent.
type Delivery = hub.Delivery

// Announcement is one finished sentence.
type Announcement = announce.Announcement

func sameRights(a, b Principal) bool {
	return a.Name == b.Name && slices.Equal(a.Roles, b.Roles) && slices.Equal(a.Projects, b.Projects) && slices.Equal(a.Owners, b.Owners) && (a.Unattended == "") == (b.Unattended == "")
}
