package standing

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Why says why a permission allows nothing any more.
type Why string

// The reasons.
const (
	UsedUp     Why = "used_up"
	Expired    Why = "expired"
	Revoked    Why = "revoked"    // a person has ended it
	Definition Why = "definition" // the tool's definition, class or risk has changed
	Approver   Why = "approver"   // who gave it may not approve any more, or their login has ended
	Session    Why = "session"    // its session has ended
	Restored   Why = "restored"   // the ledger was restored: it may have been used up or revoked since
)

// Permission is one standing permission.
type Permission struct {
	Number int `json:"number"`
	// By gave it, with Credential, on Surface, by the accept of Question about Call.
	By         string `json:"by"`
	Credential string `json:"credential,omitempty"`
	Surface    string `json:"surface,omitempty"`
	Question   int    `json:"question"`
	Call       string `json:"call"`
	// Origin is the session of that call, and Owner, Project, Agent, Tool and so on are the call's. Session is "" if the
	// permission is for any session of the agent.
	Origin     string    `json:"origin"`
	Owner      string    `json:"owner"`
	Project    string    `json:"project"`
	Agent      string    `json:"agent"`
	AgentName  string    `json:"agent_name,omitempty"` // what people read in place of Agent, if that is another name
	Session    string    `json:"session,omitempty"`
	Tool       string    `json:"tool"`
	Definition string    `json:"definition"`
	Class      utp.Class `json:"class"`
	Risk       utp.Risk  `json:"risk"`
	// Bounds cover every argument of that call.
	Bounds  []api.Bound `json:"bounds,omitempty"`
	Uses    int         `json:"uses"`
	Used    int         `json:"used"`
	Made    time.Time   `json:"made"`
	Expires time.Time   `json:"expires"`
	// Ended is never unset. One that is used up can still be ended for another reason: its last call may not have started.
	Ended *End `json:"ended,omitempty"`
	// Version is the compare-and-set handle of the store: 0 for one that is not saved yet.
	Version int64 `json:"-"`
}

// End is the end of a permission.
type End struct {
	Why     Why       `json:"why"`
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty"`
	Surface string    `json:"surface,omitempty"`
}

// Call is a call as a permission sees it. Definition, Class and Risk are those of its tool as it is registered now.
type Call struct {
	Owner, Project, Agent, Session string
	AgentName                      string // what people read in place of Agent, if that is another name
	Tool, Definition               string
	Class                          utp.Class
	Risk                           utp.Risk
	// Args are the resolved arguments in their canonical form.
	Args jsontext.Value
}

// Giver is who gives a permission, by accepting which question about which call.
type Giver struct {
	By, Credential, Surface string
	Question                int
	Call                    string
}

// Reasons why a permission cannot be given, in words for people.
var (
	ErrIrreversible = errors.New("a standing permission is never for what cannot be undone, or for a tool that no operator has reviewed: it is asked for each time")
	ErrScope        = errors.New("the scope of a standing permission is session or agent")
	ErrUses         = fmt.Errorf("a standing permission is for 1 to %d uses", api.MaxStandingUses)
	ErrTime         = errors.New("a standing permission lasts from 1 minute to 30 days")
)

// Make makes a permission from an accepted call. It has no number yet. The errors are sentinels of this package and
// [*BoundError].
func Make(asked api.Standing, c Call, from Giver, now time.Time) (Permission, error) {
	p := Permission{
		By: from.By, Credential: from.Credential, Surface: from.Surface, Question: from.Question, Call: from.Call,
		Origin: c.Session, Owner: c.Owner, Project: c.Project, Agent: c.Agent, AgentName: c.AgentName, Tool: c.Tool, Definition: c.Definition, Class: c.Class, Risk: c.Risk,
		Uses: cmp.Or(asked.Uses, api.DefaultStandingUses), Made: now,
	}
	seconds := cmp.Or(asked.Seconds, api.DefaultStandingSeconds)
	switch {
	case irreversible(c.Class):
		return Permission{}, ErrIrreversible
	case p.Uses < 1 || p.Uses > api.MaxStandingUses:
		return Permission{}, ErrUses
	case seconds < api.MinStandingSeconds || seconds > api.MaxStandingSeconds:
		return Permission{}, ErrTime
	}
	switch asked.Scope {
	case api.ScopeSession, "":
		p.Session = c.Session
	case api.ScopeAgent:
	default:
		return Permission{}, ErrScope
	}
	p.Expires = now.Add(time.Duration(seconds) * time.Second)
	var err error
	p.Bounds, err = Complete(asked.Bounds, c.Args)
	return p, err
}

// irreversible reports whether a class counts as irreversible, as an unknown one does.
func irreversible(c utp.Class) bool { return c.Order() >= utp.Irreversible.Order() }

// Covers reports whether the permission is for such a call, whether or not it is still in force.
func (p Permission) Covers(c Call) bool {
	return p.Concerns(c) && !irreversible(c.Class) && Match(p.Bounds, c.Args)
}

// Concerns reports whether the permission is for calls of this tool, by this agent, for this owner.
func (p Permission) Concerns(c Call) bool {
	return p.Owner == c.Owner && p.Project == c.Project && p.Agent == c.Agent && p.Tool == c.Tool && (p.Session == "" || p.Session == c.Session)
}

// Left returns how many uses are left.
func (p Permission) Left() int { return max(p.Uses-p.Used, 0) }

// UseRefusal returns why the permission allows no further call of its tool as that is now, or "" while it does.
func (p Permission) UseRefusal(c Call, now time.Time) Why {
	if why := p.StartRefusal(c, now); why != "" || p.Left() > 0 {
		return why
	}
	return UsedUp
}

// StartRefusal returns why a call that the permission has allowed may not start any more, or "" while it may. That all uses
// are used up is no reason: one of them was for this call.
func (p Permission) StartRefusal(c Call, now time.Time) Why {
	switch {
	case p.Closed():
		return p.Ended.Why
	case !now.Before(p.Expires):
		return Expired
	case p.Definition != c.Definition || p.Class != c.Class || p.Risk != c.Risk || irreversible(c.Class):
		return Definition
	}
	return ""
}

// Use returns the permission with one use less, or false if it does not allow the call.
func (p Permission) Use(c Call, now time.Time) (Permission, bool) {
	if !p.Covers(c) || p.UseRefusal(c, now) != "" {
		return p, false
	}
	if p.Used++; p.Left() == 0 {
		p.Ended = &End{Why: UsedUp, At: now}
	}
	return p, true
}

// End ends the permission. One that has ended stays as it is, unless it is only used up.
func (p Permission) End(e End) Permission {
	if !p.Closed() {
		p.Ended = &e
	}
	return p
}

// Closed reports whether the permission has ended for good, so that even a call that it has allowed may not start.
func (p Permission) Closed() bool { return p.Ended != nil && p.Ended.Why != UsedUp }

// View returns the permission as people are shown it, at a time.
func (p Permission) View(now time.Time) api.StandingPermission {
	v := api.StandingPermission{
		Number: p.Number, Owner: p.Owner, By: p.By, Surface: p.Surface, Question: p.Question, Tool: p.Tool, Agent: p.Agent, AgentName: p.AgentName, Session: p.Session,
		Definition: p.Definition, Bounds: p.Bounds, BoundsText: BoundsText(p.Bounds, p.Question), Uses: p.Uses, Left: p.Left(), Made: p.Made, Expires: p.Expires,
	}
	switch {
	case p.Ended != nil:
		v.Ended, v.EndedBy, v.EndedAt = string(p.Ended.Why), p.Ended.By, p.Ended.At
	case !now.Before(p.Expires):
		v.Ended, v.EndedAt = string(Expired), p.Expires
	}
	return v
}
