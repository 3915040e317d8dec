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
	// AnswerLimit is the hook timeout that is configured in hosts.
	AnswerLimit = time.Hour
	// tellLimit is the configured timeout of hooks that only report something.
	tellLimit = 10 * time.Second
	// longestMargin and shortestMargin limit how long before the host's timeout a hook answers.
	longestMargin, shortestMargin = time.Minute, 5 * time.Second
)

// Before returns the time within which a hook must answer if the host's timeout is limit.
func Before(limit time.Duration) time.Duration {
	return limit - min(longestMargin, max(shortestMargin, limit/10))
}

// Settings is what a host needs in one of its settings files.
type Settings struct {
	// File is the path of the file, relative to the user's home folder.
	File string
	// Version is the member "version" of the file; 0 if it has none.
	Version int
	// Hooks is the member "hooks", by the host's event names.
	Hooks object
	// Then is what the person still has to do in the host; "" means nothing.
	Then string
}

// Settings returns the host's settings for the given earshot program, with additional arguments for the hook.
func (h Host) Settings(program string, args ...string) Settings {
	var command strings.Builder
	for _, word := range slices.Concat([]string{cmp.Or(program, "earshot"), "hook", h.Name, "--answer-before", short(Before(AnswerLimit))}, args) {
		command.WriteString(" " + quoted(word))
	}
	return h.settings(command.String()[1:], AnswerLimit)
}

// Event returns the host's name of the event before it uses a tool.
func (h Host) Event() string {
	for name, kind := range h.events {
		if kind == Use {
			return name
		}
	}
	return ""
}

// Events returns the events for which the hook runs, sorted.
func (s Settings) Events() []string { return slices.Sorted(maps.Keys(s.Hooks)) }

// JSON returns a file with only these settings.
func (s Settings) JSON() ([]byte, error) {
	file := object{"hooks": s.Hooks}
	if s.Version != 0 {
		file["version"] = s.Version
	}
	return json.Marshal(file, json.Deterministic(true), jsontext.WithIndent("  ")) //nolint:wrapcheck // it has no cause outside
}

// shellHook returns one hook in the format that Claude Code, Codex and Gemini CLI share. Their timeouts have different
// units.
func shellHook(command string, limit, unit time.Duration) object {
	return object{"type": "command", "command": command, "timeout": int(limit / unit)}
}

// matchers registers a hook for the tools that match; "" for an event without a tool.
func matchers(hook object, tools string) []object {
	entry := object{"hooks": []object{hook}}
	if tools != "" {
		entry["matcher"] = tools
	}
	return []object{entry}
}

// short formats a duration as people write it: 59m, not 59m0s.
func short(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }

// quoted quotes a word for a shell.
func quoted(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+", r)
	}) < 0
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
