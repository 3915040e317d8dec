package subscriber

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// request takes the first message of a subscriber. It is granted also where it is faulty, so that the rest can be judged.
func (x *exam) request(in input, now time.Time) []effect {
	x.evidence.Saw("HS-08", "L3S-2")
	if resumed := in.via.duties().resumed; resumed != "" && x.cut {
		x.evidence.Saw(resumed)
	}
	if kind := report.TypeOf(in.raw); kind == aaep.TypeSubscriptionRequest {
		x.judge(in.raw)
	} else {
		x.breach(in.raw, cmp.Or(in.via.duties().first, "HS-08"), fmt.Sprintf("found %q first, expected subscription.request", kind), "HS-08", "L3S-2")
	}
	request, err := aaep.DecodeSubscriptionRequest(in.raw) // what is wrong with it has been found
	if x.o.Level > 1 && err == nil && aaep.Read(in.raw).Has("capabilities") {
		x.evidence.Saw("L2S-2")
		if can := request.Capabilities.SupportsConfirmationReply; can == nil || !*can {
			x.breach(in.raw, "L2S-2", "found a request that does not say that confirmations can be answered, expected supports_confirmation_reply true from level 2 on")
		}
	}
	s := &subscription{id: fmt.Sprintf("sub_conform%d", len(x.subscriptions)+1), honors: request.Capabilities, via: in.via}
	s.honors.Extensions, s.honors.SupportedExtensions, s.honors.AcceptSignedManifestsOnly = nil, nil, nil
	raw := accepts(s)
	x.subscriptions[s.id] = s
	answer := effect{conn: in.conn, kind: doAnswer, status: http.StatusCreated, raw: raw, id: s.id}
	if !in.via.whole() {
		return []effect{answer}
	}
	s.conn = in.conn
	return append([]effect{answer}, x.streams(s, "", now)...)
}

// accepts writes the answer to a request. Terms that cannot be written are left out.
func accepts(s *subscription) []byte {
	accepted := aaep.SubscriptionAccepted{
		SubscriptionID: s.id, AAEPVersion: aaep.Version, Producer: aaep.Producer{AgentID: "earshot-conform"}, HonoredCapabilities: s.honors,
	}
	raw, err := accepted.Encode()
	if err != nil {
		s.honors, accepted.HonoredCapabilities = aaep.Capabilities{}, aaep.Capabilities{}
		if raw, err = accepted.Encode(); err != nil {
			panic(fmt.Sprintf("subscription.accepted: %v", err)) // it is written in this package
		}
	}
	return raw
}

// stream opens the stream of a subscription over HTTP. At level 1 it needs none.
func (x *exam) stream(in input, now time.Time) []effect {
	x.evidence.Saw("TR-SSE-11")
	s := x.subscriptions[in.subscription]
	if s == nil && in.subscription == "" && x.o.Level == 1 {
		s = &subscription{}
		x.subscriptions[""] = s
	}
	if s == nil {
		x.breach(nil, "HS-08", fmt.Sprintf("found a stream of the subscription %q, expected one that was granted", in.subscription), "L3S-2")
		return []effect{{conn: in.conn, kind: doAnswer, status: http.StatusNotFound}}
	}
	if s.conn != 0 && !x.away && !x.stopping {
		x.breaks(now) // the end of the connection before has not been noticed yet
	}
	if x.cut && x.away {
		x.resumed(s, in.after)
	}
	s.conn = in.conn
	return append([]effect{{conn: in.conn, kind: doAnswer, status: http.StatusOK}}, x.streams(s, in.after, now)...)
}

// resumed judges how a stream of server-sent events comes back after its connection was broken.
func (x *exam) resumed(s *subscription, after string) {
	x.evidence.Saw("TR-SSE-09")
	last := ""
	for _, e := range slices.Backward(x.log) {
		if e.id != "" {
			last = e.id
			break
		}
	}
	switch {
	case s != x.current:
		x.breach(nil, "TR-SSE-09", "found a new subscription after a lost connection, expected the old one with Last-Event-ID")
	case after != last:
		x.breach(nil, "TR-SSE-09", fmt.Sprintf("found Last-Event-ID %q after a lost connection, expected %s", after, last))
	}
}

// streams begins, or goes on with, the script on a connection.
func (x *exam) streams(s *subscription, after string, now time.Time) []effect {
	x.current = s
	if x.due.IsZero() {
		x.due = now
		return x.tick(now)
	}
	if x.away {
		x.away, x.cut, x.due = false, false, now.Add(settle)
	}
	var effects []effect
	for i, e := range x.log {
		if e.id != "" && e.id == after {
			for _, missed := range x.log[i:] { // the one before once more, which may happen
				effects = append(effects, x.send(missed)...)
			}
		}
	}
	return effects
}

// message judges what a subscriber sends once it has subscribed.
func (x *exam) message(in input, now time.Time) []effect {
	d := x.judge(in.raw)
	if shows := in.via.duties().replies; shows != "" {
		x.evidence.Saw(shows)
	}
	answer := []effect{{conn: in.conn, kind: doAnswer, status: http.StatusNoContent}}
	if in.via.whole() {
		answer = nil
	}
	id, _ := d.Text("subscription_id")
	s := x.subscriptions[id]
	kind, _ := d.Text("type")
	if s != nil && !s.closed.IsZero() && now.Sub(s.closed) > inFlight {
		x.breach(in.raw, "TR-08", fmt.Sprintf("found %s after subscription.close, expected nothing more", kind))
		return answer
	}
	switch kind {
	case aaep.TypeConfirmationReply, aaep.TypeClarificationReply:
		x.reply(in.raw, d, s, now)
	case aaep.TypeSubscriptionRenegotiate:
		return x.renegotiate(in, s, now)
	case aaep.TypeSubscriptionClose:
		return append(answer, x.close(in, s, now)...)
	}
	return answer
}

// renegotiate grants new terms, behind an event under the old ones (HS-64).
func (x *exam) renegotiate(in input, s *subscription, now time.Time) []effect {
	x.evidence.Saw("L3S-4", "HS-64")
	if s == nil {
		x.breach(in.raw, "HS-60", "found another subscription_id than was granted, expected that one")
		return []effect{{conn: in.conn, kind: doAnswer, status: http.StatusBadRequest}}
	}
	r, err := aaep.DecodeSubscriptionRenegotiate(in.raw)
	if err == nil && r.Capabilities.EventFilters != nil {
		s.honors.EventFilters = r.Capabilities.EventFilters
	}
	effects := []effect{{conn: in.conn, kind: doAnswer, status: http.StatusOK, raw: accepts(s)}}
	if x.due.IsZero() {
		return effects
	}
	return append(x.emit(progress, now), effects...)
}

// close takes the end of a subscription.
func (x *exam) close(in input, s *subscription, now time.Time) []effect {
	x.evidence.Saw("HS-66")
	if s == nil {
		x.breach(in.raw, "HS-66", "found another subscription_id than was granted, expected that one")
		return nil
	}
	s.closed = now
	if s != x.current {
		return nil
	}
	if x.stopping {
		x.leaves(true, now)
	} else {
		x.breaks(now)
	}
	if in.via.whole() && in.via != overGRPC {
		return nil // it is the subscriber that ends the connection; a call of gRPC ends with our status
	}
	conn := s.conn
	s.conn = 0
	return []effect{{conn: conn, kind: doEnd}}
}

// reply judges the answer to a question.
func (x *exam) reply(raw []byte, d aaep.Document, s *subscription, now time.Time) {
	confirms := report.TypeOf(raw) == aaep.TypeConfirmationReply
	x.evidence.Saw("CONF-31", "CONF-08", "L2S-4", "GD-08")
	token, _ := d.Text("reply_token")
	q := x.questions[token]
	if q == nil {
		x.breach(raw, "CONF-31", fmt.Sprintf("found the token %q, which no question has; expected it as it was sent", token), "CONF-08", "L2S-4")
		x.credit(now)
		return
	}
	rule := map[bool]string{true: "CONF-33", false: "CLA-02"}[confirms]
	x.evidence.Saw(rule, "CONF-34")
	if s == nil {
		x.breach(raw, rule, "found another subscription_id than was granted, expected that one")
	}
	x.dated(raw, d, q, now)
	x.accounted(raw, q, now)
	if q.replies++; q.replies == 1 && q.trap == "" && q.wants != "leave" {
		x.decided(raw, d, q, confirms)
	}
	if q.open() && !x.stopping {
		x.due = now.Add(settle)
	}
}

// credit takes the present question, if there is one, as answered: what was wrong with its reply has been found.
func (x *exam) credit(now time.Time) {
	if q := x.script[max(x.at, 0)].ask; q != nil && q.open() && !x.stopping {
		q.replies++
		x.due = now.Add(settle)
	}
}

// dated judges when the person has decided.
func (x *exam) dated(raw []byte, d aaep.Document, q *question, now time.Time) {
	text, _ := d.Text("timestamp")
	at, valid := aaep.ParseTime(text)
	if valid && (at.Before(q.asked.Add(-maxSkew)) || at.After(now.Add(maxSkew))) {
		x.breach(raw, "CONF-34", fmt.Sprintf("found the time %s, expected one between the question and its reply", text))
	}
}

// accounted judges whether there may be a reply.
func (x *exam) accounted(raw []byte, q *question, now time.Time) {
	switch {
	case q.trap != "":
		x.breach(raw, q.trap, "found a reply to a question that cannot be read, expected none")
	case q.wants == "leave":
		x.breach(raw, "CONF-81", "found a reply to a question that nobody was to answer, expected none by the subscriber itself", "L2S-6")
	case q.closes && now.Sub(q.closed) > inFlight:
		x.breach(raw, "CONF-77", fmt.Sprintf("found a reply %s after the question was withdrawn, expected that it disappears", now.Sub(q.closed).Round(time.Second)), "L2S-9")
	case q.replies > 0 && q.repeated:
		x.breach(raw, "TR-06", "found a second reply to a question that came twice, expected that repetitions are dropped", "L3S-6", "GD-08")
	case q.replies > 0:
		x.breach(raw, "GD-08", "found a second reply to one question, expected one")
	}
}

// decided judges the answer itself.
func (x *exam) decided(raw []byte, d aaep.Document, q *question, confirms bool) {
	if confirms != (q.kinds == nil) {
		rule := map[bool]string{true: "CLA-02", false: "CONF-30"}[confirms]
		x.breach(raw, rule, "found the reply of the other kind of question, expected that of this one")
		return
	}
	if confirms {
		x.evidence.Saw("CONF-81")
		got, _ := d.Text("decision")
		if (got == "accept" || got == "reject") && got != q.wants {
			x.breach(raw, "CONF-81", fmt.Sprintf("found %s, expected %s, as the person was asked to answer", got, q.wants), "L2S-6")
		}
		return
	}
	x.evidence.Saw("CLA-03", "L2S-7")
	reply, err := aaep.DecodeClarificationReply(raw)
	if err != nil {
		return // it has findings
	}
	if problem := misfit(reply.Response, q); problem != "" {
		x.breach(raw, "CLA-03", "found "+reply.Response.Plain()+", expected "+problem)
	}
}

// misfit is what was expected instead of a response that is not of the kind of its question, or "".
func misfit(r aaep.Response, q *question) string {
	text, isText := r.Text()
	_, isFlag := r.YesNo()
	_, isNumber := r.Number()
	switch kind := q.kinds[0]; {
	case kind == aaep.ResponseYesNo && !isFlag:
		return "true or false"
	case kind == aaep.ResponseNumeric && !isNumber:
		return "a number"
	case kind == aaep.ResponseMultipleChoice && (!isText || !slices.Contains(q.choices, text)):
		return "the value of one of the choices"
	case kind == aaep.ResponseFreetext && !isText:
		return "a text"
	}
	return ""
}
