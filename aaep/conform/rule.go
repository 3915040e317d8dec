package conform

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Level says how binding a rule is.
type Level string

// The levels. The first three are those of BCP 14.
const (
	LevelMust   Level = "MUST"
	LevelShould Level = "SHOULD"
	LevelMay    Level = "MAY"
	LevelSchema Level = "sch"   // only a schema says it, which binds producers all the same
	LevelInfer  Level = "inf"   // it follows from other rules
	LevelApp    Level = "app"   // an informative appendix says it
	LevelGuide  Level = "guide" // only a guide says it
	LevelSuite  Level = "suite" // only the public suite checks it
	LevelNone   Level = "none"  // a statement without a duty
)

// Mark says what it takes to check a rule.
type Mark string

// The marks.
const (
	MarkEvent     Mark = "E" // one event
	MarkMessage   Mark = "M" // one message, or a request and its answer
	MarkStream    Mark = "S" // the stream of one session
	MarkSeveral   Mark = "X" // several sessions or subscriptions
	MarkLive      Mark = "L" // a live exchange
	MarkFetched   Mark = "F" // a document that is fetched
	MarkHeuristic Mark = "H" // a guess at best
	MarkNone      Mark = "N" // no program can
)

// Rule is one row of the catalogue.
type Rule struct {
	ID    string `json:"id"` // such as ENV-18
	Level Level  `json:"level"`
	Who   string `json:"who"`   // P producer, S subscriber, T transport, B both, X extension author, I implementer, V validator
	Check []Mark `json:"check"` // what it takes to check it
	Spec  string `json:"spec"`  // sections of the specification, or what else says it
	Title string `json:"title"` // what it is about, in a few words of our own
	// Restates names rules that together say the same: it is covered when they are.
	Restates []string `json:"restates,omitempty"`
	// Uncovered is the reason why nothing covers a rule that vectors should cover.
	Uncovered string `json:"uncovered,omitempty"`
}

//go:embed catalogue.json
var catalogueFile []byte

// Catalogue returns every rule, in the order of the specification. The list is the
// caller's own.
func Catalogue() ([]Rule, error) {
	var file struct {
		Rules []Rule `json:"rules"`
	}
	if err := json.Unmarshal(catalogueFile, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("conform: the catalogue: %w", err)
	}
	return file.Rules, nil
}

// Area is the part of the id before its number, in lower case: env, seq, tr-sse.
func (r Rule) Area() string { return areaOf(r.ID) }

func areaOf(id string) string {
	area := id
	if i := strings.LastIndexByte(id, '-'); i > 0 {
		area = id[:i]
	}
	return strings.ToLower(area)
}

// Due reports whether vectors should cover the rule: one event, one message or one
// stream can show it, and it is more than a guide.
func (r Rule) Due() bool {
	shown := slices.ContainsFunc(r.Check, func(m Mark) bool { return m == MarkEvent || m == MarkMessage || m == MarkStream })
	return shown && slices.Contains([]Level{LevelMust, LevelShould, LevelMay, LevelSchema, LevelInfer, LevelApp}, r.Level)
}

// Exchange reports whether the rule is a MUST that no event, message or stream shows by itself: a check of one of the suites, or a test,
// covers it, or the catalogue says why none does.
func (r Rule) Exchange() bool { return r.Level == LevelMust && !r.Due() }

// beyond says why vectors are not the means to check a rule.
func (r Rule) beyond() string {
	switch {
	case slices.Contains(r.Check, MarkLive):
		return "only a live exchange shows it"
	case slices.Contains(r.Check, MarkSeveral):
		return "only several sessions or subscriptions show it"
	case slices.Contains(r.Check, MarkFetched):
		return "only a document that is fetched shows it"
	case slices.Contains(r.Check, MarkHeuristic):
		return "a program could only guess"
	case slices.Contains(r.Check, MarkNone):
		return "no program can check it"
	case r.Level == LevelNone:
		return "it states no duty"
	default:
		return "it is advice of a guide"
	}
}
