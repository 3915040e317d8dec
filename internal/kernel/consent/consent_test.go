package consent_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
)

const (
	firstToken = "rpl_1"
	minute     = 60
)

func start() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

func after(d time.Duration) time.Time { return start().Add(d) }

func digest() string { return strings.Repeat("0f", 32) }

func deletion() consent.Params {
	return consent.Params{
		Number: 1, Kind: consent.Confirmation, SessionID: "sess_1", Token: firstToken,
		AskedAt: start(), Timeout: minute, Irreversible: true, Risk: consent.High, Digest: digest(),
	}
}

func draft() consent.Params {
	p := deletion()
	p.Irreversible, p.Risk, p.Default = false, consent.Low, consent.Accept

	return p
}

func clarification(kinds ...consent.ResponseKind) consent.Params {
	return consent.Params{
		Number: 2, Kind: consent.Clarification, SessionID: "sess_1", Token: firstToken,
		AskedAt: start(), Timeout: minute, ResponseKinds: kinds,
	}
}

func choices(values ...string) []consent.Choice {
	list := make([]consent.Choice, 0, len(values))
	for _, v := range values {
		list = append(list, consent.Choice{Value: v, Label: "the " + v})
	}

	return list
}

func decisions(list ...consent.Decision) []consent.Decision { return list }

func mustAsk(t *testing.T, p consent.Params) consent.Question {
	t.Helper()

	q, err := consent.Ask(p)
	if err != nil {
		t.Fatalf("Ask: %v", err)
	}

	return q
}

func accept() consent.Reply {
	return consent.Reply{
		Kind: consent.Confirmation, Token: firstToken, Timestamp: after(time.Second),
		Authenticated: true, Principal: "user:ada", Surface: "terminal", Rationale: "tidy", Decision: consent.Accept,
	}
}

func answer(r consent.Response) consent.Reply {
	reply := accept()
	reply.Kind, reply.Decision, reply.Response = consent.Clarification, "", r

	return reply
}

// TestAskRefuses has a failing case for each thing that Ask must not build.
func TestAskRefuses(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("ọ", 257)
	many := make([]string, 33)

	for i := range many {
		many[i] = "v" + strconv.Itoa(i)
	}

	cases := map[string]struct {
		field  string
		base   consent.Params
		change func(*consent.Params)
	}{
		"number":                           {"number", deletion(), func(p *consent.Params) { p.Number = 0 }},
		"kind":                             {"kind", deletion(), func(p *consent.Params) { p.Kind = "guess" }},
		"session":                          {"session_id", deletion(), func(p *consent.Params) { p.SessionID = "sess_" }},
		"CONF-05 token":                    {"token", deletion(), func(p *consent.Params) { p.Token = "rpl_a\n" }},
		"time":                             {"asked_at", deletion(), func(p *consent.Params) { p.AskedAt = time.Time{} }},
		"CLAR-04 timeout 0":                {"timeout", deletion(), func(p *consent.Params) { p.Timeout = 0 }},
		"CLAR-04 timeout 86401":            {"timeout", deletion(), func(p *consent.Params) { p.Timeout = 86_401 }},
		"C-22 no risk":                     {"risk", deletion(), func(p *consent.Params) { p.Risk = "" }},
		"digest":                           {"digest", deletion(), func(p *consent.Params) { p.Digest = strings.Repeat("0F", 32) }},
		"C-25 custom reply":                {"allowed_replies", deletion(), func(p *consent.Params) { p.AllowedReplies = decisions("reject", "later") }},
		"C-25 no reject":                   {"allowed_replies", deletion(), func(p *consent.Params) { p.AllowedReplies = []consent.Decision{"accept"} }},
		"C-25 default not allowed":         {"default", draft(), func(p *consent.Params) { p.AllowedReplies = []consent.Decision{"reject"} }},
		"default is a word of its own":     {"default", draft(), func(p *consent.Params) { p.Default = "maybe" }},
		"CONF-20 high irreversible accept": {"default", deletion(), func(p *consent.Params) { p.Default = consent.Accept }},
		"CONF-21 medium irreversible":      {"default", draft(), func(p *consent.Params) { p.Irreversible, p.Risk = true, consent.Medium }},
		"CONF-22 low irreversible accept":  {"default", draft(), func(p *consent.Params) { p.Irreversible = true }},
		"CONF-23 high reversible accept":   {"default", draft(), func(p *consent.Params) { p.Risk = consent.High }},
		"unknown kind of response":         {"response_kinds", clarification("smell"), nil},
		"CLAR-08 kind twice":               {"response_kinds", clarification(consent.YesNo, consent.YesNo), nil},
		"CLAR-09 no choices":               {"choices", clarification(consent.MultipleChoice), nil},
		"CLAR-09 one choice":               {"choices", clarification(), func(p *consent.Params) { p.Choices = choices("a") }},
		"CLAR-09 33 choices":               {"choices", clarification(), func(p *consent.Params) { p.Choices = choices(many...) }},
		"CLAR-09 empty value":              {"choices", clarification(), func(p *consent.Params) { p.Choices = choices("a", "") }},
		"CLAR-09 long value":               {"choices", clarification(), func(p *consent.Params) { p.Choices = choices("a", long) }},
		"CLAR-09 same value":               {"choices", clarification(), func(p *consent.Params) { p.Choices = choices("a", "a") }},
		"CLAR-09 no label":                 {"choices", clarification(), func(p *consent.Params) { p.Choices = []consent.Choice{{"a", "A"}, {"b", ""}} }},
		"C-29 default is not a choice": {"default_response", clarification(consent.MultipleChoice), func(p *consent.Params) {
			p.Choices, p.DefaultResponse = choices("a", "b"), "c"
		}},
		"C-29 default is null":         {"default_response", clarification(consent.Numeric), func(p *consent.Params) { p.DefaultResponse = "null" }},
		"C-29 default is hexadecimal":  {"default_response", clarification(consent.Numeric), func(p *consent.Params) { p.DefaultResponse = "0x1p4" }},
		"C-29 default is not a number": {"default_response", clarification(consent.Numeric), func(p *consent.Params) { p.DefaultResponse = "inf" }},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.change != nil {
				c.change(&c.base)
			}

			q, err := consent.Ask(c.base)

			var refused *consent.RefusedError
			if !errors.As(err, &refused) || refused.Field != c.field {
				t.Fatalf("Ask = %v, want %s refused", err, c.field)
			}

			if !strings.Contains(err.Error(), refused.Want) || !reflect.ValueOf(q).IsZero() {
				t.Errorf("Ask = %+v, %v", q, err)
			}
		})
	}
}

// TestAskBuilds has the passing cases: CONF-20…25 with reject, and C-29.
func TestAskBuilds(t *testing.T) {
	t.Parallel()

	mixed := clarification(consent.MultipleChoice, consent.Numeric)
	mixed.Choices, mixed.DefaultResponse = choices("60", "65"), "65"

	most := clarification(consent.MultipleChoice)
	for i := range 32 {
		most.Choices = append(most.Choices, choices("v"+strconv.Itoa(i))...)
	}

	onlyNo := deletion()
	onlyNo.AllowedReplies = []consent.Decision{consent.Reject}

	atRisk := draft()
	atRisk.Risk = consent.Medium

	for name, p := range map[string]consent.Params{
		"CONF-20 default reject": deletion(), "CONF-25 low reversible accept": draft(),
		"CONF-24 medium reversible accept": atRisk, "C-29 mixed": mixed, "only no": onlyNo, "any answer": clarification(),
		"CLAR-09 32 choices": most,
	} {
		q := mustAsk(t, p)
		if q.State != consent.Open || q.Deadline() != after(time.Minute) {
			t.Errorf("%s: %+v", name, q)
		}
	}

	q := mustAsk(t, deletion())
	if q.Default != consent.Reject || len(q.AllowedReplies) != 2 {
		t.Errorf("defaults are %v, %v", q.Default, q.AllowedReplies)
	}
}

// TestReplyChecks walks §6.3.4 in its order: each case breaks one check and
// every later one, so that the reason proves the order.
func TestReplyChecks(t *testing.T) {
	t.Parallel()

	spent, _ := mustAsk(t, deletion()).Extend(after(0), "rpl_2")
	closed, _ := mustAsk(t, deletion()).Reply(after(0), accept())
	gone, _ := mustAsk(t, deletion()).Withdraw(after(0), "stopped")
	open := mustAsk(t, deletion())
	again := open
	again.Again = true
	strange := open
	strange.Kind = "guess"

	bad := func(change func(*consent.Reply)) consent.Reply {
		r := accept()
		r.Timestamp, r.Authenticated, r.Decision = after(time.Hour), false, "later"
		change(&r)

		return r
	}
	ok := func(change func(*consent.Reply)) consent.Reply {
		r := accept()
		change(&r)

		return r
	}
	nothing := func(*consent.Reply) {}
	onlyNo := open
	onlyNo.AllowedReplies = []consent.Decision{consent.Reject}
	custom := open
	custom.AllowedReplies = []consent.Decision{consent.Reject, "later"}

	cases := map[string]struct {
		question consent.Question
		now      time.Duration
		reply    consent.Reply
		want     consent.Reason
	}{
		"CONF-51 unknown token":           {open, 0, bad(func(r *consent.Reply) { r.Token = "rpl_9"; r.Kind = consent.Clarification }), consent.UnknownToken},
		"CONF-51 no token":                {consent.Question{}, 0, consent.Reply{}, consent.UnknownToken},
		"a number of before":              {again, 0, ok(func(r *consent.Reply) { r.Token, r.Number = "", open.Number }), consent.NoToken},
		"another's number":                {open, 0, ok(func(r *consent.Reply) { r.Token, r.Number = "", open.Number+1 }), consent.UnknownToken},
		"CONF-61 kind":                    {open, 0, bad(func(r *consent.Reply) { r.Kind = consent.Clarification }), consent.WrongKind},
		"CONF-61 neither kind":            {strange, 0, bad(func(r *consent.Reply) { r.Kind = "guess" }), consent.WrongKind},
		"CONF-52 token of before":         {spent, 0, bad(nothing), consent.SpentToken},
		"CONF-58 second reply":            {closed, 0, bad(nothing), consent.SpentToken},
		"CONF-76 withdrawn":               {gone, 0, bad(nothing), consent.SpentToken},
		"CONF-53 timestamp at deadline":   {open, 0, bad(func(r *consent.Reply) { r.Timestamp = after(time.Minute) }), consent.TooLate},
		"CONF-53 no timestamp":            {open, 0, bad(func(r *consent.Reply) { r.Timestamp = time.Time{} }), consent.TooLate},
		"C-59 arrival at deadline":        {open, time.Minute, bad(func(r *consent.Reply) { r.Timestamp = after(0) }), consent.TooLate},
		"CONF-54 not authenticated":       {open, 0, bad(func(r *consent.Reply) { r.Timestamp = after(0) }), consent.NotAuthenticated},
		"CONF-54 authenticated as nobody": {open, 0, ok(func(r *consent.Reply) { r.Principal = "" }), consent.NotAuthenticated},
		"CONF-55 not allowed":             {onlyNo, 0, accept(), consent.DecisionNotAllowed},
		"CONF-55 empty":                   {open, 0, ok(func(r *consent.Reply) { r.Decision = "" }), consent.DecisionNotAllowed},
		"C-25 custom word, even if listed": {
			custom, 0, ok(func(r *consent.Reply) { r.Decision = "later" }),
			consent.DecisionNotAllowed,
		},
	}

	for name, c := range cases {
		got, outcome := c.question.Reply(after(c.now), c.reply)
		if outcome != (consent.Outcome{Reason: c.want}) {
			t.Errorf("%s: outcome %+v, want %s", name, outcome, c.want)
		}

		if !reflect.DeepEqual(got, c.question) { // CONF-57
			t.Errorf("%s: the question changed to %+v", name, got)
		}
	}
}

func TestReplyResolves(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change func(*consent.Reply)
		now    time.Duration
		state  consent.State
		mod    bool
	}{
		"accept":                            {func(*consent.Reply) {}, 0, consent.Accepted, false},
		"reject":                            {func(r *consent.Reply) { r.Decision = consent.Reject }, 0, consent.Rejected, false},
		"CONF-38 modified accept is reject": {func(r *consent.Reply) { r.ModifiedAction = true }, 0, consent.Rejected, true},
		"modified reject": {
			func(r *consent.Reply) { r.ModifiedAction, r.Decision = true, consent.Reject }, 0,
			consent.Rejected, false,
		},
		"by number":            {func(r *consent.Reply) { r.Token, r.Number = "", 1 }, 0, consent.Accepted, false},
		"by number, a reject":  {func(r *consent.Reply) { r.Token, r.Number, r.Decision = "", 1, consent.Reject }, 0, consent.Rejected, false},
		"CONF-53 just in time": {func(r *consent.Reply) { r.Timestamp = after(time.Minute - 1) }, time.Minute - 1, consent.Accepted, false},
		"C-59 dated before":    {func(r *consent.Reply) { r.Timestamp = after(-time.Hour) }, 0, consent.Accepted, false},
	}

	for name, c := range cases {
		r := accept()
		c.change(&r)

		got, outcome := mustAsk(t, deletion()).Reply(after(c.now), r)
		if outcome != (consent.Outcome{Changed: true, Reason: consent.Decided, Modified: c.mod}) || got.State != c.state {
			t.Errorf("%s: %s, %+v", name, got.State, outcome)
		}

		want := consent.Resolution{
			How: consent.ByReply, By: "user:ada", Surface: "terminal",
			At: after(c.now).Truncate(time.Millisecond), Rationale: "tidy",
		}
		if got.Resolution != want {
			t.Errorf("%s: resolution %+v, want %+v", name, got.Resolution, want)
		}

		// C-65, CONF-59: the token is used up.
		if _, again := got.Reply(after(c.now), accept()); again.Reason != consent.SpentToken {
			t.Errorf("%s: the token lives on: %+v", name, again)
		}

		if got.Authorizes(digest()) != (c.state == consent.Accepted) || got.Authorizes("") || got.Authorizes("00") {
			t.Errorf("%s: authorises the wrong thing", name)
		}
	}
}

// TestResponses covers CLA-03…10 and C-29.
func TestResponses(t *testing.T) {
	t.Parallel()

	type kinds = []consent.ResponseKind

	text, yes, number := consent.TextResponse, consent.BoolResponse, consent.NumberResponse
	free, mc, num, yn := consent.FreeText, consent.MultipleChoice, consent.Numeric, consent.YesNo

	cases := []struct {
		rule     string
		kinds    kinds
		response consent.Response
		want     consent.Reason
	}{
		{"CLA-03", kinds{free}, text("Lagos"), consent.Decided},
		{"CLA-08", kinds{free}, yes(true), consent.WrongResponseType},
		{"CLA-08", kinds{free}, number(1), consent.WrongResponseType},
		{"CLA-03", kinds{yn}, yes(false), consent.Decided},
		{"CLA-08", kinds{yn}, text("true"), consent.WrongResponseType},
		{"CLA-03", kinds{num}, number(0), consent.Decided},
		{"CLA-08", kinds{num}, text("65"), consent.WrongResponseType},
		{"ENV-05", kinds{num}, number(math.Inf(1)), consent.WrongResponseType},
		{"ENV-05", kinds{num}, number(math.NaN()), consent.WrongResponseType},
		{"CLA-09", kinds{mc}, text("65"), consent.Decided},
		{"CLA-09", kinds{mc}, text("68"), consent.NotAChoice},
		{"CLA-06", kinds{mc, num}, number(67), consent.Decided},
		{"C-29", kinds{mc, num}, text("68"), consent.NotAChoice},
		{"C-29", kinds{mc, free}, text("68"), consent.Decided},
		{"C-29 no list", nil, text("68"), consent.Decided},
		{"C-29 no list", nil, yes(true), consent.Decided},
		{"C-29 no list", nil, number(1), consent.Decided},
		{"CLA-04", kinds{free}, text(""), consent.WrongResponseType},
		{"CLA-04", kinds{free}, text(strings.Repeat("ọ", 16_384)), consent.Decided},
		{"CLA-04", kinds{free}, text(strings.Repeat("a", 16_385)), consent.WrongResponseType},
		{"no answer", nil, consent.Response{}, consent.WrongResponseType},
	}

	for _, c := range cases {
		p := clarification(c.kinds...)
		p.Choices = choices("60", "65")

		got, outcome := mustAsk(t, p).Reply(after(0), answer(c.response))
		if outcome.Reason != c.want || outcome.Changed != (c.want == consent.Decided) {
			t.Errorf("%s %v %+v: %+v, want %s", c.rule, c.kinds, c.response, outcome, c.want)
		}

		// CLA-10: a response of the wrong type leaves the token alive.
		if again, second := got.Reply(after(0), answer(c.response)); outcome.Changed == (again.State == consent.Open) {
			t.Errorf("%s: %s, %+v", c.rule, again.State, second)
		}

		if outcome.Changed && (got.State != consent.Answered || got.Resolution.Response != c.response) {
			t.Errorf("%s: resolved to %s %+v", c.rule, got.State, got.Resolution)
		}
	}

	// CLA-07: the shared checks come first.
	late := answer(text("x"))
	late.Timestamp = after(time.Hour)

	if _, outcome := mustAsk(t, clarification(num)).Reply(after(0), late); outcome.Reason != consent.TooLate {
		t.Errorf("CLA-07: %+v", outcome)
	}
}

// TestSilence covers CONF-70, CONF-83 and CLA-11.
func TestSilence(t *testing.T) {
	t.Parallel()

	fallback := func(p consent.Params, text string) consent.Params {
		p.DefaultResponse = text
		p.Choices = choices("60", "65")

		return p
	}

	cases := map[string]struct {
		params   consent.Params
		state    consent.State
		response consent.Response
	}{
		"irreversible":      {deletion(), consent.Expired, consent.Response{}},
		"reversible accept": {draft(), consent.Accepted, consent.Response{}},
		"no default":        {clarification(consent.FreeText), consent.Expired, consent.Response{}},
		"text":              {fallback(clarification(), "true"), consent.Expired, consent.TextResponse("true")},
		"yes or no":         {fallback(clarification(consent.YesNo), "false"), consent.Expired, consent.BoolResponse(false)},
		"yes":               {fallback(clarification(consent.YesNo, consent.FreeText), "true"), consent.Expired, consent.BoolResponse(true)},
		"number":            {fallback(clarification(consent.Numeric), "6e1"), consent.Expired, consent.NumberResponse(60)},
		"choice":            {fallback(clarification(consent.Numeric, consent.MultipleChoice), "65"), consent.Expired, consent.TextResponse("65")},
		"free":              {fallback(clarification(consent.FreeText), "soon"), consent.Expired, consent.TextResponse("soon")},
	}

	for name, c := range cases {
		q := mustAsk(t, c.params)

		if got, outcome := q.Expire(after(time.Minute - 1)); outcome != (consent.Outcome{Reason: consent.NotDue}) || got.State != consent.Open {
			t.Errorf("%s: expired early: %+v", name, outcome)
		}

		expired, outcome := q.Expire(after(time.Minute))
		want := consent.Resolution{How: consent.ByTimeout, At: after(time.Minute), Response: c.response}

		if outcome != (consent.Outcome{Changed: true, Reason: consent.Defaulted}) || expired.State != c.state || expired.Resolution != want {
			t.Errorf("%s: %s %+v %+v", name, expired.State, expired.Resolution, outcome)
		}

		alone, _ := q.Nobody(after(time.Second))
		want.How, want.At = consent.ByNobody, after(time.Second)

		if alone.State != c.state || alone.Resolution != want {
			t.Errorf("%s: nobody: %s %+v", name, alone.State, alone.Resolution)
		}
	}
}

// TestFinal shows that nothing moves a question that has ended.
func TestFinal(t *testing.T) {
	t.Parallel()

	open := mustAsk(t, deletion())
	accepted, _ := open.Reply(after(0), accept())
	expired, _ := open.Expire(after(time.Hour))
	withdrawn, outcome := open.Withdraw(after(0), "the folder is gone")

	if !outcome.Changed || outcome.Reason != consent.Dropped || withdrawn.Resolution.Rationale != "the folder is gone" {
		t.Errorf("CONF-75: %+v %+v", withdrawn.Resolution, outcome)
	}

	for _, q := range []consent.Question{accepted, expired, withdrawn} {
		steps := map[string]func() (consent.Question, consent.Outcome){
			"expire":   func() (consent.Question, consent.Outcome) { return q.Expire(after(time.Hour)) },
			"nobody":   func() (consent.Question, consent.Outcome) { return q.Nobody(after(0)) },
			"withdraw": func() (consent.Question, consent.Outcome) { return q.Withdraw(after(0), "") },
			"extend":   func() (consent.Question, consent.Outcome) { return q.Extend(after(0), "rpl_2") },
			"present":  func() (consent.Question, consent.Outcome) { return q.Present(after(0), "rpl_2") },
			"await":    func() (consent.Question, consent.Outcome) { return q.Await(after(time.Hour), "rpl_2") },
		}
		for name, step := range steps {
			if got, o := step(); o != (consent.Outcome{Reason: consent.NotOpen}) || !reflect.DeepEqual(got, q) {
				t.Errorf("%s after %s: %+v", name, q.State, o)
			}
		}
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()

	q := mustAsk(t, deletion())
	now := after(30*time.Second + 400*time.Millisecond)

	got, outcome := q.Extend(now, "rpl_2")
	if outcome != (consent.Outcome{Changed: true, Reason: consent.Extended}) {
		t.Fatalf("Extend: %+v", outcome)
	}

	// 29.6 s are left; with the original 60 s that is 90 whole seconds of the wire.
	if got.Timeout != 90 || got.Deadline() != now.Add(90*time.Second) || got.AskedAt != now {
		t.Errorf("asked again at %v for %d s", got.AskedAt, got.Timeout)
	}

	if got.Number != q.Number || got.Digest != q.Digest || got.Token != "rpl_2" || got.Length != q.Length || got.Extensions != 1 {
		t.Errorf("extended to %+v", got)
	}

	for token, want := range map[string]consent.Reason{"rpl_": consent.BadToken, "rpl_1": consent.BadToken, "rpl_2": consent.BadToken} {
		if _, o := got.Extend(now, token); o.Reason != want { // CONF-05, CONF-07
			t.Errorf("Extend with %q: %+v", token, o)
		}
	}

	if _, o := got.Extend(got.Deadline(), "rpl_3"); o.Reason != consent.TooLate {
		t.Errorf("Extend at the deadline: %+v", o)
	}
}

// TestExtendManyTimes asks again at the last moment, until a cap says no.
func TestExtendManyTimes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ length, times int }{
		{1, consent.MaxExtensions}, {60, consent.MaxExtensions}, {300, 287}, {7_200, 11}, {86_400, 0},
	} {
		p := deletion()
		p.Timeout = c.length
		q := mustAsk(t, p)

		for i := 0; ; i++ {
			before := q.Deadline()

			next, outcome := q.Extend(before.Add(-time.Millisecond), "rpl_x"+strconv.Itoa(i))
			if !outcome.Changed {
				if outcome.Reason != consent.NoMoreTime || i != c.times {
					t.Errorf("%d s: stopped after %d with %s, want %d", c.length, i, outcome.Reason, c.times)
				}

				break
			}

			added := next.Deadline().Sub(before)
			if added < time.Duration(c.length)*time.Second && next.Deadline().Before(after(consent.MaxSeconds*time.Second-time.Second)) {
				t.Fatalf("%d s: extension %d adds only %v", c.length, i, added)
			}

			if next.Deadline().After(after(consent.MaxSeconds * time.Second)) {
				t.Fatalf("%d s: deadline %v is over the cap", c.length, next.Deadline())
			}

			q = next
		}
	}
}

func TestExtendWithClockSetBack(t *testing.T) {
	t.Parallel()

	q := mustAsk(t, deletion())

	got, outcome := q.Extend(after(-48*time.Hour), "rpl_2")
	if outcome.Reason != consent.NoMoreTime || got.Deadline() != q.Deadline() {
		t.Errorf("two days back: %+v %+v", outcome, got)
	}

	got, _ = q.Extend(after(-time.Hour), "rpl_2")
	if got.Timeout > consent.MaxSeconds || got.Deadline() != after(2*time.Minute) {
		t.Errorf("an hour back: %d s, %v", got.Timeout, got.Deadline())
	}
}

// unseen is the deletion as it is asked while it is not known who is there.
func unseen(t *testing.T) consent.Question {
	t.Helper()

	p := deletion()
	p.Unseen = true

	return mustAsk(t, p)
}

// TestPresent: a person's time begins when a surface first shows the question, and being
// shown neither answers nor extends it.
func TestPresent(t *testing.T) {
	t.Parallel()

	q := unseen(t)
	if q.Deadline() != after(time.Minute) || q.ShowBy() != after(consent.Grace) {
		t.Fatalf("asked until %v, to be shown by %v", q.Deadline(), q.ShowBy())
	}

	presented := consent.Outcome{Changed: true, Reason: consent.Presented}

	soon, outcome := q.Present(after(consent.Grace), "rpl_2")
	if outcome != presented || soon.Token != firstToken || soon.Deadline() != q.Deadline() || soon.Unseen || !soon.ShowBy().IsZero() {
		t.Errorf("shown at once: %+v, %+v", outcome, soon)
	}

	late, outcome := q.Present(after(consent.Grace+time.Millisecond), "rpl_2")
	if outcome != presented || late.Token != "rpl_2" || late.Deadline() != after(time.Minute+consent.Grace+time.Millisecond) {
		t.Errorf("shown late: %+v, %+v", outcome, late)
	}

	if _, o := soon.Present(after(time.Second), "rpl_3"); o != (consent.Outcome{Reason: consent.NotWaiting}) {
		t.Errorf("shown twice: %+v", o)
	}

	if _, o := q.Reply(after(time.Second), accept()); !o.Changed {
		t.Errorf("an answer to a question that nobody said was shown: %+v", o)
	}

	extended, outcome := q.Extend(after(time.Second), "rpl_2")
	if !outcome.Changed || extended.Unseen {
		t.Errorf("anyone who asks for more time has seen it: %+v, %+v", outcome, extended)
	}
}

// TestAwait: a question that nobody is shown waits for a day, and then for its own length.
func TestAwait(t *testing.T) {
	t.Parallel()

	q := unseen(t)
	if _, o := q.Await(after(consent.Grace-time.Millisecond), "rpl_2"); o != (consent.Outcome{Reason: consent.NotDue}) {
		t.Errorf("too early: %+v", o)
	}

	now := after(consent.Grace)

	waits, outcome := q.Await(now, "rpl_2")
	if outcome != (consent.Outcome{Changed: true, Reason: consent.Unshown}) || !waits.Waiting || waits.Unseen ||
		waits.Deadline() != now.Add(consent.MaxSeconds*time.Second) || waits.Length != minute {
		t.Fatalf("Await: %+v, %+v", outcome, waits)
	}

	if _, o := waits.Await(after(time.Hour), "rpl_3"); o != (consent.Outcome{Reason: consent.NotWaiting}) {
		t.Errorf("Await twice: %+v", o)
	}

	for _, token := range []string{firstToken, "rpl_2", "bad"} {
		if _, o := waits.Present(after(time.Hour), token); o.Reason != consent.BadToken {
			t.Errorf("Present with %s: %+v", token, o)
		}
	}

	shown, outcome := waits.Present(after(time.Hour), "rpl_3")
	if outcome != (consent.Outcome{Changed: true, Reason: consent.Presented}) || shown.Deadline() != after(61*time.Minute) {
		t.Errorf("Present: %+v, deadline %v", outcome, shown.Deadline())
	}

	if shown.Extensions != 0 || shown.ClockFrom != after(time.Hour) || shown.Number != q.Number || shown.Digest != q.Digest {
		t.Errorf("presented as %+v", shown)
	}

	for _, dead := range []string{firstToken, "rpl_2"} {
		r := accept()
		r.Token = dead

		if _, o := shown.Reply(after(time.Hour), r); o != (consent.Outcome{Reason: consent.SpentToken}) {
			t.Errorf("CONF-52: the token %s: %+v", dead, o)
		}
	}

	r := accept()
	r.Token = "rpl_2"

	if _, o := waits.Reply(after(time.Hour), r); !o.Changed {
		t.Errorf("a question can be answered before it is known to be shown: %+v", o)
	}

	if gone, o := waits.Expire(now.Add(consent.MaxSeconds * time.Second)); gone.State != consent.Expired || !o.Changed {
		t.Errorf("the day is over: %s, %+v", gone.State, o)
	}
}

// TestUnseenOverItsTime: the time of a question that nobody was shown does not run out,
// for example while nothing runs that could show it; it waits.
func TestUnseenOverItsTime(t *testing.T) {
	t.Parallel()

	q, hour := unseen(t), after(time.Hour)
	if _, o := q.Expire(hour); o != (consent.Outcome{Reason: consent.NotDue}) {
		t.Errorf("Expire: %+v", o)
	}

	if _, o := q.Reply(hour, accept()); o != (consent.Outcome{Reason: consent.TooLate}) {
		t.Errorf("CONF-53: %+v", o)
	}

	if waits, o := q.Await(hour, "rpl_2"); !o.Changed || waits.Deadline() != hour.Add(consent.MaxSeconds*time.Second) {
		t.Errorf("Await: %+v, %+v", o, waits)
	}

	if shown, o := q.Present(hour, "rpl_2"); !o.Changed || shown.Deadline() != hour.Add(time.Minute) || shown.Token != "rpl_2" {
		t.Errorf("Present: %+v, %+v", o, shown)
	}

	day := after(consent.MaxSeconds * time.Second)
	if gone, o := q.Expire(day); gone.State != consent.Expired || !o.Changed {
		t.Errorf("after a day: %s, %+v", gone.State, o)
	}

	for name, step := range map[string]func(time.Time, string) (consent.Question, consent.Outcome){"await": q.Await, "present": q.Present} {
		if _, o := step(day, "rpl_2"); o != (consent.Outcome{Reason: consent.TooLate}) {
			t.Errorf("%s after a day: %+v", name, o)
		}
	}
}

// TestStored shows that a question survives its store unchanged.
func TestStored(t *testing.T) {
	t.Parallel()

	p := clarification(consent.MultipleChoice, consent.Numeric)
	p.Choices, p.DefaultResponse = choices("60", "65"), "65"
	p.AskedAt = start().Add(123_456_789).In(time.FixedZone("east", 3600))

	open := mustAsk(t, p)
	answered, _ := open.Reply(after(0), answer(consent.NumberResponse(0)))
	extended, _ := mustAsk(t, deletion()).Extend(after(1), "rpl_2")

	for _, q := range []consent.Question{open, answered, extended, mustAsk(t, draft())} {
		data, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}

		var back consent.Question
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}

		var strict consent.Question
		if err := jsonv2.Unmarshal(data, &strict, jsonv2.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}

		if !reflect.DeepEqual(back, q) || !reflect.DeepEqual(strict, q) {
			t.Errorf("stored %s\n read %+v\n and %+v\n want %+v", data, back, strict, q)
		}
	}
}
