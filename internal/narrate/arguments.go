package narrate

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// maxSpokenValues is how many argument values a sentence contains; more can be requested.
const maxSpokenValues = 5

// arguments returns the call's arguments, laid out for a person. Members are covered by the tool's sentence only if an
// operator has reviewed that.
func (s *eventBuilder) arguments() outline.Outline {
	var o outline.Options
	if s.t.Tool.Reviewed {
		o.Covers = s.wording().Consent.Covers
	}
	return outline.Of(s.t.Args, o)
}

// values returns the first arguments as sentences, and how many more there are.
func values(o outline.Outline, most int) Param {
	out := Param{Left: o.Left}
	for i, v := range o.Values {
		partial := v.More > 0 // and so counted among the rest
		switch {
		case v.Kind == outline.Empty && v.Path == "": // there are no arguments
		case i < most:
			out.All = append(out.All, value(v))
			if partial {
				out.Left--
			}
		case !partial:
			out.Left++
		}
	}
	return out
}

// rest returns the arguments from one on, as far as they are listed.
func rest(o outline.Outline, from int) Param {
	out := Param{}
	for _, v := range o.Values[min(from, len(o.Values)):] {
		if v.Kind != outline.Empty || v.Path != "" {
			out.All = append(out.All, value(v))
		}
	}
	return out
}

// value returns one argument as a sentence.
func value(v outline.Value) Param {
	p := Params{"name": nameOf(v)}
	switch v.Kind {
	case outline.Masked:
		return phraseParam("value.hidden", nil) // not even its name, which scanners look for (SEC-07)
	case outline.Covered:
		p["n"], p["size"], p["sha"] = count(int64(v.Count)), size(int64(v.Size)), identifier(v.SHA256)
		return phraseParam("value.covered", p)
	case outline.Secret:
		if v.Credential() {
			return phraseParam("value.secret.unnamed", nil)
		}
		return phraseParam("value.secret.named", p)
	case outline.Empty:
		p["value"] = phraseParam(map[string]string{"[]": "value.empty.list", "{}": "value.empty.object"}[v.Value], nil)
	case outline.Text:
		p["value"] = exact(v.Value, v.More)
	case outline.Literal:
		p["value"] = identifier(v.Value)
	}
	return phraseParam("value.member", p)
}

// nameOf returns a value's path for a sentence: unchanged if it consists of plain words, otherwise set apart.
func nameOf(v outline.Value) Param {
	name := v.Name()
	if legible.Plain(name) && !strings.ContainsAny(name, ":,;.!?“”\"'<>()[]{}") && strings.TrimSpace(name) != "" {
		return Param{Name: name}
	}
	return exact(name, 0)
}

// unread says which arguments are not in the event and have to be read; none if all are in it.
func (s *eventBuilder) unread(o outline.Outline, short bool) Param {
	if o.Complete() {
		return Param{}
	}
	p := Params{
		"must": yes(api.MustBeRead(s.t.Call.Class, s.t.Call.Risk)), "short": yes(short), "size": size(int64(o.Size)),
		"sha": identifier(o.SHA256), "address": identifier(api.ArgumentsAddress(s.t.Question.Number)),
	}
	if o.Left > 0 {
		p["left"] = count(int64(o.Left))
	}
	if o.Hidden > 0 {
		p["hidden"] = count(int64(o.Hidden))
	}
	return phraseParam("question.unread", p)
}

// argumentList is the member of a question's event that lists its arguments, for surfaces that show more than text.
type argumentList struct {
	outline.Outline

	// Complete means that every value is listed in full, as a secret, or as covered.
	Complete bool `json:"complete"`
	// InText means that the event's texts contain every value, so that a surface that does not know this list has shown
	// everything.
	InText bool `json:"told"`
	// Stated are the paths of the values that the action contains in full.
	Stated []string `json:"said,omitzero"`
	// Address is where all of them can be read.
	Address string `json:"address"`
}

// lists creates the list of an event, given its texts.
func (s *eventBuilder) lists(o outline.Outline, action Param, x texts) argumentList {
	l := argumentList{Outline: o, Complete: o.Complete(), Address: api.ArgumentsAddress(s.t.Question.Number)}
	for i := range action.Params["args"].All {
		l.Stated = append(l.Stated, o.Values[i].Path)
	}
	l.Stated = append(l.Stated, s.stated(o, action, x[fieldAction])...)
	l.InText = l.Complete && x[fieldDetailed] != "" // the fixed sentence contains nothing of the call
	for _, v := range rest(o, 0).All {
		said, err := s.narrator.speaker.renderParam(v)
		l.InText = l.InText && err == nil && strings.Contains(x[fieldDetailed], tidy(said))
	}
	return l
}

// stated returns the paths of the values that a tool's own action shows in full, as texts or numbers.
func (s *eventBuilder) stated(o outline.Outline, action Param, text string) []string {
	phrase, err := parsePhrase(action.Verbatim)
	facts, failed := ParseFacts(s.wording().Consent.Facts)
	if err != nil || failed != nil {
		return nil
	}
	named := phrase.params()
	var paths []string
	for _, v := range o.Values {
		shown := func(name string, f Fact) bool {
			whole := v.Kind == outline.Text && v.More == 0 && strings.Contains(text, v.Value)
			return whole && named[name] && f.Text == v.Path && action.Params[name].Text == v.Value
		}
		for name, f := range facts {
			if shown(name, f) {
				paths = append(paths, v.Path)
				break
			}
		}
	}
	return paths
}

// shows returns the list in the form that the kernel stores.
func (l argumentList) shows() store.Shows {
	switch {
	case l.InText:
		return store.ShowsInText
	case l.Complete:
		return store.ShowsInList
	default:
		return store.ShowsPart
	}
}

// covered returns the paths of the values that are stated by count and digest.
func (l argumentList) covered() []string {
	var paths []string
	for _, v := range l.Values {
		if v.Kind == outline.Covered {
			paths = append(paths, v.Path)
		}
	}
	return paths
}

// asker returns the parameters for who asks: the session's name and the request.
func (s *eventBuilder) asker() Params {
	request := strings.TrimSuffix(strings.TrimSpace(s.t.Request), ".") // it is part of a sentence
	return Params{"session": sessionName(s.t.Turn.Name), "request": quotedTo(request, capValue)}
}

// askerFacts returns the same for surfaces that show more than text.
func (s *eventBuilder) askerFacts() map[string]any {
	request, _ := clean(strings.TrimSpace(s.t.Request), capValue)
	return map[string]any{extSession: s.t.Turn.Name, extRequest: request}
}

// sessionName returns a session's name for a sentence; none if an older ledger has no name for it.
func sessionName(name string) Param {
	if name == "" {
		return Param{}
	}
	return Param{Text: valid(name)}
}
