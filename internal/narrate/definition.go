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
// The facts of consent and doing come from the arguments, those of result from the result; doing can also use those of
// consent.
type Wording struct {
	Consent ConsentWording `json:"consent,omitzero"`
	Doing   DoingWording   `json:"doing,omitzero"`
	Result  ResultWording  `json:"result,omitzero"`
}

// ConsentWording is the wording of the consent question.
type ConsentWording struct {
	Action      string `json:"action,omitzero"`
	Consequence string `json:"consequence,omitzero"`
	Hint        string `json:"hint,omitzero"` // what else one can do; passed on as extensions.earshot.hint
	// Covers are JSON pointers of argument members that the action summarizes by count and sum: once reviewed, their
	// values need not be read before an accept.
	Covers []string       `json:"covers,omitzero"`
	Facts  jsontext.Value `json:"facts,omitzero"`
}

// DoingWording is the wording when the tool is called.
type DoingWording struct {
	Text  string         `json:"text,omitzero"`
	Facts jsontext.Value `json:"facts,omitzero"`
}

// ResultWording is the wording of a result, by its status. Without partial or failed, a plain sentence is used.
type ResultWording struct {
	Success string         `json:"success,omitzero"`
	Partial string         `json:"partial,omitzero"`
	Failed  string         `json:"failed,omitzero"`
	Facts   jsontext.Value `json:"facts,omitzero"`
}

// ParseWording parses the wording in a definition's options and checks that every text and fact compiles. A tool
// without wording is not an error. A narrator never fails because of bad wording, but uses plainer sentences; this
// function is for the review of a definition.
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

// wording returns the wording of a tool, empty if it cannot be parsed.
func wording(d utp.Definition) Wording {
	w, err := readWording(d.Options)
	if err != nil {
		return Wording{}
	}
	return w
}

// find evaluates facts; it returns none if they cannot be parsed.
func find(facts, value jsontext.Value) Params {
	parsed, err := ParseFacts(facts)
	if err != nil {
		return Params{}
	}
	return parsed.Find(value)
}
