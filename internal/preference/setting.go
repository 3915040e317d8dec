package preference

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// usual is the word that takes a preference back.
const usual = "default"

// Setting is a preference that is a word, as a person sets it: in a field of the page, or with `earshot set`.
type Setting struct {
	api.TextPreference

	Label, Help string
	// Command is its name for people, Short what it is in a few words, Placeholder what a value is called, Sample one of them.
	Command, Short, Placeholder, Sample string
	// told are the sentences of its values, with %s for the person; "" is where none is set. Of a free one there are two: the
	// other one, under "*", also has %s for the value.
	told map[string]string
}

// Settings returns them, in their order.
func Settings() []Setting {
	var all []Setting
	for one := range (api.Preferences{}).Texts() {
		s := settings[one.Name]
		s.TextPreference, s.Command = one, strings.ReplaceAll(one.Name, "_", "-")
		if len(one.Values) > 0 {
			s.Placeholder = strings.Join(one.Values, "|")
		}
		all = append(all, s)
	}
	return all
}

// settings are their words, by the names of package api.
var settings = map[string]Setting{ //nolint:gochecknoglobals // a table
	"verbosity": {
		Short: "how much of what agents do is told to you", Sample: "terse", Label: "Length of what you hear",
		Help: "How much is said of what agents do: on the page, in your terminal and in your own listeners. A question is always asked in full.",
		told: map[string]string{
			"": "what %s hears has the usual length.", "terse": "what %s hears is short, and tools that only read are left out.",
			"normal": "what %s hears has the usual length.", "detailed": "what %s hears has all details.",
		},
	},
	"language": {
		Short: "the language in which agents' work is told to you", Sample: "es", Placeholder: "TAG", Label: "Language",
		Help: "The language in which it is told what agents do: on the page, in your terminal and in your own listeners. The tag is of a language that the " +
			"server offers; English is always one. A question about something irreversible or of high risk keeps its English text.",
		told: map[string]string{"": "what agents do is told to %s in English.", "*": "what agents do is told to %s in %s, where the server offers it."},
	},
	"time_zone": {
		Short: "the zone in which times are told to you", Sample: "Europe/Berlin", Placeholder: "ZONE", Label: "Time zone",
		Help: "The zone in which times are told. Default is that of your browser or terminal.",
		told: map[string]string{"": "times are told to %s in the zone of the browser or the terminal.", "*": "times are told to %s in %s."},
	},
	"questions": {
		Short: "how many questions you are shown at once", Sample: "one", Label: "Questions at once",
		Help: "All that are open, or one at a time: on the page, in your terminal and in your own listeners. Then another question is only said to wait, " +
			"with the end of its time if that is soon, and comes in full when the one before it has ended.",
		told: map[string]string{"": "%s is shown all open questions.", "all": "%s is shown all open questions.", "one": "%s is shown one question at a time."},
	},
	"density": {
		Short: "how much room the page leaves between its parts", Sample: "compact", Label: "Room on the page",
		Help: "How much room the page, and the page of a session, leave between their parts. Buttons keep their size.",
		told: map[string]string{
			"": "the page leaves %s the usual room between its parts.", "comfortable": "the page leaves %s the usual room between its parts.",
			"compact": "the page leaves %s less room between its parts.",
		},
	},
}

// Read adds what a person has typed or chosen to the changes. The error says what the preference can be.
func (s Setting) Read(text string, changes api.Preferences) (api.Preferences, error) {
	given := strings.TrimSpace(text)
	text = given
	if len(s.Values) > 0 {
		text = strings.ToLower(text)
	}
	if strings.EqualFold(text, usual) {
		text = ""
	}
	if text != "" && !s.Allows(text) {
		return changes, cause.Misuse(fmt.Sprintf("the setting %s cannot be %.64q; it can be %s", strings.ReplaceAll(s.Name, "_", " "), given, s.Expected()),
			"default takes the preference back")
	}
	return changes.Change(s.TextPreference, text), nil
}

// Value is what is set, as [Setting.Read] reads it.
func (s Setting) Value(now api.Preferences) string {
	if text := now.Text(s.TextPreference); text != "" {
		return text
	}
	return usual
}

// Describe says what holds for a person.
func (s Setting) Describe(person string, now api.Preferences) string {
	text, person := now.Text(s.TextPreference), cause.OneLine(person)
	if sentence, found := s.told[text]; found {
		return fmt.Sprintf(sentence, person)
	}
	shown := cause.OneLine(text)
	if s.Name == "language" {
		shown = named(shown)
	}
	return fmt.Sprintf(s.told["*"], person, shown)
}
