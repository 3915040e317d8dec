package producer

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
)

// answer judges the answer to a request.
func (x *exam) answer(in input, l *listener) []effect {
	l.line++
	x.evidence.Saw("HS-07")
	if l.large {
		x.evidence.Saw("TR-12")
	}
	if kind := report.TypeOf(in.raw); kind != aaep.TypeSubscriptionAccepted && kind != aaep.TypeSubscriptionRejected {
		if l.large {
			x.breach(l, in.raw, "", "TR-12", fmt.Sprintf("found the status %d for a request of %d bytes, expected that messages of 64 KiB pass", in.status, largeRequest))
			return x.unanswered(l, "the large request is not answered")
		}
		x.breach(l, in.raw, "", "HS-07", "found neither subscription.accepted nor subscription.rejected, expected one of them as the answer to the request")
		return x.unanswered(l, "the subscription is not answered")
	}
	x.judge(l, in.raw)
	accepted, err := aaep.DecodeSubscriptionAccepted(in.raw)
	if err == nil {
		return x.grant(in, l, accepted)
	}
	rejected, err := aaep.DecodeSubscriptionRejected(in.raw)
	if err != nil {
		return x.unanswered(l, "the answer to the subscription cannot be read")
	}
	return x.reject(in, l, rejected)
}

// judge validates one message by itself.
func (x *exam) judge(l *listener, raw []byte) {
	d := aaep.Read(raw)
	id, _ := d.Text("event_id")
	x.exercise(d)
	x.find(l, raw, id, d.Validate(aaep.ModeProducer)...)
}

// grant takes the terms of a subscription.
func (x *exam) grant(in input, l *listener, accepted aaep.SubscriptionAccepted) []effect {
	l.accepted = &accepted
	x.find(l, in.raw, "", accepted.Answers(l.request)...)
	x.evidence.Saw("HS-32", "CAP-14", "EXT-16")
	x.evidence.Saw(asksFor(l.request.Capabilities)...)
	if l.plain {
		x.breach(l, in.raw, "", "CAP-14", "found a subscription that is accepted only without the capability grease, expected that what is unknown is ignored", "EXT-16")
	}
	if x.sse {
		x.evidence.Saw("TR-SSE-01", "TR-SSE-02")
		if in.status != http.StatusCreated || in.place == "" {
			x.breach(l, in.raw, "", "TR-SSE-02", fmt.Sprintf("found the status %d, expected 201 with a Location that names the stream", in.status))
		}
	}
	switch x.area {
	case "tr-uds":
		x.evidence.Saw("TR-UDS-03")
	case "tr-grpc":
		x.evidence.Saw("TR-GRPC-01", "TR-GRPC-02", "TR-GRPC-04")
	case "tr-ws":
		x.evidence.Saw("TR-WS-02", "TR-WS-03", "TR-WS-04")
		if in.name != socket.Subprotocol {
			x.breach(l, in.raw, "", "TR-WS-02", fmt.Sprintf("found the subprotocol %q, expected %s", in.name, socket.Subprotocol))
		}
	}
	if l.version != "" {
		x.evidence.Saw("HS-44", "VER-05")
		if accepted.AAEPVersion == l.version {
			x.breach(l, in.raw, "", "HS-44", fmt.Sprintf("found version %s accepted, which does not exist; expected version_unsupported, or another version", l.version))
		}
	}
	if l.asks.AcceptSignedManifestsOnly != nil {
		x.evidence.Saw("HS-45", "CAP-13", "HS-27")
	}
	if !l.probe {
		return []effect{{who: in.who, kind: doListen, place: in.place}}
	}
	l.answered = true
	effects := x.dialNext()
	if raw, err := (aaep.SubscriptionClose{SubscriptionID: accepted.SubscriptionID, ReasonCode: "probe_done"}).Encode(); err == nil {
		effects = append(effects, effect{who: in.who, kind: doSend, raw: raw, of: aaep.TypeSubscriptionClose})
	}
	return append(effects, effect{who: in.who, kind: doLeave})
}

// asksFor are the rules about terms that are asked for.
func asksFor(c aaep.Capabilities) []string {
	rules := []string{"HS-30"}
	if c.MaxEventsPerSecond > 0 {
		rules = append(rules, "HS-28")
	}
	if c.Languages != nil {
		rules = append(rules, "HS-29", "I18N-16")
	}
	if c.EventFilters != nil {
		rules = append(rules, "HS-31")
	}
	return rules
}

// reject takes a refusal. One that a probe is meant to get is as it should be.
func (x *exam) reject(in input, l *listener, rejected aaep.SubscriptionRejected) []effect {
	reason := fmt.Sprintf("it is refused: %s: %s", rejected.ReasonCode, rejected.ReasonMessage)
	switch {
	case l.version != "":
		x.evidence.Saw("HS-44", "VER-05")
		if rejected.ReasonCode != aaep.ReasonVersionUnsupported {
			x.breach(l, in.raw, "", "HS-44", fmt.Sprintf("found the reason %q, expected version_unsupported", rejected.ReasonCode))
		}
	case l.asks.AcceptSignedManifestsOnly != nil:
		x.evidence.Saw("HS-45", "CAP-13")
		if rejected.ReasonCode != aaep.ReasonManifestSignatureRequired {
			x.breach(l, in.raw, "", "HS-45", fmt.Sprintf("found the reason %q, expected manifest_signature_required", rejected.ReasonCode))
		}
	case l.grease && !l.plain:
		l.plain = true
		return []effect{{who: in.who, kind: doLeave}, x.dial(in.who)}
	}
	return append(x.unanswered(l, reason), effect{who: in.who, kind: doLeave})
}

// unanswered notes that a listener will hear nothing.
func (x *exam) unanswered(l *listener, problem string) []effect {
	l.answered, l.gone = true, true
	if !l.probe {
		l.problem = problem
	}
	if l.name == "main" {
		x.refused = &report.Error{Message: "the producer does not let anybody listen: " + problem, Hint: "check the token and its rights"}
	}
	return x.dialNext()
}

// replied judges the answer to what was sent back over HTTP, and what a producer answers to new terms on either transport.
func (x *exam) replied(in input, l *listener, now time.Time) []effect {
	switch in.of {
	case aaep.TypeSubscriptionRenegotiate:
		x.renewed(in.raw, l, now)
	case aaep.TypeSubscriptionClose:
		if !l.probe && in.status >= http.StatusBadRequest {
			x.evidence.Saw("HS-70")
			x.breach(l, in.raw, "", "HS-70", fmt.Sprintf("found the status %d for subscription.close, expected that it is accepted", in.status))
		}
	case tried:
		if t := x.tries; t != nil && t.current != nil {
			t.current.answered(x, in, l)
		}
	case repeated:
		if in.status != http.StatusNoContent {
			text := fmt.Sprintf("found the status %d for a reply whose token is used, expected 204 as for the first: what is ignored is not told", in.status)
			x.breach(l, in.raw, "", "CONF-56", text, "SEC-19")
		}
	default:
		x.evidence.Saw("TR-09", "TR-SSE-04", "TR-SSE-08")
		switch {
		case in.status >= http.StatusBadRequest || in.status == 0:
			x.breach(l, in.raw, "", "TR-09", fmt.Sprintf("found the status %d for a valid %s, expected that a reply can be sent", in.status, in.of))
		case in.status != http.StatusNoContent:
			x.breach(l, in.raw, "", "TR-SSE-08", fmt.Sprintf("found the status %d for a %s, expected 204", in.status, in.of))
		case l.repeats != nil:
			raw := l.repeats
			l.repeats = nil
			return []effect{x.again(in.who, raw)}
		}
	}
	return nil
}

// renewed takes the answer to new terms.
func (x *exam) renewed(raw []byte, l *listener, now time.Time) {
	x.evidence.Saw("HS-61")
	if kind := report.TypeOf(raw); kind == aaep.TypeSubscriptionAccepted || kind == aaep.TypeSubscriptionRejected {
		l.line++
		x.judge(l, raw)
	}
	accepted, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		if report.TypeOf(raw) != aaep.TypeSubscriptionRejected {
			x.breach(l, raw, "", "HS-61", "found neither subscription.accepted nor subscription.rejected, expected one of them as the answer to subscription.renegotiate")
		}
		l.gone, l.problem = true, "the new terms are not accepted"
		return
	}
	x.evidence.Saw("HS-62", "HS-63")
	before, after := l.accepted.HonoredCapabilities, accepted.HonoredCapabilities
	asked := before.Clone()
	asked.EventFilters = l.renegotiates
	x.find(l, raw, "", after.Exceeds(asked)...)
	if !slices.EqualFunc(before.Languages, after.Languages, strings.EqualFold) {
		x.breach(l, raw, "", "HS-62", fmt.Sprintf("found the languages %v after new filters, expected %v as before", after.Languages, before.Languages))
	}
	l.accepted.HonoredCapabilities, l.renewed = after, now
	l.checker.Check(raw)
}
