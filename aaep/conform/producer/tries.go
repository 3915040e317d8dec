package producer

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

const (
	// tryTime is how long it is watched what a producer does about a reply that does not count.
	tryTime = 400 * time.Millisecond
	// tryRoom is how long a question must be open, so that the answer that counts still comes in time.
	tryRoom = 15 * time.Second
	// tried stands for the type of a reply that does not count.
	tried = "tried"
)

// try is a reply that does not count, and the rule that says so. Each says no, so that a producer that takes it does no harm; only where
// questions are accepted anyway there is one that is neither a yes nor a no.
type try struct {
	rule, about string
	also        []string
	raw         []byte
	unread      bool // the producer may say that it cannot be read
	bare        bool // it is sent without the token
}

// tries come one after the other before the answer to the first question.
type tries struct {
	question input
	heard    heard
	current  *try
	left     []try
	due      time.Time // of the next; zero when all have come
}

// asked is what the one who answers does about a question: the first is answered only when the replies that do not count have come.
func (x *exam) asked(in input, l *listener, h heard, now time.Time) []effect {
	event, err := aaep.DecodeEvent(in.raw)
	if err != nil {
		return nil // it has findings of its own
	}
	if x.leftAlone(event) {
		x.silent = append(x.silent, newSilence(event, report.Finding{Peer: l.name, Line: h.line, EventID: h.id, Message: report.Beginning(in.raw)}))
		return nil
	}
	p, confirms := event.Payload.(aaep.AwaitingConfirmation)
	if x.tries != nil || !confirms || event.Time.Add(time.Duration(p.TimeoutSeconds)*time.Second).Sub(now) < tryRoom {
		return x.reply(in, l, h, now)
	}
	x.tries = &tries{question: in, heard: h, left: x.unfit(l, event, p, now)}
	return x.nextTry(now)
}

// nextTry sends the next reply that does not count, or, when there is none, the answer.
func (x *exam) nextTry(now time.Time) []effect {
	t := x.tries
	if len(t.left) == 0 {
		t.current, t.due = nil, time.Time{}
		return x.reply(t.question, x.listeners[t.question.who], t.heard, now)
	}
	t.current, t.left, t.due = &t.left[0], t.left[1:], now.Add(tryTime)
	x.evidence.Saw(t.current.rule)
	x.evidence.Saw(t.current.also...)
	return []effect{{who: t.question.who, kind: doSend, raw: t.current.raw, of: tried, bare: t.current.bare}}
}

// unfit returns the replies to a question that do not count. Those that may end a connection both ways are sent over HTTP only.
func (x *exam) unfit(l *listener, event aaep.Event, p aaep.AwaitingConfirmation, now time.Time) []try {
	no := aaep.ConfirmationReply{ReplyToken: p.ReplyToken, Decision: aaep.DecisionReject, SubscriptionID: l.accepted.SubscriptionID, Timestamp: now}
	late, other, strange := no, no, no
	late.Timestamp = event.Time.Add(time.Duration(p.TimeoutSeconds) * time.Second)
	other.ReplyToken += "x"
	strange.SubscriptionID = "sub_conformnobody"
	all := []try{
		{rule: "CONF-51", about: "a token that no question has", raw: written(other)},
		{rule: "CONF-53", about: "the time at which the question expires", also: []string{"SEC-05"}, raw: written(late)},
		{rule: "CONF-61", about: "the reply to a clarification, with the token of a confirmation", raw: written(aaep.ClarificationReply{
			ReplyToken: p.ReplyToken, Response: aaep.YesNoResponse(false), SubscriptionID: no.SubscriptionID, Timestamp: now,
		})},
		{rule: "SEC-04", about: "a subscription that does not exist", also: []string{"MS-07"}, raw: written(strange)},
	}
	for _, o := range x.listeners {
		if can := o.terms().SupportsConfirmationReply; o.cuts && o.accepted != nil && (can == nil || !*can) {
			deaf := no
			deaf.SubscriptionID = o.accepted.SubscriptionID
			all = append(all, try{rule: "SEC-04", about: "a subscription that was not asked", also: []string{"MS-07"}, raw: written(deaf)})
		}
	}
	if !x.sse {
		return all
	}
	if x.o.Token != "" {
		all = append(all, try{rule: "CONF-54", about: "a sender who has shown no token", also: []string{"SEC-03", "CONF-09"}, raw: written(no), bare: true})
	}
	all = append(all, try{rule: "CONF-50", about: "no time", raw: without(written(no), "timestamp"), unread: true})
	if x.o.Answer == aaep.DecisionAccept {
		odd := strings.Replace(string(written(no)), `"reject"`, `"earshot_conform_neither"`, 1)
		all = append(all, try{rule: "CONF-55", about: "a decision that is neither a yes nor a no", raw: []byte(odd), unread: true})
	}
	return all
}

// written is a reply of this package, which can always be written.
func written(m interface{ Encode() ([]byte, error) }) []byte {
	raw, err := m.Encode()
	if err != nil {
		panic(fmt.Sprintf("a reply that does not count: %v", err))
	}
	return raw
}

// without takes a member out of a message of this package.
func without(raw []byte, name string) []byte {
	var members map[string]jsontext.Value
	err := json.Unmarshal(raw, &members)
	delete(members, name)
	shorter, failed := json.Marshal(members, json.Deterministic(true))
	if err != nil || failed != nil {
		panic(fmt.Sprintf("a reply without %s: %v, %v", name, err, failed))
	}
	return shorter
}

// answered judges the answer over HTTP to a reply that does not count: the same as to one that does, so that nobody learns why.
func (t *try) answered(x *exam, in input, l *listener) {
	if t.bare || t.unread || in.status == http.StatusNoContent {
		return
	}
	text := fmt.Sprintf("found the status %d for a reply with %s, expected 204 as for one that counts: what is ignored is not told", in.status, t.about)
	x.breach(l, in.raw, "", "CONF-56", text, "SEC-19")
}

// moved finds that a question is over although only replies came that do not count.
func (x *exam) moved(l *listener, d aaep.Document, h heard) {
	t := x.tries
	if t == nil || t.current == nil || !l.answers || h.session != t.heard.session || !movesOn(d, h) {
		return
	}
	raw, _ := d.Value()
	said := fmt.Sprintf("found that the session goes on after a reply with %s, expected that such a reply is ignored", t.current.about)
	x.breach(l, raw, h.id, t.current.rule, said, t.current.also...)
	t.current, t.left, t.due = nil, nil, time.Time{}
}

// movesOn reports whether an event shows that its session waits no more.
func movesOn(d aaep.Document, h heard) bool {
	forever, _ := d.Flag("irreversible")
	return slices.Contains(terminals, h.kind) || h.kind == aaep.TypeToolInvoked && forever || h.leaves
}

// provoked adds to a finding about consent the rule of the reply that does not count, and after which it came.
func (x *exam) provoked(l *listener, v aaep.Violation) aaep.Violation {
	if t := x.tries; t != nil && t.current != nil && l.answers && slices.ContainsFunc(consent, v.Names) {
		v.Also = slices.Concat(v.Also, []string{t.current.rule}, t.current.also)
	}
	return v
}
