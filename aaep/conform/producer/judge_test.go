package producer_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/producer"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// judged runs the judge against a producer in virtual time.
func judged(t *testing.T, p *fake, o producer.Options) report.Report {
	t.Helper()
	if o.URL == "" {
		o.URL = "http://127.0.0.1:1"
	}
	o.Transport, o.Session, o.Fresh, o.Token = p, "sess_1", true, "secret"
	report, err := producer.Judge(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// broken are the rules of the findings, each by the first that it names, without repeats.
func broken(r report.Report) []string {
	var rules []string
	for _, v := range r.Verdicts {
		for _, f := range v.Findings {
			if !slices.Contains(rules, f.Rule) {
				rules = append(rules, f.Rule)
			}
		}
	}
	return rules
}

// TestKept: a producer that does everything right breaks nothing, at each level and with each answer.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, o := range []producer.Options{
		{Level: 1}, {Level: 2}, {Level: 3}, {Answer: aaep.DecisionAccept}, silent, {Level: 1, URL: "http://127.0.0.1:1/stream"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newFake()
			p.pause, p.lapses = 3*time.Second, lapseOf(o)
			if strings.HasSuffix(o.URL, "/stream") {
				p.before = append(p.before[:5:5], ending) // nobody can answer there
			}
			report := judged(t, p, o)
			if rules := broken(report); len(rules) > 0 {
				var b strings.Builder
				_ = report.WriteText(&b, false)
				t.Errorf("%+v: found broken %v\n%s", o, rules, &b)
			}
			t.Log(report.Tally())
		})
	}
}

// row is a producer with one fault.
type row struct {
	name   string
	rule   string   // the one that it breaks
	also   []string // further rules that say the same
	breaks func(p *fake)
	o      producer.Options
}

// lapseOf is when a producer goes on by itself, in an exam that leaves its question alone.
func lapseOf(o producer.Options) time.Duration {
	if o.Answer != producer.Silence {
		return 0
	}
	return 301 * time.Second
}

// only changes what one subscriber gets.
func only(name string, change func(e string, passes bool) bool) func(s *subscription, e string, passes bool) bool {
	return func(s *subscription, e string, passes bool) bool {
		if s.name != name {
			return passes
		}
		return change(e, passes)
	}
}

// rewrites replaces text in every event.
func rewrites(old, with string) func(p *fake) {
	return func(p *fake) {
		p.shape = func(_ *subscription, e string) string { return strings.Replace(e, old, with, 1) }
	}
}

// answers changes the answer to the request of one subscriber.
func answers(name string, change func(status *int, body string) string) func(p *fake) {
	return func(p *fake) {
		p.accept = func(r aaep.SubscriptionRequest, status *int, body string) string {
			if r.SubscriberName != "Conformance: "+name {
				return body
			}
			return change(status, body)
		}
	}
}

// says changes text in the answer to one subscriber.
func says(name, old, with string) func(p *fake) {
	return answers(name, func(_ *int, body string) string { return strings.Replace(body, old, with, 1) })
}

var progress = event("progress.updated", `"urgency":"background","progress":{"step":1,"total_steps":3},"summary_normal":"On."`)

var wrong = []row{
	{name: "an id with a hyphen", rule: "ENV-18", breaks: rewrites(`"evt_4"`, `"evt-4"`)},
	{name: "one id for two events", rule: "ENV-19", breaks: rewrites(`"evt_5"`, `"evt_4"`)},
	{name: "two digits of a second", rule: "ENV-25", breaks: rewrites(`.000Z"`, `.00Z"`)},
	{name: "a time that is to come", rule: "ENV-27", breaks: rewrites(`"timestamp":"2000-`, `"timestamp":"2100-`)},
	{name: "a member of its own", rule: "ENV-47", breaks: rewrites(`"tool":"look"`, `"colour":"red","tool":"look"`)},
	{name: "a start without words", rule: "START-01", breaks: rewrites(`"summary_normal":"It has started.",`, "")},
	{name: "no start", rule: "SEQ-01", breaks: func(p *fake) { p.before = p.before[1:] }},
	{name: "an event behind the end", rule: "SEQ-04", breaks: func(p *fake) { p.behind["reject"] = append(p.behind["reject"], progress) }},
	{name: "the first state is not idle", rule: "SEQ-08", breaks: rewrites(`"from_state":"idle"`, `"from_state":"deciding"`)},
	{name: "a state that did not hold", rule: "SEQ-09", breaks: rewrites(`"from_state":"thinking"`, `"from_state":"deciding"`)},
	{name: "a completion of no call", rule: "SEQ-13", breaks: func(p *fake) { p.before = slices.Delete(p.before, 3, 4) }},
	{name: "another tool is completed", rule: "SEQ-14", breaks: rewrites(`"tool":"look","tool_call_id":"call_1","status"`, `"tool":"hear","tool_call_id":"call_1","status"`)},
	{name: "a call without an end", rule: "SEQ-16", breaks: func(p *fake) { p.before = slices.Delete(p.before, 4, 5) }},
	{name: "it deletes after a no", rule: "SEQ-22", breaks: func(p *fake) { p.behind["reject"] = granted }},
	{name: "it deletes without a question", rule: "SEQ-22", breaks: func(p *fake) {
		p.before = append(p.before[:5:5], deleting, deleted, event("state.changed", `"urgency":"background","from_state":"calling_tool","to_state":"thinking","summary_normal":"It thinks."`), ending)
	}},
	{name: "nothing follows the answer", rule: "SEQ-30", breaks: func(p *fake) { p.deaf = true }},
	{name: "a gap in a text", rule: "SEQ-34", breaks: func(p *fake) {
		p.before = append(p.before[:2:2], event("output.streaming", `"urgency":"normal","chunk":"One. ","position":0,"complete":false,"output_id":"out_1","coalesce_hint":"sentence"`),
			event("output.streaming", `"urgency":"normal","chunk":"Two.","position":7,"complete":true,"output_id":"out_1","coalesce_hint":"completion"`), ending)
	}},
	{name: "an error that is not critical", rule: "ERR-01", breaks: func(p *fake) {
		p.before = append(p.before[:2:2], event("session.errored", `"urgency":"normal","error_category":"permanent","summary_terse":"No.","summary_normal":"It has failed.","summary_detailed":"It has failed, and how."`))
	}},
	{name: "silence is a yes", rule: "CONF-20", breaks: rewrites(`"default_decision":"reject"`, `"default_decision":"accept"`)},
	{name: "a question to who cannot answer", rule: "CONF-83", breaks: func(p *fake) {
		p.passes = only("resumed", func(string, bool) bool { return true })
	}},
	{name: "what is excluded comes", rule: "BP-11", breaks: func(p *fake) {
		p.passes = only("filtered", func(string, bool) bool { return true })
	}},
	{name: "a filter keeps a question back", rule: "BP-06", also: []string{"MS-06"}, breaks: func(p *fake) {
		p.passes = only("filtered", func(e string, passes bool) bool { return passes && !strings.Contains(e, "awaiting.confirmation") })
	}},
	{name: "more than the rate", rule: "BP-02", breaks: func(p *fake) {
		p.before = append(p.before[:2:2], slices.Repeat([]string{progress}, 20)...)
		p.before = append(p.before, ending)
	}},
	{name: "an event is lost", rule: "TR-05", also: []string{"MS-02"}, breaks: func(p *fake) {
		p.passes = only("filtered", func(e string, passes bool) bool { return passes && !strings.Contains(e, `"evt_3"`) })
	}},
	{name: "a stream that goes on later", rule: "TR-SSE-10", breaks: func(p *fake) { p.restarts = true }},
	{name: "frames without an id", rule: "TR-SSE-06", breaks: func(p *fake) {
		p.frame = func(_ *subscription, _, frame string) string { return strings.Replace(frame, "id: ", "ids: ", 1) }
	}},
	{name: "accepted with 200", rule: "TR-SSE-02", breaks: answers("filtered", func(status *int, body string) string {
		*status = 200
		return body
	})},
	{name: "a reply is not let in", rule: "TR-09", breaks: func(p *fake) { p.replied = 403 }},
	{name: "a reply gets 200", rule: "TR-SSE-08", breaks: func(p *fake) { p.replied = 200 }},
	{name: "a used token is told", rule: "CONF-56", breaks: func(p *fake) { p.repeated = 409 }},
	{name: "a yes is used twice", rule: "CONF-59", o: producer.Options{Answer: aaep.DecisionAccept}, breaks: func(p *fake) {
		twice := func(e string) string { return strings.ReplaceAll(e, `"call_2"`, `"call_3"`) }
		p.spacing, p.behind["accept"] = 2*time.Second, granted[:len(granted)-1]
		p.again = []string{
			event("state.changed", `"urgency":"background","from_state":"thinking","to_state":"calling_tool","summary_normal":"It deletes."`),
			twice(deleting), twice(deleted), granted[len(granted)-2], ending,
		}
	}},
	{name: "no answer to a request", rule: "HS-07", breaks: answers("defaults", func(*int, string) string { return `{"ok":true}` })},
	{name: "more events than asked for", rule: "HS-28", breaks: says("slow", `"max_events_per_second":2`, `"max_events_per_second":20`)},
	{name: "a language that was not asked for", rule: "HS-29", breaks: says("main", `"en-US","en"`, `"en-US","yo"`)},
	{name: "a looser filter", rule: "HS-31", breaks: says("filtered", `"exclude":["aaep:agent.tool.*","aaep:agent.awaiting.*"]`, `"exclude":["aaep:agent.awaiting.*"]`)},
	{name: "a version that does not exist", rule: "HS-44", breaks: answers("another version", func(status *int, _ string) string {
		*status = 201
		return `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"99.0.0","producer":{"agent_id":"fake"},"honored_capabilities":{}}`
	})},
	{name: "an odd reason where nothing is signed", rule: "HS-45", breaks: says("signed only", "manifest_signature_required", "unknown")},
	{name: "accepted without the signature", rule: "HS-27", breaks: answers("signed only", func(status *int, _ string) string {
		*status = 201
		return `{"type":"subscription.accepted","subscription_id":"sub_2","aaep_version":"1.0.0","producer":{"agent_id":"fake"},"honored_capabilities":{"accept_signed_manifests_only":true}}`
	})},
	{name: "an unknown capability is refused", rule: "CAP-14", breaks: func(p *fake) {
		p.accept = func(r aaep.SubscriptionRequest, status *int, body string) string {
			if r.Capabilities.Extensions == nil {
				return body
			}
			*status = 400
			return `{"type":"subscription.rejected","reason_code":"capabilities_incompatible","reason_message":"What is grease?"}`
		}
	}},
	{name: "new terms are not answered", rule: "HS-61", breaks: func(p *fake) {
		p.renews = func(_, _ *aaep.SubscriptionAccepted) string { return "" }
	}},
	{name: "new terms forget the others", rule: "HS-62", breaks: func(p *fake) {
		p.renews = func(_, after *aaep.SubscriptionAccepted) string {
			after.HonoredCapabilities.Languages = []string{"en-US"}
			raw, _ := after.Encode()
			return string(raw)
		}
	}},
	{name: "new terms change nothing", rule: "HS-63", breaks: func(p *fake) {
		p.passes = only("renegotiating", func(e string, passes bool) bool { return passes || strings.Contains(e, "agent.tool.") })
	}},
	{name: "events after a close", rule: "HS-68", breaks: func(p *fake) { p.lasting, p.spacing = true, time.Second }},
	{name: "a stream that stays open", rule: "HS-70", breaks: func(p *fake) {
		p.lasting, p.before = true, append(p.before[:5:5], ending)
	}},
	{name: "a used token is asked with again", rule: "CONF-06", also: []string{"CONF-07"}, breaks: func(p *fake) {
		p.spacing, p.behind["reject"] = time.Second, append([]string{refused[0], waiting, p.before[6]}, refused...)
	}},
	{name: "a reply with a strange token counts", rule: "CONF-51", breaks: heeds("CONF-51")},
	{name: "a reply from after the time counts", rule: "CONF-53", also: []string{"SEC-05"}, breaks: heeds("CONF-53")},
	{name: "a clarification answers a confirmation", rule: "CONF-61", breaks: heeds("CONF-61")},
	{name: "a reply of somebody who was not asked counts", rule: "SEC-04", also: []string{"MS-07"}, breaks: heeds("SEC-04")},
	{name: "a reply without the token counts", rule: "CONF-54", also: []string{"SEC-03", "CONF-09"}, breaks: heeds("CONF-54")},
	{name: "a reply without its time counts", rule: "CONF-50", breaks: heeds("CONF-50")},
	{name: "a third decision counts as a no", rule: "CONF-55", o: producer.Options{Answer: aaep.DecisionAccept}, breaks: heeds("CONF-55")},
	{name: "a reply that does not count is told", rule: "CONF-56", also: []string{"SEC-19"}, breaks: func(p *fake) { p.tells = 410 }},
	{name: "nothing follows the silence", rule: "CONF-70", also: []string{"L2P-3"}, o: silent, breaks: func(p *fake) { p.lapses = 0 }},
	{name: "it deletes after a silence", rule: "SEQ-22", o: silent, breaks: func(p *fake) { p.behind["reject"] = granted }},
	{name: "a clarification holds up for ever", rule: "CLA-11", o: producer.Options{For: 6 * time.Minute}, breaks: func(p *fake) {
		p.before[6], p.lapses = strings.NewReplacer("confirmation", "clarification", `"action":"Delete a file.","consequence":"It is gone."`, `"question":"Which?"`,
			`"default_decision":"reject","risk_level":"high","irreversible":true,"extra_context":{"tool":"delete","tool_call_id":"call_2"}`, `"accepted_response_kinds":["freetext"]`).Replace(p.before[6]), 0
	}},
	{name: "a lost connection is not borne", rule: "HS-67", breaks: func(p *fake) { p.forgets = true }},
	{name: "a large request is refused", rule: "TR-12", breaks: answers("large", func(status *int, _ string) string {
		*status = 413
		return "too large"
	})},
	{name: "who speaks another language hears less", rule: "TR-05", also: []string{"ENV-38", "I18N-15", "I18N-18"}, breaks: func(p *fake) {
		p.passes = only("stranger", func(e string, passes bool) bool { return passes && !strings.Contains(e, `"evt_3"`) })
	}},
	{name: "one hears it the other way round", rule: "TR-04", also: []string{"MS-10"}, breaks: func(p *fake) {
		held := ""
		p.before = append(p.before[:3:3], progress, progress, ending)
		p.frame = func(s *subscription, e, frame string) string {
			switch {
			case s.name != "stranger":
			case strings.Contains(e, `"evt_4"`):
				held = frame
				return ""
			case strings.Contains(e, `"evt_5"`):
				return frame + held
			}
			return frame
		}
	}},
}

// silent leaves the question alone until its time is over.
var silent = producer.Options{Answer: producer.Silence, For: 6 * time.Minute}

// waiting is the state around a question.
var waiting = event("state.changed", `"urgency":"background","from_state":"thinking","to_state":"awaiting_input","summary_normal":"It asks."`)

// heeds is a producer that takes replies which that rule has it ignore.
func heeds(rule string) func(p *fake) {
	return func(p *fake) { p.careless = rule }
}

// TestWrong: each of these producers has one fault, and is found to break that rule and no other.
func TestWrong(t *testing.T) {
	t.Parallel()
	for _, r := range wrong {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newFake()
				p.pause, p.lapses = 3*time.Second, lapseOf(r.o)
				r.breaks(p)
				report := judged(t, p, r.o)
				if rules := broken(report); len(rules) == 0 {
					t.Error("nothing is found")
				}
				named := []string{}
				for _, v := range report.Verdicts {
					for _, f := range v.Findings {
						if f.Rule != r.rule && !slices.Contains(f.Also, r.rule) {
							t.Errorf("found also %s %v", v.Rule, f)
						}
						named = append(named, f.Also...)
					}
				}
				for _, rule := range r.also {
					if !slices.Contains(named, rule) {
						t.Errorf("%s is not named", rule)
					}
				}
				if report.Passed(true) {
					t.Error("it has passed")
				}
			})
		})
	}
}
