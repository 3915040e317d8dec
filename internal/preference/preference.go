// Package preference reads what a person wishes for themselves, and says what holds.
package preference

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// noLimit is the longest that a question can stay open.
const noLimit = consent.MaxSeconds * time.Second

// shortestAnswer is the least time to answer that somebody can wish for.
const shortestAnswer = api.MinAnswerSeconds * time.Second

// shortestUndo and longestUndo bound the time to take an accept back.
const (
	shortestUndo = api.MinUndoSeconds * time.Second
	longestUndo  = api.MaxUndoSeconds * time.Second
)

// UndoTime reads a time to take an accept back in seconds; nil where none is given.
func UndoTime(text string, given bool) (*int, error) {
	return wishedTime(text, given, wished{
		what: "time to take an accept back", least: shortestUndo, most: longestUndo, bounds: "3s to 2m", sample: "20s or 1m",
		hint:     "for example `earshot set undo-time 20s`, or default",
		keywords: map[string]time.Duration{"default": 0},
	})
}

// AnswerTime reads a time to answer in seconds; nil where none is given.
func AnswerTime(text string, given bool) (*int, error) {
	return wishedTime(text, given, wished{
		what: "time to answer", least: shortestAnswer, most: noLimit, bounds: "30s to 24h", sample: "90s or 15m",
		hint:     "for example `earshot set answer-time 15m`, or unlimited, or default",
		keywords: map[string]time.Duration{"default": 0, "unlimited": noLimit},
	})
}

// wished is a time that somebody can wish for: in its bounds, or by a word of its own.
type wished struct {
	what, bounds, sample, hint string
	least, most                time.Duration
	keywords                   map[string]time.Duration
}

// wishedTime reads it in seconds; nil where none is given.
func wishedTime(text string, given bool, w wished) (*int, error) {
	if !given {
		return nil, nil //nolint:nilnil // nothing is to be set, and that is not an error
	}
	text = strings.TrimSpace(text)
	d, named := w.keywords[strings.ToLower(text)]
	if !named {
		var err error
		d, err = time.ParseDuration(shortUnits(text))
		if _, bare := strconv.Atoi(text); bare == nil {
			return nil, cause.Misuse(fmt.Sprintf("%.64q has no unit; a time is one such as %s", text, w.sample), w.hint)
		}
		if err != nil || d < w.least || d > w.most {
			return nil, cause.Misuse(fmt.Sprintf("%.64q is not a valid %s; it can be %s", text, w.what, w.bounds), w.hint)
		}
	}
	n := int(d / time.Second)
	return &n, nil
}

// shortUnits writes a time as [time.ParseDuration] reads it where it is written as people do: "15 minutes", "1 hour and 30 min".
func shortUnits(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == ',' })
	for i, word := range words {
		number := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
		switch word[len(number):] {
		case "hour", "hours", "hr", "hrs":
			words[i] = number + "h"
		case "minute", "minutes", "min", "mins":
			words[i] = number + "m"
		case "second", "seconds", "sec", "secs":
			words[i] = number + "s"
		case "and":
			words[i] = number
		}
	}
	return strings.Join(words, "")
}

// Undo says for how long a person can take an accept back; 0 is what everybody has.
func Undo(person string, seconds int) string {
	d := time.Duration(seconds) * time.Second
	if d == 0 {
		d = turn.DefaultUndo
	}
	return fmt.Sprintf("%s can take an accept back for %s, or longer where the tool or the policy says so.", cause.OneLine(person), legible.Duration(d))
}

// Answer says how long questions to a person stay open; 0 is as the policy and the tool say.
func Answer(person string, seconds int) string {
	switch d := time.Duration(seconds) * time.Second; {
	case d == 0:
		return fmt.Sprintf("questions to %s stay open as long as the policy and the tool say.", cause.OneLine(person))
	case d >= noLimit:
		return fmt.Sprintf("questions to %s have no time limit; a question stays open for 24 hours at most.", cause.OneLine(person))
	default:
		return fmt.Sprintf("questions to %s stay open for %s once they are shown.", cause.OneLine(person), legible.Duration(d))
	}
}

// Text writes a time in seconds as [AnswerTime] and [UndoTime] read it.
func Text(seconds int) string {
	d := time.Duration(seconds) * time.Second
	switch {
	case d == 0:
		return "default"
	case d >= noLimit:
		return "unlimited"
	}
	text := d.String()
	text, _ = strings.CutSuffix(text, "m0s")
	if text != d.String() {
		text += "m"
	}
	if hours, whole := strings.CutSuffix(text, "h0m"); whole {
		text = hours + "h"
	}
	return text
}
