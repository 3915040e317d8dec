package mcp

import (
	"strings"

	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Claims are a server's statements about one of its tools. They are stored in the definition's options.
type Claims struct {
	// Tool is the server's own name for it.
	Tool  string `json:"tool"`
	Title string `json:"title,omitzero"`
	// Server and Version are the name and version that a program reports. They are not recorded for a remote server,
	// because it can change without anyone here reviewing it again.
	Server  string `json:"server,omitzero"`
	Version string `json:"version,omitzero"`
	// Protocol reports that it is not a tool of the server, but a request whose meaning the protocol defines.
	Protocol bool `json:"protocol,omitzero"`
	// The hints. A missing hint counts as the worse value: the tool destroys, and affects more than its arguments.
	ReadOnly    bool  `json:"read_only,omitzero"`
	Idempotent  bool  `json:"idempotent,omitzero"`
	Destructive *bool `json:"destructive,omitzero"`
	OpenWorld   *bool `json:"open_world,omitzero"`
}

// ClaimsOf returns the claims in a definition that a [Server] has made, and whether there are any.
func ClaimsOf(d utp.Definition) (Claims, bool) {
	var c Claims
	ok := settings.ClaimsOf(d, &c)
	return c, ok && c.Tool != ""
}

// ServerOf returns the name of the server whose tool a definition is; "" if it is not of a [Server].
func ServerOf(d utp.Definition) string {
	if _, is := ClaimsOf(d); !is {
		return ""
	}
	name, err := d.Service()
	if err != nil {
		return ""
	}
	return name
}

// Proposal is a suggested class for the operator who reviews a tool. It is based on the server's own statements, which
// nobody has verified.
type Proposal struct {
	Class utp.Class
	Risk  utp.Risk
	// Why quotes the hints.
	Why string
}

// Propose suggests a class: read if the server says that the tool only reads, idempotent if it says that the tool may
// be repeated and destroys nothing, and irreversible otherwise.
func Propose(c Claims) Proposal {
	destroys := c.Destructive == nil || *c.Destructive
	switch {
	case c.Protocol && c.ReadOnly:
		return Proposal{utp.Read, utp.RiskLow, "by the protocol it only reads"}
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
	why := "the server does not say what its effects are"
	if len(said) > 0 {
		why = "the server says that " + strings.Join(said, " and that ")
	}
	return Proposal{utp.Irreversible, utp.RiskHigh, why}
}
