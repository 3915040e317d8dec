package narrate

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Wording is what a tool's definition says about itself to people, in its options. Its
// texts are messages (see the package documentation) whose parameters are facts.
//
//	"options": {
//	  "consent": {
//	    "action":      "Delete {items, plural, one {# file} other {# files}} in {root}.",
//	    "consequence": "They cannot be brought back. This frees {bytes}.",
//	    "hint":        "list",
//	    "facts":       {"items": {"count": "/sets/*/delete/*"}, "root": {"text": "/root"}, …}
//	  },
//	  "doing":  {"text": "Looking through {root}.", "facts": {…}},
//	  "result": {"success": "Deleted {deleted, plural, one {# file} other {# files}}.", "partial": "…", "failed": "…",
//	             "facts": {"deleted": {"value": "/deleted"}}}
//	}
//
// The facts of consent and doing are found in the arguments, those of result in the
// result; doing sees those of consent too.
type Wording struct {
	Consent ConsentWording `json:"consent,omitzero"`
	Doing   DoingWording   `json:"doing,omitzero"`
	Result  ResultWording  `json:"result,omitzero"`
}

// ConsentWording is how consent is asked for.
type ConsentWording struct {
	Action      string `json:"action,omitzero"`
	Consequence string `json:"consequence,omitzero"`
	Hint        string `json:"hint,omitzero"` // what else one can do; passed on as extensions.earshot.hint
	// Covers are JSON pointers of members of the arguments that the action stands for, which it
	// states by their count and sum: once reviewed, their values need not be read before a yes.
	Covers []string       `json:"covers,omitzero"`
	Facts  jsontext.Value `json:"facts,omitzero"`
}

// DoingWording is what is said when the tool is called.
type DoingWording struct {
	Text  string         `json:"text,omitzero"`
	Facts jsontext.Value `json:"facts,omitzero"`
}

// ResultWording is what is said of a result, by its status. Without partial or failed
// a plain sentence is said.
type ResultWording struct {
	Success string         `json:"success,omitzero"`
	Partial string         `json:"partial,omitzero"`
	Failed  string         `json:"failed,omitzero"`
	Facts   jsontext.Value `json:"facts,omitzero"`
}

// ParseWording reads the wording in a definition's options and checks that every text
// and fact compiles. A tool without any is not an error. A narrator never fails for bad
// wording, it says something plainer; this is for anyone who reviews a definition.
func ParseWording(options jsontext.Value) (Wording, error) {
	w, err := readWording(options)
	if err != nil {
		return w, err
	}
	for _, facts := range []jsontext.Value{w.Consent.Facts, w.Doing.Facts, w.Result.Facts} {
		if _, err := ParseFacts(facts); err != nil {
			return w, err
		}
	}
	texts := []string{w.Consent.Action, w.Consent.Consequence, w.Doing.Text, w.Result.Success, w.Result.Partial, w.Result.Failed}
	for _, text := range texts {
		if _, err := parsePhrase(text); err != nil {
			return w, err
		}
	}
	return w, nil
}

func readWording(options jsontext.Value) (Wording, error) {
	var w Wording
	if len(options) == 0 {
		return w, nil
	}
	if err := json.Unmarshal(options, &w); err != nil {
		return Wording{}, &utp.DefinitionError{Field: "options", Found: "malformed", Expected: "consent, doing and result as objects of texts", Err: err}
	}
	return w, nil
}

// wording is the wording of a tool, empty where it cannot be read.
func wording(d utp.Definition) Wording {
	w, err := readWording(d.Options)
	if err != nil {
		return Wording{}
	}
	return w
}

// find evaluates facts, none where they cannot be read.
func find(facts, value jsontext.Value) Params {
	parsed, err := ParseFacts(facts)
	if err != nil {
		return Params{}
	}
	return parsed.Find(value)
}
