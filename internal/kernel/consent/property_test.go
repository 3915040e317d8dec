package consent_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
)

// step is one thing that can happen to a question.
type step struct {
	name  string
	reply consent.Reply // for "reply"
	token string        // for "extend", "present" and "await"
}

func take(q consent.Question, now time.Time, s step) (consent.Question, consent.Outcome) {
	switch s.name {
	case "reply":
		return q.Reply(now, s.reply)
	case "expire":
		return q.Expire(now)
	case "nobody":
		return q.Nobody(now)
	case "withdraw":
		return q.Withdraw(now, "gone")
	case "extend":
		return q.Extend(now, s.token)
	case "present":
		return q.Present(now, s.token)
	case "await":
		return q.Await(now, s.token)
	default:
		return q, consent.Outcome{}
	}
}

// naive is the second implementation: it remembers everything that happened and
// works out the state of a confirmation from the whole list each time, with no
// code in common with the first.
type naive struct {
	asked, length           int // seconds from the start; seconds
	harmless, defaultAccept bool
	unseen                  bool
	happened                []happened
}

type happened struct {
	step

	at time.Time
}

func (n naive) state() (state, token string) {
	token = firstToken
	used := map[string]bool{token: true}
	deadline := start().Add(time.Duration(n.asked+n.length) * time.Second)
	cap24h := start().Add(time.Duration(n.asked+86_400) * time.Second)
	asked, unseen, waiting := start().Add(time.Duration(n.asked)*time.Second), n.unseen, false

	for _, h := range n.happened {
		early := h.at.Before(deadline)

		switch h.name {
		case "reply":
			r := h.reply
			if r.Kind == "confirmation" && r.Token == token && early && r.Timestamp.Before(deadline) && r.Authenticated {
				if r.Decision == "accept" && !r.ModifiedAction {
					return "accepted", token
				}

				if r.Decision == "accept" || r.Decision == "reject" {
					return "rejected", token
				}
			}
		case "expire", "nobody":
			if h.name == "expire" && (early || unseen && h.at.Before(cap24h)) {
				continue
			}

			if n.harmless && n.defaultAccept {
				return "accepted", token
			}

			return "expired", token
		case "withdraw":
			return "withdrawn", token
		case "extend":
			if !early || used[h.token] {
				continue
			}

			// Count whole seconds up from now until the person has all that is due.
			until := h.at
			for until.Before(deadline.Add(time.Duration(n.length) * time.Second)) {
				until = until.Add(time.Second)
			}

			for until.After(cap24h) {
				until = until.Add(-time.Second)
			}

			if until.After(deadline) {
				deadline, token, used[h.token], unseen = until, h.token, true, false
			}
		case "present", "await":
			inTime := early || unseen && h.at.Before(cap24h)
			if !inTime || used[h.token] || !unseen && (!waiting || h.name == "await") {
				continue
			}

			waited := h.at.Sub(asked)
			if h.name == "present" && unseen && early && waited <= 5*time.Second {
				unseen = false

				continue
			}

			seconds := n.length
			if h.name == "await" {
				if waited < 5*time.Second {
					continue
				}

				seconds = 86_400
			} else {
				cap24h = h.at.Add(86_400 * time.Second)
			}

			asked, deadline = h.at, h.at.Add(time.Duration(seconds)*time.Second)
			token, used[h.token] = h.token, true
			unseen, waiting = false, h.name == "await"
		}
	}

	return "open", token
}

// alphabet is every kind of step that the exhaustive walk combines.
func alphabet() []step {
	second := accept()
	second.Token = "rpl_2"

	no, changedAction, stranger, other, late := accept(), accept(), accept(), accept(), accept()
	no.Decision = consent.Reject
	changedAction.ModifiedAction = true
	stranger.Authenticated = false
	other.Kind = consent.Clarification
	late.Timestamp = after(time.Minute)

	return []step{
		{name: "wait"}, // lets 40 s pass: two of them cross the deadline
		{name: "reply", reply: accept()},
		{name: "reply", reply: second},
		{name: "reply", reply: no},
		{name: "reply", reply: changedAction},
		{name: "reply", reply: stranger},
		{name: "reply", reply: other},
		{name: "reply", reply: late},
		{name: "expire"},
		{name: "nobody"},
		{name: "withdraw"},
		{name: "extend", token: "rpl_2"},
		{name: "extend", token: "rpl_3"},
		{name: "present", token: "rpl_2"},
		{name: "present", token: "rpl_3"},
		{name: "await", token: "rpl_2"},
		{name: "await", token: "rpl_3"},
	}
}

// TestExhaustiveWalk takes every sequence of four steps, compares the machine
// with its naive twin after each, and checks what must always hold.
func TestExhaustiveWalk(t *testing.T) {
	t.Parallel()

	shy := deletion()
	shy.Unseen = true

	for _, p := range []consent.Params{deletion(), draft(), shy} {
		twin := naive{length: p.Timeout, harmless: !p.Irreversible, defaultAccept: p.Default == consent.Accept, unseen: p.Unseen}
		seen := map[consent.State]int{}
		walk(t, mustAsk(t, p), twin, start(), 4, seen)

		for _, s := range []consent.State{consent.Open, consent.Accepted, consent.Rejected, consent.Withdrawn} {
			if seen[s] == 0 {
				t.Errorf("the walk never reached %s", s)
			}
		}

		if (seen[consent.Expired] == 0) != (p.Default == consent.Accept) {
			t.Errorf("%d walks expired", seen[consent.Expired])
		}
	}
}

func walk(t *testing.T, q consent.Question, twin naive, now time.Time, depth int, seen map[consent.State]int) {
	t.Helper()

	seen[q.State]++

	if depth == 0 {
		return
	}

	for _, s := range alphabet() {
		at := now
		if s.name == "wait" {
			at = now.Add(40 * time.Second)
		}

		next, outcome := take(q, at, s)
		check(t, q, next, outcome, at, s)

		path := twin
		path.happened = append(slices.Clone(twin.happened), happened{s, at})

		if state, token := path.state(); state != string(next.State) || token != next.Token {
			t.Fatalf("after %v: %s with %s, the twin says %s with %s", path.happened, next.State, next.Token, state, token)
		}

		walk(t, next, path, at, depth-1, seen)
	}
}

// failer is what *testing.T and *rapid.T share here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check holds for every step of every question, however odd.
func check(t failer, q, next consent.Question, outcome consent.Outcome, now time.Time, s step) {
	t.Helper()

	if outcome.Changed == reflect.DeepEqual(q, next) {
		t.Fatalf("%s: outcome %+v, from %+v to %+v", s.name, outcome, q, next)
	}

	if q.State != consent.Open && outcome.Changed {
		t.Fatalf("%s: moved a question that was %s", s.name, q.State)
	}

	if next.Number != q.Number || next.Digest != q.Digest || next.Kind != q.Kind || next.Length != q.Length {
		t.Fatalf("%s: changed what is asked: %+v", s.name, next)
	}

	if shows := s.name == "present" || s.name == "await"; shows && (next.State != q.State || next.Extensions != q.Extensions || next.Resolution != q.Resolution) {
		t.Fatalf("%s: to be shown a question is neither an answer nor an extension: %+v", s.name, next)
	}

	if next.Token != q.Token && !slices.Contains(next.SpentTokens, q.Token) {
		t.Fatalf("%s: the old token lives: %+v", s.name, next)
	}

	if next.State != consent.Accepted || q.State == consent.Accepted {
		return
	}

	r := s.reply
	explicit := s.name == "reply" && r.Decision == consent.Accept && !r.ModifiedAction && r.Authenticated &&
		r.Principal != "" && (r.Token == q.Token || r.Token == "" && r.Number == q.Number && !q.Again) && !slices.Contains(q.SpentTokens, r.Token) &&
		r.Kind == consent.Confirmation && now.Before(q.Deadline()) && r.Timestamp.Before(q.Deadline())

	if !explicit && (q.Irreversible || (q.Risk != consent.Low && q.Risk != consent.Medium)) {
		t.Fatalf("%s: an action that cannot be taken back was accepted without a yes: %+v", s.name, q)
	}
}

// TestNothingButAnExplicitYes feeds random steps to random records, damaged
// ones among them.
func TestNothingButAnExplicitYes(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		now := start()

		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, "wait")) * time.Second)
			s := drawStep(t, i)
			next, outcome := take(q, now, s)
			check(t, q, next, outcome, now, s)
			q = next
		}
	})
}

// TestFirstValidReplyWins sends the same replies in every random order: the
// first valid one decides, whatever stands before and after it (CONF-58, CLA-13).
func TestFirstValidReplyWins(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		q, err := consent.Ask(deletion())
		if err != nil {
			t.Fatalf("Ask: %v", err)
		}

		want := consent.Open

		for range rapid.IntRange(1, 20).Draw(t, "replies") {
			r := drawReply(t)
			valid := r.Kind == consent.Confirmation && (r.Token == firstToken || r.Token == "" && r.Number == q.Number) && r.Authenticated && r.Principal != "" &&
				!r.Timestamp.IsZero() && r.Timestamp.Before(q.Deadline()) &&
				(r.Decision == consent.Accept || r.Decision == consent.Reject)

			if want == consent.Open && valid {
				want = consent.Rejected
				if r.Decision == consent.Accept && !r.ModifiedAction {
					want = consent.Accepted
				}
			}

			q, _ = q.Reply(after(time.Second), r)
			if q.State != want {
				t.Fatalf("%+v made it %s, want %s", r, q.State, want)
			}
		}
	})
}

// TestNoStepMutates keeps the serialised form of every value along a random path.
func TestNoStepMutates(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		steps := rapid.IntRange(1, 12).Draw(t, "steps")
		path, prints := make([]consent.Question, 0, steps+1), make([]string, 0, steps+1)
		path, prints = append(path, q), append(prints, fingerprint(t, q))
		now := start()

		for i := range steps {
			from := rapid.IntRange(0, len(path)-1).Draw(t, "from")
			next, _ := take(path[from], now, drawStep(t, i))
			path, prints = append(path, next), append(prints, fingerprint(t, next))
		}

		for i, one := range path {
			if now := fingerprint(t, one); now != prints[i] {
				t.Fatalf("was %s, is %s", prints[i], now)
			}
		}
	})
}

func fingerprint(t failer, q consent.Question) string {
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}

	return string(data)
}

func drawQuestion(t *rapid.T) consent.Question {
	p := rapid.SampledFrom([]consent.Params{deletion(), draft(), clarification(), clarification(consent.YesNo)}).Draw(t, "params")
	p.Unseen = rapid.Bool().Draw(t, "unseen")

	q, err := consent.Ask(p)
	if err != nil {
		t.Fatalf("Ask: %v", err)
	}

	q.Again = rapid.Bool().Draw(t, "again")

	if rapid.Bool().Draw(t, "damaged") {
		q.Default = rapid.SampledFrom([]consent.Decision{"accept", "reject", "", "yes"}).Draw(t, "default")
		q.Risk = rapid.SampledFrom([]consent.Risk{"low", "medium", "high", "", "LOW"}).Draw(t, "risk")
		q.Irreversible = rapid.Bool().Draw(t, "irreversible")
		q.Timeout = rapid.IntRange(-1, 100).Draw(t, "timeout")
		q.AllowedReplies = rapid.SampledFrom([][]consent.Decision{nil, {"accept"}, {"accept", "reject", ""}}).Draw(t, "allowed")
		q.Kind = rapid.SampledFrom([]consent.Kind{consent.Confirmation, consent.Clarification, ""}).Draw(t, "kind")
		q.Token = rapid.SampledFrom([]string{firstToken, ""}).Draw(t, "token")
	}

	return q
}

func drawStep(t *rapid.T, i int) step {
	name := rapid.SampledFrom([]string{"reply", "reply", "expire", "nobody", "withdraw", "extend", "present", "await"}).Draw(t, "step")

	return step{name: name, reply: drawReply(t), token: "rpl_" + strconv.Itoa(rapid.IntRange(1, i+2).Draw(t, "token"))}
}

func drawReply(t *rapid.T) consent.Reply {
	r := accept()
	r.Token = rapid.SampledFrom([]string{"rpl_1", "rpl_1", "rpl_2", "rpl_3", ""}).Draw(t, "reply token")
	r.Number = rapid.IntRange(-1, 2).Draw(t, "reply number")
	r.Kind = rapid.SampledFrom([]consent.Kind{"confirmation", "confirmation", "clarification", ""}).Draw(t, "reply kind")
	r.Decision = rapid.SampledFrom([]consent.Decision{"accept", "accept", "reject", "later", ""}).Draw(t, "decision")
	r.Authenticated = rapid.IntRange(0, 3).Draw(t, "authenticated") > 0
	r.Principal = rapid.SampledFrom([]string{"user:ada", "user:ada", "user:ada", ""}).Draw(t, "principal")
	r.ModifiedAction = rapid.IntRange(0, 3).Draw(t, "modified") == 0
	r.Timestamp = rapid.SampledFrom([]time.Time{start(), start(), after(59 * time.Second), after(time.Hour), {}}).Draw(t, "timestamp")
	r.Response = rapid.SampledFrom([]consent.Response{{}, consent.BoolResponse(true), consent.TextResponse("x")}).Draw(t, "response")

	return r
}
