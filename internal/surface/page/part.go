package page

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// Part is a session in the tree of those whose work another one has handed out.
type Part struct {
	Number        string // in the tree, for who does not see it: 2.1 is the first part of the second
	Name, Request string
	State, Tone   string
	Waits         bool // for an answer
	Link          string
	Parts         []Part
}

// newPart makes the line of one.
func newPart(one api.SessionPart, number string, waiting map[string]string) Part {
	p := Part{
		Number: number, Name: legible.Text(api.Session{Name: one.Name, Agent: one.Agent}.DisplayName()), Request: legible.Text(one.Request),
		State: stateRunning, Link: "/sessions/" + url.PathEscape(one.Session),
	}
	switch {
	case one.Result != "":
		outcome := outcomeOfResult(string(one.Result))
		p.State, p.Tone = string(outcome), outcome.Tone()
	case waiting[one.Session] != "":
		p.State, p.Waits = waiting[one.Session], true
	case one.Status == "queued":
		p.State = stateQueued
	}
	for i, below := range one.Parts {
		p.Parts = append(p.Parts, newPart(below, fmt.Sprintf("%s.%d", number, i+1), waiting))
	}
	return p
}

// Tree is where a session stands among those whose work is handed out.
type Tree struct {
	Above *Part  // the session that has handed this work out; nil if a person asked for it
	Below []Part // what this one has handed to other agents
}

// NewTree makes the tree of a session. Waiting says on whom each session waits.
func NewTree(one api.Session, waiting map[string]string) Tree {
	var t Tree
	if one.PartOf != nil {
		above := newPart(*one.PartOf, "", waiting)
		t.Above = &above
	}
	for i, part := range one.Parts {
		t.Below = append(t.Below, newPart(part, strconv.Itoa(i+1), waiting))
	}
	return t
}

// write adds the tree to a text.
func (t Tree) write(b *strings.Builder) {
	if t.Above != nil {
		b.WriteString("Part of " + t.Above.Name + ".\n")
	}
	if len(t.Below) > 0 {
		b.WriteString("Handed to other agents:\n")
	}
	for _, p := range t.Below {
		p.write(b)
	}
}

// write adds the part and those below it to a text, a line each.
func (p Part) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s%s %s: %s\n", strings.Repeat("  ", strings.Count(p.Number, ".")), p.Number, p.Name, p.State)
	for _, below := range p.Parts {
		below.write(b)
	}
}

// outcomeOfResult is the outcome of a turn whose result this is.
func outcomeOfResult(status string) Outcome {
	switch status {
	case "success":
		return Done
	case "partial":
		return Partly
	case "failed":
		return Failed
	case "timeout":
		return TimedOut
	case "canceled":
		return Stopped
	}
	return Ended
}
