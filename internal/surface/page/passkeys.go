package page

import (
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// Passkeys is the page on which a person's passkeys are added and removed.
type Passkeys struct {
	Navigation Navigation
	Notice     *Notice // what came of the last change; nil if there was none
	Form       string
	Required   string // what they are for
	Rows       []Passkey
	// First: the next one is the first that can be used here. Usable: browsers use passkeys on this page.
	First, Usable bool
}

// Passkey is one of them.
type Passkey struct {
	ID, Name, Added, Used string
	Elsewhere             string // where it can be used, if that is not here
}

// NewPasskeys makes the page of a host name; "" is one on which browsers use none. Times are told in the zone.
func NewPasskeys(all api.PasskeysAnswer, host, form string, zone *time.Location) Passkeys {
	p := Passkeys{Form: form, Required: RequiredText(all.Required), First: true, Usable: host != ""}
	day := func(at time.Time) string { return at.In(zone).Format("2 January 2006") }
	for _, one := range all.Passkeys {
		row := Passkey{ID: one.ID, Name: legible.Text(one.Name), Added: day(one.Added), Used: "never used"}
		if !one.Used.IsZero() {
			row.Used = "last used " + day(one.Used)
		}
		if one.Site == host {
			p.First = false
		} else {
			row.Elsewhere = "It is for the page at " + legible.Text(one.Site) + ", and cannot be used here."
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// RequiredText says which accepts take a passkey.
func RequiredText(required string) string {
	switch required {
	case "":
		return "No answer takes a passkey on this server. The operator asks for it with --require-presence."
	case "high":
		return "Accepting what has a high risk, or cannot be undone, takes your passkey."
	case "irreversible":
		return "Accepting what cannot be undone takes your passkey."
	default:
		return "Each accept takes your passkey."
	}
}
