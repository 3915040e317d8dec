package admission

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
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
func (t *Tx) nameSession(q api.EnqueueRequest) error {
	st := t.of
	agent := cmp.Or(st.DisplayName, q.Agent)
	st.Topic = topic(agent, q)
	taken, err := isTaken(t.tx, st.Topic)
	if err != nil {
		return err
	}
	n := namer{tx: t.tx, project: st.Project}
	names, err := n.name(agent, st.Topic, 1, taken)
	if err == nil {
		st.Name = names[0]
	}
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

// namer names the sessions that one transaction begins.
type namer struct {
	tx      store.Tx
	project string
	names   []string // what they are called so far: none of them is saved yet
}

// name returns names for so many new sessions of a topic, which begins with the agent: the topic itself if none of its sessions
// is open, and for the others the topic with a number behind the agent, where it is not taken for a part of the subject. A number
// is not reused while sessions of the topic are open. The ledger refuses a name that another open session has, also if two begin
// at once; the transaction that is refused finds that session when it is run again.
func (n *namer) name(agent, topic string, sessions int, taken bool) (names []string, err error) {
	sum := sha256.Sum256([]byte(topic)) // the counter outlives the session's content
	counter := counterName + hex.EncodeToString(sum[:8])
	if !taken {
		if taken, err = n.restart(counter, topic); err != nil {
			return nil, err
		}
	}
	if !taken {
		if names, err = n.free(topic); err != nil {
			return nil, err
		}
	}
	for len(names) < sessions {
		left := int64(sessions - len(names))
		last, err := n.tx.Count(counter, left)
		if err != nil {
			return nil, err
		}
		var numbered []string
		for i := last - left + 1; i <= last; i++ {
			numbered = append(numbered, agent+" "+strconv.FormatInt(i+1, 10)+strings.TrimPrefix(topic, agent))
		}
		if numbered, err = n.free(numbered...); err != nil {
			return nil, err
		}
		names = append(names, numbered...)
	}
	return names, nil
}

// restart lets the numbers of a topic begin again, unless one of its sessions is open after all. Who adds to a counter keeps it
// from all others until the transaction ends, so only what is read after that still holds when the session is saved: if the
// numbers began again below that of an open session, each that comes after it would be refused.
func (n *namer) restart(counter, topic string) (taken bool, err error) {
	given, err := n.tx.Count(counter, 0)
	if err != nil || given == 0 {
		return false, err
	}
	if given, err = n.tx.Count(counter, 1); err != nil {
		return false, err
	}
	if taken, err = isTaken(n.tx, topic); err != nil {
		return false, err
	}
	back := given
	if taken {
		back = 1
	}
	_, err = n.tx.Count(counter, -back)
	return taken, err
}

// free returns those of the names that no open session has, and counts them as given. A session of another topic may have one: an
// agent may be called "tidy 2".
func (n *namer) free(names ...string) ([]string, error) {
	open, err := n.tx.Turns(store.TurnFilter{Project: n.project, Names: names, Open: true})
	if err != nil {
		return nil, err
	}
	given := slices.Clone(n.names)
	for _, row := range open {
		given = append(given, row.Name)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(given, name) })
	n.names = append(n.names, names...)
	return names, nil
}

// isTaken reports whether an open session has the topic.
func isTaken(tx store.Tx, topic string) (bool, error) {
	open, err := tx.Turns(store.TurnFilter{Topic: topic, Open: true, Limit: 1})
	return len(open) > 0, err
}
