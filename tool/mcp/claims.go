package mcp

import (
	"strings"

	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Claims are what a server says of one of its tools beside what it does. They stand in the definition's options.
type Claims struct {
	// Tool is the server's own name for it.
	Tool  string `json:"tool"`
	Title string `json:"title,omitzero"`
	// Server and Version are what a program calls itself. Of an address they are not kept: such a server changes without
	// anybody here having to look at it again.
	Server  string `json:"server,omitzero"`
	Version string `json:"version,omitzero"`
	// The hints. What is not said counts as the worse: it destroys, and reaches beyond what it was given.
	ReadOnly    bool  `json:"read_only,omitzero"`
	Idempotent  bool  `json:"idempotent,omitzero"`
	Destructive *bool `json:"destructive,omitzero"`
	OpenWorld   *bool `json:"open_world,omitzero"`
}

// ClaimsOf are the claims of a definition that a [Server] has made, and reports whether it is one.
func ClaimsOf(d utp.Definition) (Claims, bool) {
	var c Claims
	ok := settings.ClaimsOf(d, &c)
	return c, ok && c.Tool != ""
}

// Proposal is a first idea of a class for anyone who reviews a tool. It is made of what the server says of itself, which nobody has
// checked.
type Proposal struct {
	Class utp.Class
	Risk  utp.Risk
	// Why quotes the hints.
	Why string
}

// Propose makes a proposal of a server's claims: read for what says that it only reads, idempotent for what says that it may be
// repeated and destroys nothing, and irreversible for everything else.
func Propose(c Claims) Proposal {
	destroys := c.Destructive == nil || *c.Destructive
	switch {
	case c.ReadOnly && c.OpenWorld != nil && *c.OpenWorld:
		return Proposal{utp.Read, utp.RiskMedium, "the server says that it only reads, and that it reaches out: what it is given leaves this machine"}
	case c.ReadOnly:
		return Proposal{utp.Read, utp.RiskLow, "the server says that it only reads"}
	case c.Idempotent && !destroys:
		return Proposal{utp.Idempotent, utp.RiskMedium, "the server says that it destroys nothing and may be repeated"}
	}
	said := []string{}
	if c.Idempotent {
		said = append(said, "it may be repeated")
	}
	switch {
	case c.Destructive == nil:
	case destroys:
		said = append(said, "it may destroy")
	default:
		said = append(said, "it only adds")
	}
	why := "the server says nothing of its effects"
	if len(said) > 0 {
		why = "the server says that " + strings.Join(said, " and that ")
	}
	return Proposal{utp.Irreversible, utp.RiskHigh, why}
}
