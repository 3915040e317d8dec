package narrate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// Translation says the events of sessions in the language of a catalogue. It is safe for concurrent use, and
// deterministic: an event always has the same text.
type Translation struct {
	catalogue Catalogue
	speaker   *Speaker
}

// NewTranslation compiles a catalogue. Its error is [ErrIncomplete], or names the message that does not compile.
func NewTranslation(c Catalogue) (*Translation, error) {
	if err := c.Complete(); err != nil {
		return nil, fmt.Errorf("catalogue %s: %w", c.Tag, err)
	}
	speaker, err := NewSpeaker(c)
	if err != nil {
		return nil, err
	}
	return &Translation{catalogue: c, speaker: speaker}, nil
}

// Tag returns the language, as a BCP 47 tag.
func (t *Translation) Tag() string { return t.catalogue.Tag.String() }

// ByMachine reports whether no native speaker has put their name to the catalogue.
func (t *Translation) ByMachine() bool { return t.catalogue.ByMachine() }

const (
	keyBegan      = "turn.began"
	keyByMachine  = "translated.by_machine"
	keyOriginal   = "translated.original"
	fieldHints    = "localization_hints"
	fieldExtended = "extensions"
	fieldChoices  = "choices"
)

// Event returns an event, as its row has it, in this language: the message of the row's template and parameters takes the
// place of each English text. Whatever is not one of Earshot's own sentences stays as it is: arguments, tools' and
// agents' words, and an event without a template.
//
// While nobody has put their name to the catalogue, the first event of a session says that a machine made the
// translation, and a question that can lead to something irreversible or of high risk keeps its English text behind the
// translation: a yes to a mistranslation is not a yes.
func (t *Translation) Event(raw []byte, template string, params jsontext.Value) ([]byte, error) {
	if template == "" {
		return raw, nil
	}
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	said, err := t.speaker.render(template, p)
	if err != nil || len(said) == 0 {
		return raw, err
	}
	e := translatedEvent{said: said}
	if err := json.Unmarshal(raw, &e.members); err != nil {
		return nil, fmt.Errorf("an event of the ledger: %w", err)
	}
	e.with = t.wrapper(template, e.members)
	tag := t.Tag()
	err = errors.Join(e.replace(), e.replaceChoices(), e.replaceExtension(t, p),
		encode(e.members, fieldHints, aaep.LocalizationHints{PrimaryLanguage: tag, TextDirection: direction(tag)}))
	if err != nil {
		return nil, err
	}
	return e.inOrderOf(raw)
}

// translatedEvent is an event under translation.
type translatedEvent struct {
	members map[string]jsontext.Value
	said    map[string]string
	with    func(translated, english string) string
}

// inOrderOf writes the members in the order of the event that they are from (ENV-58).
func (e *translatedEvent) inOrderOf(raw []byte) ([]byte, error) {
	from := jsontext.NewDecoder(bytes.NewReader(raw))
	var out bytes.Buffer
	to := jsontext.NewEncoder(&out)
	_, err := from.ReadToken()
	err = errors.Join(err, to.WriteToken(jsontext.BeginObject))
	for err == nil && from.PeekKind() != '}' {
		var name jsontext.Token
		if name, err = from.ReadToken(); err == nil {
			value := e.members[name.String()]
			err = errors.Join(to.WriteToken(name), to.WriteValue(value), from.SkipValue())
		}
	}
	if err = errors.Join(err, to.WriteToken(jsontext.EndObject)); err != nil {
		return nil, fmt.Errorf("a translated event: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// wrapper returns what is added to a translated text, given the English one.
func (t *Translation) wrapper(template string, event map[string]jsontext.Value) func(translated, english string) string {
	if t.catalogue.ByMachine() {
		switch {
		case template == keyBegan:
			return t.noted
		case grave(template, event):
			return t.withEnglish
		}
	}
	return func(translated, _ string) string { return translated }
}

// noted adds that a machine has translated.
func (t *Translation) noted(translated, _ string) string {
	note, err := t.speaker.renderParam(phraseParam(keyByMachine, nil))
	if err != nil {
		return translated
	}
	return translated + " " + note
}

// withEnglish adds the English text, unless the translation is that: the sentence of a tool's author, which nobody
// translates.
func (t *Translation) withEnglish(translated, english string) string {
	if isolates.Replace(translated) == isolates.Replace(english) {
		return translated
	}
	both, err := t.speaker.renderParam(phraseParam(keyOriginal, Params{"translation": {Name: translated}, "english": {Name: english}}))
	if err != nil {
		return english
	}
	// In a language that isolates values, the translation is not one of them: it is in that language.
	isolated := string(legible.FirstIsolate) + translated + string(legible.PopIsolate)
	return strings.Replace(both, isolated, translated, 1)
}

// keyOutcome is the message of a question about an unknown outcome, whose answer can lead to a second attempt.
const keyOutcome = "fate.asked"

// grave reports whether an event asks something whose answer can lead to what is irreversible or of high risk.
func grave(template string, event map[string]jsontext.Value) bool {
	var risk aaep.Risk
	_ = json.Unmarshal(event["risk_level"], &risk) // of what cannot be read, the other member or the template says enough
	asks := len(event["action"]) > 0
	return template == keyOutcome || asks && (string(event["irreversible"]) == "true" || risk == aaep.RiskHigh)
}

// replace replaces the readable fields that the event has.
func (e *translatedEvent) replace() error {
	for name := range e.members {
		text, is := e.said[name]
		if name == fieldError && text == "" { // it repeats the summary then
			text, is = e.said[fieldNormal], true
		}
		if !is {
			continue
		}
		if err := e.set(e.members, name, text); err != nil {
			return err
		}
	}
	return e.within("progress", func(progress map[string]jsontext.Value) error {
		return e.set(progress, fieldDescription, e.said[fieldNormal])
	})
}

// set replaces a text that an object has.
func (e *translatedEvent) set(object map[string]jsontext.Value, name, translated string) error {
	var english string
	if object[name].Kind() != '"' || json.Unmarshal(object[name], &english) != nil {
		return nil //nolint:nilerr // what has another shape stays as it is
	}
	return encode(object, name, e.with(translated, english))
}

// within changes an object that the event has.
func (e *translatedEvent) within(name string, change func(map[string]jsontext.Value) error) error {
	var object map[string]jsontext.Value
	if e.members[name].Kind() != '{' || json.Unmarshal(e.members[name], &object) != nil {
		return nil //nolint:nilerr // what has another shape stays as it is
	}
	if err := change(object); err != nil {
		return err
	}
	return encode(e.members, name, object)
}

func encode(object map[string]jsontext.Value, name string, value any) error {
	raw, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("the member %s of a translated event: %w", name, err)
	}
	object[name] = raw
	return nil
}

// replaceChoices replaces the labels of Earshot's own choices.
func (e *translatedEvent) replaceChoices() error {
	var choices []aaep.Choice
	if len(e.members[fieldChoices]) == 0 || json.Unmarshal(e.members[fieldChoices], &choices) != nil {
		return nil //nolint:nilerr // what has another shape stays as it is
	}
	for i, c := range choices {
		if text, own := e.said["choice."+c.Value]; own {
			choices[i].Label = e.with(text, c.Label)
		}
	}
	return encode(e.members, fieldChoices, choices)
}

// replaceExtension replaces what our extension says in words.
func (e *translatedEvent) replaceExtension(t *Translation, p Params) error {
	return e.within(fieldExtended, func(all map[string]jsontext.Value) error {
		ours := translatedEvent{members: all, with: e.with}
		return ours.within(aaep.PrefixEarshot, func(own map[string]jsontext.Value) error {
			for name, from := range map[string]string{extDetail: "details", extEarlier: "earlier"} {
				if text, err := t.speaker.renderParam(p[from]); err == nil && !p[from].none() {
					if err := e.set(own, name, t.speaker.fit(tidy(text), t.speaker.limit(name))); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}
