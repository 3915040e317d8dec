package aaep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Severity says how much a [Violation] weighs.
type Severity string

const (
	// SeverityError breaks a duty: a MUST, a schema limit, or what follows from them.
	SeverityError Severity = "error"
	// SeverityWarning departs from advice: a SHOULD, an appendix, a guide.
	SeverityWarning Severity = "warning"
	// SeverityInfo is worth knowing and breaks nothing.
	SeverityInfo Severity = "info"
)

// Violation is one finding: the rule that was broken, where, and how.
type Violation struct {
	Rule     string   `json:"rule"`           // the first rule in the order of the catalogue
	Also     []string `json:"also,omitempty"` // further rules that the same finding breaks
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`    // JSON pointer (RFC 6901); "" is the whole message
	Message  string   `json:"message"` // what was found, what was expected
	Spec     string   `json:"spec"`    // section of the specification
}

// String is one line: rule, severity, place and finding.
func (v Violation) String() string {
	at := v.Path
	if at == "" {
		at = "(message)"
	}
	return fmt.Sprintf("%s %s at %s: %s", v.Rule, v.Severity, at, v.Message)
}

// Names reports whether the finding breaks the rule with this id.
func (v Violation) Names(rule string) bool {
	return v.Rule == rule || slices.Contains(v.Also, rule)
}

// Errors returns the findings whose severity is [SeverityError].
func Errors(found []Violation) []Violation {
	var errors []Violation
	for _, v := range found {
		if v.Severity == SeverityError {
			errors = append(errors, v)
		}
	}
	return errors
}

// chapters is the order of the rule catalogue.
var chapters = []string{
	"ENV", "START", "COMP", "ERR", "CANC", "STATE", "PROG", "TINV", "TCOM", "OUT", "CONFM", "CLAR", "HAND", "PAY",
	"SEQ", "CONF", "CLA", "HS", "CAP", "BP", "MS", "MAN", "JWS", "EXT", "TR", "SEC", "I18N", "VER", "QEXT",
}

// Ranked sorts rule ids into the order of the catalogue and drops repeats; an empty
// id is dropped too. The first of the result is a violation's Rule, the rest its Also.
func Ranked(rules ...string) []string {
	sorted := slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == "" })
	slices.SortStableFunc(sorted, compareRules)
	return slices.Compact(sorted)
}

func compareRules(a, b string) int {
	chapterA, numberA := splitRule(a)
	chapterB, numberB := splitRule(b)
	if chapterA != chapterB {
		return chapterA - chapterB
	}
	return numberA - numberB
}

// splitRule turns CONF-20 into the place of CONF among the chapters, and 20. An
// unknown chapter comes last.
func splitRule(rule string) (chapter, number int) {
	name, digits, _ := strings.Cut(rule, "-")
	chapter = slices.Index(chapters, name)
	if chapter < 0 {
		chapter = len(chapters)
	}
	number, err := strconv.Atoi(digits)
	if err != nil {
		number = 0
	}
	return chapter, number
}
