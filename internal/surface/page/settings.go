package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// Settings is the page of what its reader wishes for themselves, and of what they have allowed for longer.
type Settings struct {
	Navigation Navigation
	Notice     *Notice // what came of the last act
	Form       string
	Zone       string // in which times are told
	// MayAnswer: the reader answers questions, so they may also change their times and end a permission.
	MayAnswer bool
	Fields    []Field
	// ReadOnly are the preferences that the reader may not change, in sentences.
	ReadOnly    []string
	Permissions []Permission
	More        string // the address of the permissions behind these; "" where there are no more
}

// Wrong are the fields that could not be read.
func (s Settings) Wrong() []Field {
	var wrong []Field
	for _, f := range s.Fields {
		if f.Error != "" {
			wrong = append(wrong, f)
		}
	}
	return wrong
}

// Field is a setting with what was typed into it, and why that cannot be read.
type Field struct {
	Name, Label, Help string
	Value             string
	Choices           []FieldChoice // to choose from; none where it is typed
	Groups            []FieldGroup  // of further choices
	Now               string        // what holds now, in a sentence
	Error             string
}

// FieldGroup are choices that belong together.
type FieldGroup struct {
	Label   string
	Choices []FieldChoice
}

// Other is the value of a field if it is none of its choices, and can only be shown as one more; "" if it is.
func (f Field) Other() string {
	holds := func(c FieldChoice) bool { return c.Value == f.Value }
	if slices.ContainsFunc(f.Choices, holds) || slices.ContainsFunc(f.Groups, func(g FieldGroup) bool { return slices.ContainsFunc(g.Choices, holds) }) {
		return ""
	}
	return f.Value
}

// FieldChoice is a value to choose from, with the words that stand for it; "" is the value itself.
type FieldChoice struct {
	Value, Text string
	Language    string // of the words
	Machine     bool   // it is a language whose sentences no native speaker has read
}

// Machine are those of the choices that are languages which a machine has translated into.
func (f Field) Machine() []FieldChoice {
	var all []FieldChoice
	for _, c := range f.Choices {
		if c.Machine {
			all = append(all, c)
		}
	}
	return all
}

// Permission is a standing permission in force.
type Permission struct {
	Number int
	Text   string
	Left   string
}

// NewPermission tells of a standing permission. Its times are told in the zone.
func NewPermission(p api.StandingPermission, zone *time.Location) Permission {
	where := "in any session"
	if p.Session != "" {
		where = "in session " + legible.Text(p.Session)
	}
	text := fmt.Sprintf("%s may use %s %s", legible.Text(cmp.Or(p.AgentName, p.Agent)), legible.Text(p.Tool), where)
	if p.BoundsText != "" {
		text += ", if " + legible.Text(p.BoundsText)
	}
	left := fmt.Sprintf("%d of %d uses left, until %s. Given by %s with question %d.",
		p.Left, p.Uses, p.Expires.In(zone).Format("2 January 2006, 15:04"), legible.Text(p.By), p.Question)
	return Permission{Number: p.Number, Text: text + ".", Left: left}
}

// LaterPermissions is the address of the standing permissions behind one.
func LaterPermissions(than int) string {
	return "/settings?after=" + strconv.Itoa(than) + "#permissions"
}

// RevokedText says that a standing permission has ended, and what follows.
func RevokedText(p api.StandingPermission) string {
	if p.Ended != "revoked" {
		return fmt.Sprintf("Standing permission %d had ended already.", p.Number)
	}
	return fmt.Sprintf("Standing permission %d is revoked. %s has to ask again for %s.", p.Number, legible.Text(cmp.Or(p.AgentName, p.Agent)), legible.Text(p.Tool))
}
