package session_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// A stream of the tests is a text: one message a line, a short name and name=value
// pairs. What a line leaves out is filled in, so that a line shows what it is about.
// The pair at=N sets the second, repeat sends the line before once more, word for word.

var day = time.Date(2026, 5, 24, 12, 0, 0, 0, time.UTC)

func messages(t failer, stream string) [][]byte {
	t.Helper()
	var all [][]byte
	for n, line := range strings.Split(strings.TrimSpace(stream), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if words[0] == "repeat" {
			all = append(all, all[len(all)-1])
			continue
		}
		raw, err := json.Marshal(message(t, n, words))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw)
	}
	return all
}

func message(t failer, n int, words []string) map[string]any {
	t.Helper()
	given := map[string]string{}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			t.Fatalf("line %d: %q is not a pair", n, word)
		}
		given[name] = value
	}
	seconds := n
	if at, ok := given["at"]; ok {
		var err error
		if seconds, err = strconv.Atoi(at); err != nil {
			t.Fatal(err)
		}
		delete(given, "at")
	}
	m := template(t, words[0])
	if words[0] != "accepted" {
		m["timestamp"] = aaep.FormatTime(day.Add(time.Duration(seconds) * time.Second))
	}
	if _, event := m["producer"]; event {
		m["event_id"] = "evt_" + strconv.Itoa(n)
	}
	for name, value := range given {
		set(m, name, value)
	}
	return m
}

// set puts a value where the dotted name says; true, false, figures and arrays are what
// they look like, ~ is a space, and - leaves the member out.
func set(m map[string]any, name, value string) {
	if path, last, ok := cutLast(name, "."); ok {
		inner, _ := m[path].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
		}
		if first, rest, deep := strings.Cut(path, "."); deep {
			inner, _ = m[first].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
			}
			set(inner, rest+"."+last, value)
			m[first] = inner
			return
		}
		set(inner, last, value)
		m[path] = inner
		return
	}
	switch number, err := strconv.Atoi(value); {
	case err == nil:
		m[name] = number
	case value == "true" || value == "false":
		m[name] = value == "true"
	case strings.HasPrefix(value, "["):
		m[name] = json.RawMessage(value)
	case value == "-":
		delete(m, name)
	default:
		m[name] = strings.ReplaceAll(value, "~", " ")
	}
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// template is a whole message of each short name.
func template(t failer, name string) map[string]any {
	t.Helper()
	replies := map[string]string{
		"accept":  `{"type":"confirmation.reply","reply_token":"rpl_1","decision":"accept","subscription_id":"sub_1"}`,
		"reject":  `{"type":"confirmation.reply","reply_token":"rpl_1","decision":"reject","subscription_id":"sub_1"}`,
		"clarify": `{"type":"clarification.reply","reply_token":"rpl_1","response":"leave","subscription_id":"sub_1"}`,
		"extend":  `{"type":"earshot:question.extend","reply_token":"rpl_1","subscription_id":"sub_1"}`,

		"accepted": `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"tidy"},"honored_capabilities":{}}`,
	}
	payloads := map[string]string{
		"started":       `"type":"aaep:agent.session.started"`,
		"completed":     `"type":"aaep:agent.session.completed"`,
		"errored":       `"type":"aaep:agent.session.errored","urgency":"critical","error_category":"unknown"`,
		"cancelled":     `"type":"aaep:agent.session.cancelled","cancelled_by":"user"`,
		"state":         `"type":"aaep:agent.state.changed"`,
		"progress":      `"type":"aaep:agent.progress.updated","progress":{"percent":5}`,
		"invoked":       `"type":"aaep:agent.tool.invoked","tool":"scan"`,
		"done":          `"type":"aaep:agent.tool.completed","tool":"scan","status":"success"`,
		"chunk":         `"type":"aaep:agent.output.streaming","chunk":"Hello","position":0,"complete":false`,
		"confirmation":  `"type":"aaep:agent.awaiting.confirmation","urgency":"critical","action":"Delete.","consequence":"Gone.","reply_token":"rpl_1","timeout_seconds":300,"default_decision":"reject","risk_level":"high","irreversible":true`,
		"clarification": `"type":"aaep:agent.awaiting.clarification","urgency":"critical","question":"Which?","reply_token":"rpl_1","timeout_seconds":300`,
		"handoff":       `"type":"aaep:agent.handoff.requested","urgency":"critical","reason":"Help.","target_kind":"human"`,
	}
	body, ok := replies[name]
	if payload, event := payloads[name]; event {
		body, ok = `{"@context":["https://aaep-protocol.org/context/v1","https://github.com/earshot-dev/earshot/ns/v1"],"session_id":"sess_1",
			"producer":{"agent_id":"tidy"},"localization_hints":{"primary_language":"en"},`+payload+`}`, true
		if name != "chunk" {
			body = strings.TrimSuffix(body, "}") + `,"summary_normal":"Something."}`
		}
	}
	if !ok {
		t.Fatalf("no message is called %q", name)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// names reports whether a finding of this severity breaks the rule.
func names(found []aaep.Violation, severity aaep.Severity, rule string) bool {
	for _, v := range found {
		if v.Severity == severity && v.Names(rule) {
			return true
		}
	}
	return false
}

func list(found []aaep.Violation) string {
	var b strings.Builder
	for _, v := range found {
		fmt.Fprintf(&b, "\n  %s %v", v, v.Also)
	}
	return b.String()
}
