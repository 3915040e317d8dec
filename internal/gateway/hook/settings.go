package hook

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// AnswerLimit is how long a host is told to wait for the hook.
	AnswerLimit = time.Hour
	// tellLimit is how long it is told to wait where it only tells something.
	tellLimit = 10 * time.Second
	// longestMargin is how long before the host's limit a hook answers at most, and shortestMargin at least.
	longestMargin, shortestMargin = time.Minute, 5 * time.Second
)

// Before is when a hook has to answer of which the host gives up after the limit.
func Before(limit time.Duration) time.Duration {
	return limit - min(longestMargin, max(shortestMargin, limit/10))
}

// Settings is what a host needs in one of its files of settings.
type Settings struct {
	// File is the file, below the home of the user.
	File string
	// Version is the member "version" of the file; 0 where it has none.
	Version int
	// Hooks is the member "hooks", by the host's names of events.
	Hooks object
	// Then is what the person has to do with the host itself; "" is nothing.
	Then string
}

// Settings are those of the host, for a program that is this earshot, whose hook has these arguments beside its own.
func (h Host) Settings(program string, args ...string) Settings {
	var command strings.Builder
	for _, word := range slices.Concat([]string{cmp.Or(program, "earshot"), "hook", h.Name, "--answer-before", short(Before(AnswerLimit))}, args) {
		command.WriteString(" " + quoted(word))
	}
	return h.settings(command.String()[1:], AnswerLimit)
}

// Event is the host's name of the event before it uses a tool.
func (h Host) Event() string {
	for name, kind := range h.events {
		if kind == Use {
			return name
		}
	}
	return ""
}

// Events are the events at which the hook runs, in order.
func (s Settings) Events() []string { return slices.Sorted(maps.Keys(s.Hooks)) }

// JSON is the file with nothing else in it.
func (s Settings) JSON() ([]byte, error) {
	file := object{"hooks": s.Hooks}
	if s.Version != 0 {
		file["version"] = s.Version
	}
	return json.Marshal(file, json.Deterministic(true), jsontext.WithIndent("  ")) //nolint:wrapcheck // it has no cause outside
}

// shellHook is one hook in the shape that Claude Code, Codex and Gemini CLI share. Their limits are in units of their own.
func shellHook(command string, limit, unit time.Duration) object {
	return object{"type": "command", "command": command, "timeout": int(limit / unit)}
}

// matchers has a hook run for the tools that match; "" for an event that is about no tool.
func matchers(hook object, tools string) []object {
	entry := object{"hooks": []object{hook}}
	if tools != "" {
		entry["matcher"] = tools
	}
	return []object{entry}
}

// short is a duration as people write it: 59m, not 59m0s.
func short(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }

// quoted is a word for a shell.
func quoted(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+", r)
	}) < 0
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
