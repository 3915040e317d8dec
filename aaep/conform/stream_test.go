package conform_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// A stream is written as a text, one message on a line: the name of a base and
// name=value pairs, a name with dots for what lies inside. What a line leaves out
// follows from its place: id and time of the event. at=N sets the second; repeat sends
// the line before once more, byte for byte; reordered, spaced and escaped send it once
// more in another form. A value is true, false, null, a number, a list as JSON, or a text,
// with ~ for its spaces; - takes the member away.

// words are bases under the name of what they say in a stream.
var replyWords = map[string]string{"accept": "accept", "reject": "reject"}

func streamOf(text string) []jsontext.Value {
	var all []jsontext.Value
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		if form, ok := forms[words[0]]; ok {
			all = append(all, form(all[len(all)-1]))
			continue
		}
		all = append(all, lineOf(len(all), words).JSON())
	}
	return all
}

// forms are the ways of sending a message once more.
var forms = map[string]func(jsontext.Value) jsontext.Value{
	"repeat": func(m jsontext.Value) jsontext.Value { return m },
	"spaced": func(m jsontext.Value) jsontext.Value {
		return jsontext.Value(strings.NewReplacer(`":`, `" : `, `,"`, `, "`).Replace(string(m)))
	},
	"escaped": func(m jsontext.Value) jsontext.Value {
		return jsontext.Value(strings.NewReplacer("aaep:", `\u0061aep\u003a`, `"producer"`, `"\u0070roducer"`).Replace(string(m)))
	},
	"reordered": func(m jsontext.Value) jsontext.Value {
		head, tail, _ := strings.Cut(string(m), `,"producer":`)
		return jsontext.Value(`{"producer":` + strings.TrimSuffix(tail, "}") + "," + strings.TrimPrefix(head, "{") + "}")
	},
}

func lineOf(n int, words []string) object {
	base := words[0]
	var o object
	if decision, ok := replyWords[base]; ok {
		o = on("creply", "decision", decision)
	} else {
		o = on(base)
	}
	if base != "request" && o[0].name == "@context" {
		o = o.with("event_id", fmt.Sprintf("evt_%d", n+1))
	}
	seconds := n
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			panic("no pair: " + word)
		case name == "at":
			seconds = scalar(value).(int)
		case name == "@context":
			o = o.with(name, list("https://aaep-protocol.org/context/v1", value))
		default:
			o = o.with(strings.ReplaceAll(name, ".", "/"), scalar(value))
		}
	}
	dated := slices.ContainsFunc(o, func(m member) bool { return m.name == "timestamp" })
	if !dated || strings.Contains(strings.Join(words, " "), "timestamp=") {
		return o
	}
	start := time.Date(2026, 5, 24, 14, 22, 0, 0, time.UTC)
	return o.with("timestamp", start.Add(time.Duration(seconds)*time.Second).Format("2006-01-02T15:04:05.000Z"))
}

func scalar(value string) any {
	switch value {
	case "true", "false":
		return value == "true"
	case "null":
		return nil
	case "-":
		return absent{}
	}
	if n, err := strconv.Atoi(value); err == nil {
		return n
	}
	if strings.HasPrefix(value, "[") {
		return literal(value)
	}
	return strings.ReplaceAll(value, "~", " ")
}

// stream is a vector about a stream.
func stream(verdict conform.Verdict, rule, slug, title string, at int, path, text string) source {
	v := conform.Vector{ID: rule + "-" + slug, Rule: rule, Title: title, Kind: conform.KindStream, Mode: conform.ModeProducer, Verdict: verdict, Stream: streamOf(text)}
	if verdict != conform.VerdictValid {
		v.Path = place(path)
		switch at {
		case ending:
			at = len(v.Stream)
			v.At = &at
		case somewhere:
		default:
			v.At = &at
		}
	}
	return source{v}
}

// The places of what only the end of a stream shows, and of what judges may tell at
// one message or at another.
const (
	ending    = -1
	somewhere = -2
)

func flows(rule, slug, title, text string) source {
	return stream(conform.VerdictValid, rule, slug, title, 0, anywhere, text)
}

func fails(rule, slug, title string, at int, path, text string) source {
	return stream(conform.VerdictError, rule, slug, title, at, path, text)
}

func warns(rule, slug, title string, at int, path, text string) source {
	return stream(conform.VerdictWarning, rule, slug, title, at, path, text)
}

// exchange is a request and its answer; a finding is about the answer.
func exchange(verdict conform.Verdict, rule, slug, title, path string, request, answer object) source {
	v := conform.Vector{ID: rule + "-" + slug, Rule: rule, Title: title, Kind: conform.KindExchange, Mode: conform.ModeProducer, Verdict: verdict, Stream: []jsontext.Value{request.JSON(), answer.JSON()}}
	if verdict != conform.VerdictValid {
		at := 1
		v.Path, v.At = place(path), &at
	}
	return source{v}
}
