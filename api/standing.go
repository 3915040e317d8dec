package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a [Standing], and what it has by default.
const (
	MaxStandingUses     = 1000
	DefaultStandingUses = 10
	MinStandingSeconds  = 60
	MaxStandingSeconds  = 30 * 24 * 60 * 60
	// DefaultStandingSeconds is one hour.
	DefaultStandingSeconds = 60 * 60
	MaxStandingBounds      = 64
)

// StandingScope says which calls of the same tool a standing permission is for.
type StandingScope string

// The scopes.
const (
	// ScopeSession is the default: the calls of the session that asked. The permission ends with the session.
	ScopeSession StandingScope = "session"
	// ScopeAgent is for the calls of the agent that asked, in any session of the same owner.
	ScopeAgent StandingScope = "agent"
)

// Standing asks for a standing permission, together with the accept of a question: later calls of the same tool, by the
// same agent, whose arguments meet the bounds are then allowed without a question.
type Standing struct {
	// Uses is how many calls it allows: 1 to 1,000, or 0 for 10.
	Uses int `json:"uses,omitzero"`
	// Seconds is for how long: 60 to 2,592,000 (30 days), or 0 for an hour.
	Seconds int           `json:"seconds,omitzero"`
	Scope   StandingScope `json:"scope,omitzero"`
	// Bounds limit the arguments. An argument that none of them names has to be the same as in the accepted call.
	Bounds []Bound `json:"bounds,omitzero"`
}

// BoundRule says how an argument is compared.
type BoundRule string

// The rules of a bound.
const (
	BoundEquals BoundRule = "equals"
	// BoundBegins is for texts. A text with a folder ".." in it never meets it; one with a separator in Value meets it
	// only at a separator, so that /a/b is not met by /a/bc.
	BoundBegins BoundRule = "begins"
	// BoundMost is for numbers from 0 to Value.
	BoundMost BoundRule = "at_most"
	BoundAny  BoundRule = "any"
)

// Bound limits one argument of a standing permission. A list meets begins and at_most if it is not empty and each of its
// elements does.
type Bound struct {
	// Argument is a JSON pointer into the arguments: /path, /options/depth.
	Argument string    `json:"argument"`
	Rule     BoundRule `json:"rule"`
	// Value is what the argument is compared with; absent for any.
	Value jsontext.Value `json:"value,omitzero"`
}

// StandingPermission is a standing permission as the ledger has it.
type StandingPermission struct {
	// Number names it for people, in the whole ledger.
	Number int `json:"number"`
	// Owner is whose turns it is for, By who gave it, on Surface, with the accept of Question.
	Owner    string `json:"owner"`
	By       string `json:"by"`
	Surface  string `json:"surface,omitzero"`
	Question int    `json:"question"`
	// Tool, Agent and Session are what it is for; without a session, it is for any session of that agent.
	Tool    string `json:"tool"`
	Agent   string `json:"agent"`
	Session string `json:"session_id,omitzero"`
	// AgentName is what people read in place of Agent, if an operator has defined another name.
	AgentName string `json:"agent_name,omitzero"`
	// Definition is the digest of the tool's definition; when that changes, the permission has ended.
	Definition string  `json:"definition"`
	Bounds     []Bound `json:"bounds,omitzero"`
	// BoundsText says the bounds in English.
	BoundsText string    `json:"bounds_text,omitzero"`
	Uses       int       `json:"uses"`
	Left       int       `json:"uses_left"`
	Made       time.Time `json:"made"`
	Expires    time.Time `json:"expires"`
	// Ended says why it allows nothing any more: used_up, expired, revoked, definition, approver, session, restored.
	// EndedBy is who ended it, if somebody did.
	Ended   string    `json:"ended,omitzero"`
	EndedBy string    `json:"ended_by,omitzero"`
	EndedAt time.Time `json:"ended_at,omitzero"`
}

// PermissionsRequest lists standing permissions by number, those that are in force. After is the number after which the
// page begins. Without Owners it lists those of all owners.
type PermissionsRequest struct {
	After  int      `json:"after,omitzero"`
	Number int      `json:"number,omitzero"` // lists only this one, also if it has ended
	Owners []string `json:"owners,omitzero"`
}

// PermissionsAnswer is a page of standing permissions. Next is where the next page begins, 0 if there is none.
type PermissionsAnswer struct {
	Permissions []StandingPermission `json:"permissions"`
	Next        int                  `json:"next,omitzero"`
}

// RevokeRequest ends a standing permission. By, Credential and Surface identify who does.
type RevokeRequest struct {
	Number     int    `json:"number"`
	By         string `json:"by,omitzero"`
	Credential string `json:"credential,omitzero"`
	Surface    string `json:"surface,omitzero"`
}
