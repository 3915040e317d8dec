package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Offer is an operation as agents see it.
type Offer struct {
	Target      string // the name of the service: one token
	Tool        string
	Description string
	Class       utp.Class // empty, like the risk, if the operator's review sets both
	Risk        utp.Risk  // empty means low for a read and high for all else
	// Parameters is the JSON Schema of the arguments.
	Parameters jsontext.Value
	// Meaning is everything that decides what a call does, such as a program with its arguments, without any secret. It
	// is encoded as JSON, and its hash is part of the definition's digest: an operator's review of one command does not
	// cover another under the same name.
	Meaning any
	// Program is the program that runs, if any; it is part of the definition's options for people to read.
	Program *Program
	// Claims are what another party, such as the server that runs it, says about the operation, for the operator who
	// reviews it. They are encoded as JSON in the definition's options, and have no other effect.
	Claims any
	// Phrases are the operation's own texts for people.
	Phrases Phrases
}

// Program is a program, identified by its content.
type Program struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // in hexadecimal digits
}

// optionEarshot is Earshot's part of a definition's options.
const optionEarshot = "earshot"

type earshotOption struct {
	Meaning string         `json:"meaning"`
	Program *Program       `json:"program,omitzero"`
	Claims  jsontext.Value `json:"claims,omitzero"`
}

// ClaimsOf decodes the claims of a definition that [Offer.Definition] made, and reports whether there are any.
func ClaimsOf(d utp.Definition, into any) bool {
	var o struct {
		Earshot earshotOption `json:"earshot"`
	}
	return json.Unmarshal(d.Options, &o) == nil && len(o.Earshot.Claims) > 0 && json.Unmarshal(o.Earshot.Claims, into) == nil
}

// ProgramOf returns the program that a definition of [Offer.Definition] runs; the zero value if it runs none.
func ProgramOf(d utp.Definition) Program {
	var o struct {
		Earshot earshotOption `json:"earshot"`
	}
	if json.Unmarshal(d.Options, &o) != nil || o.Earshot.Program == nil {
		return Program{}
	}
	return *o.Earshot.Program
}

// Definition returns the definition to register.
func (o Offer) Definition() (utp.Definition, error) {
	raw, err := json.Marshal(o.Meaning, json.Deterministic(true))
	if err != nil {
		return utp.Definition{}, fmt.Errorf("the meaning of %s: %w", o.Tool, err)
	}
	sum := sha256.Sum256(raw)
	var extension earshotOption
	extension.Meaning, extension.Program = hex.EncodeToString(sum[:]), o.Program
	if o.Claims != nil {
		if extension.Claims, err = json.Marshal(o.Claims, json.Deterministic(true)); err != nil {
			return utp.Definition{}, fmt.Errorf("the claims of %s: %w", o.Tool, err)
		}
	}
	members, err := o.Phrases.options()
	if err != nil {
		return utp.Definition{}, fmt.Errorf("the words of %s: %w", o.Tool, err)
	}
	if members[optionEarshot], err = json.Marshal(extension); err != nil {
		return utp.Definition{}, fmt.Errorf("the options of %s: %w", o.Tool, err)
	}
	options, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return utp.Definition{}, fmt.Errorf("the options of %s: %w", o.Tool, err)
	}
	d := utp.Definition{
		Tool: o.Tool, Description: o.Description, Parameters: o.Parameters,
		Target:         "cg." + utp.Version + ".{project_id}.{channel_id}.cmd.tool." + o.Target + ".call",
		AfterExecution: utp.Suspend, Class: o.Class, Risk: o.Risk, Options: options,
	}
	if d.Risk == "" && d.Class != "" {
		d.Risk = utp.RiskHigh
		if d.Class == utp.Read {
			d.Risk = utp.RiskLow
		}
	}
	return d, d.Validate()
}

// CheckTarget says what is wrong with the name of a service, or "".
func CheckTarget(name string) string {
	if utp.ValidToken(name) {
		return ""
	}
	return "1 to 128 of A-Z a-z 0-9 _ and -, such as printer"
}

// CheckOffer says what is wrong with an operation's own texts, and in which field.
func CheckOffer(tool, description string, class utp.Class, risk utp.Risk) (name, found, expected string) {
	switch {
	case tool == "":
		return "tool", "there is no name", "a name such as printer.print"
	case strings.TrimSpace(description) == "":
		return "description", "nothing says what it does", "a sentence; people read it before they consent"
	case !class.Valid():
		return "class", "it is " + quote(string(class)), "read, idempotent, reversible or irreversible"
	case risk != "" && !risk.Valid():
		return "risk", "it is " + quote(string(risk)), "low, medium or high"
	}
	return "", "", ""
}
