package admission

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

const (
	// maxLabel is how many characters of a session's subject its name has.
	maxLabel = 48
	// counterName begins the counters that number sessions of one topic.
	counterName = "name "
)

// nameSession gives a new session its name, in which the agent is called as it is shown to people.
func (t *Tx) nameSession(q api.EnqueueRequest, again bool) (err error) {
	st := t.of
	agent := cmp.Or(st.DisplayName, q.Agent)
	st.Topic = topic(agent, q)
	st.Name, err = name(t.tx, agent, st.Topic, again)
	return err
}

// topic returns the name of a session before it is numbered: the agent, and the subject as set by who
// starts the session, else the beginning of the request.
func topic(agent string, q api.EnqueueRequest) string {
	label := strings.Join(strings.Fields(q.Label), " ")
	if label == "" {
		label = strings.TrimRightFunc(strings.Join(strings.Fields(q.Request), " "), unicode.IsPunct)
	}
	if label = firstWords(label, maxLabel); label == "" {
		return agent
	}
	return agent + ", " + label
}

// firstWords returns the beginning of a text, at most so many characters, cut between words if possible.
func firstWords(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	head := string([]rune(text)[:most])
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
		head = head[:i]
	}
	return strings.TrimRightFunc(head, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) }) + "…"
}

// name returns the name of a new session of a topic: the topic itself if no other open session has it,
// else the topic with a number behind the agent, where it is not taken for a part of the subject. A number
// is not reused while sessions of the topic are open. The ledger refuses a name that another open session
// has, also if two begin at once.
func name(tx store.Tx, agent, topic string, again bool) (string, error) {
	taken, err := isTaken(tx, topic)
	if err != nil {
		return "", err
	}
	names, err := number(tx, agent, topic, 1, taken || again)
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// isTaken reports whether an open session has the topic.
func isTaken(tx store.Tx, topic string) (bool, error) {
	open, err := tx.Turns(store.TurnFilter{Topic: topic, Open: true, Limit: 1})
	return len(open) > 0, err
}

// number returns the names of so many new sessions of a topic, which begins with the agent.
func number(tx store.Tx, agent, topic string, sessions int, taken bool) (names []string, err error) {
	sum := sha256.Sum256([]byte(topic)) // the counter outlives the session's content
	counter := counterName + hex.EncodeToString(sum[:8])
	if !taken {
		given, err := tx.Count(counter, 0)
		if err == nil && given > 0 {
			_, err = tx.Count(counter, -given)
		}
		if err != nil {
			return nil, err
		}
		names = append(names, topic)
	}
	left := int64(sessions - len(names))
	if left == 0 {
		return names, nil
	}
	n, err := tx.Count(counter, left)
	for i := n - left + 1; i <= n; i++ {
		names = append(names, agent+" "+strconv.FormatInt(i+1, 10)+strings.TrimPrefix(topic, agent))
	}
	return names, err
}
