package turn_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

var update = flag.Bool("update", false, "write the scripts in testdata again")

// TestScripts plays every script in testdata: a line at the margin is a command, the
// indented lines below it are all that the machine made of it. Each script is one way
// that a call, or a turn, can go.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	const least = 30
	if len(files) < least {
		t.Fatalf("only %d scripts found; the folder is not whole", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s plays otherwise; look at it, then run with -update\n%s", file, got)
			}
		})
	}
}

// play runs the commands of a script and returns it with what came of them.
func play(t *testing.T, text string) string {
	t.Helper()
	s := &script{
		now:   turn.Timestamp{Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), SinceBoot: time.Hour, Boot: "b1"},
		state: turn.State{Turn: "turn_1", Session: "sess_1", Project: "p", Agent: "a", Status: turn.Queued},
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, " ") {
			continue
		}
		s.out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := s.command(strings.Fields(line)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	return s.out.String()
}

// script plays the kernel around the machine and writes down what it does.
type script struct {
	state    turn.State
	now      turn.Timestamp
	made     int // calls
	question int
	// generation is the one that takes the answers.
	generation string
	out        strings.Builder
}

// command runs one line: a verb, plain words, and name=value pairs.
func (s *script) command(fields []string) error {
	words, named := split(fields[1:])
	switch verb := fields[0]; verb {
	case "pass", "wall", "reboot":
		return s.shift(verb, words)
	case "tick":
		return s.tick(words, named)
	default:
		in, err := s.input(verb, words, named)
		if err != nil {
			return err
		}
		if a, is := in.(turn.Answered); is && a.Accept && !slices.Contains(words, "unnoticed") {
			s.feed(in, "  ")
			in = turn.Noticed{Question: a.Question}
		}
		s.step(in)
		return nil
	}
}

func split(fields []string) (words []string, named map[string]string) {
	named = map[string]string{}
	for _, f := range fields {
		if name, value, found := strings.Cut(f, "="); found {
			named[name] = value
		} else {
			words = append(words, f)
		}
	}
	return words, named
}

// shift moves the clocks without telling the machine.
func (s *script) shift(verb string, words []string) error {
	if verb == "reboot" {
		s.now.Boot, s.now.SinceBoot = s.now.Boot+"'", 0
		return nil
	}
	d, err := time.ParseDuration(words[0])
	s.now.Wall = s.now.Wall.Add(d)
	if verb == "pass" {
		s.now.SinceBoot += d
	}
	return err
}

// tick lets time pass and hands in a good check for every accepted call, unless the
// command says what has changed or that nothing was checked.
func (s *script) tick(words []string, changed map[string]string) error {
	var in turn.Tick
	checked := true
	for _, w := range words {
		if w == "unchecked" {
			checked = false
		} else if w == "engaged" {
			in.Engaged = true
		} else if err := s.shift("pass", []string{w}); err != nil {
			return err
		}
	}
	for _, c := range s.state.Calls {
		if c.State != turn.Accepted || !checked {
			continue
		}
		check := turn.Check{Call: c.ID, Digest: c.Digest}
		if reason, is := changed[c.ID]; is {
			check.Digest, check.Reason = "other", reason
		}
		in.Checks = append(in.Checks, check)
	}
	s.step(in)
	return nil
}

// step feeds an input and, when that was the end of the last call, applies the results with
// it, as the kernel does.
func (s *script) step(in turn.Input) {
	s.feed(in, "  ")
	if s.state.ReadyToApply() {
		s.feed(turn.Resume{Nonce: fmt.Sprint("n", s.state.Epoch+1)}, "  ")
	}
	s.stand()
}

func (s *script) input(verb string, words []string, named map[string]string) (turn.Input, error) {
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	const lease = 30 * time.Second
	worker := cmp.Or(named["worker"], "w")
	hold := turn.WorkerClaim{Worker: worker, Epoch: cmp.Or(number(named["epoch"]), s.state.Epoch), Nonce: s.state.Nonce}
	if hold.Epoch < s.state.Epoch {
		hold.Nonce = s.state.PreviousNonce
	}
	hold.Nonce = cmp.Or(named["nonce"], hold.Nonce)
	if hold.Nonce == "none" {
		hold.Nonce = ""
	}
	call, _ := s.state.Find(word(0))
	owner := cmp.Or(named["owner"], call.Owner, "o1")
	if owner == "nobody" {
		owner = ""
	}
	fence := cmp.Or(number(named["fence"]), call.Fence)
	switch verb {
	case "claim":
		return turn.Claim{Worker: worker, Nonce: named["nonce"], Lease: lease}, nil
	case "renew":
		return turn.Renew{WorkerClaim: hold, Lease: lease}, nil
	case "request":
		in := turn.Request{WorkerClaim: hold, Step: cmp.Or(number(named["step"]), s.state.Step+1)}
		for _, w := range words {
			in.Calls = append(in.Calls, s.call(w))
		}
		return in, nil
	case "adopt":
		return turn.Adopt{Call: s.call(word(0))}, nil
	case "answer":
		return turn.Answered{
			Question: number(word(0)), Accept: word(1) == "accept", Insist: word(1) == "again",
			By: cmp.Or(named["by"], "ada"), Surface: "terminal", Undo: 3 * time.Second, Generation: s.generation,
		}, nil
	case "notice":
		return turn.Noticed{Question: number(word(0))}, nil
	case "shown":
		return turn.Shown{Question: number(word(0))}, nil
	case "unshown":
		return turn.Unshown{Question: number(word(0))}, nil
	case "expire":
		return turn.Unanswered{Question: number(word(0)), Code: utp.CodeConsentExpired}, nil
	case "withdraw":
		return turn.Unanswered{Question: number(word(0)), Code: utp.CodeConsentWithdrawn}, nil
	case "undo":
		return turn.Undo{Question: number(word(0)), By: "ada", Surface: "terminal"}, nil
	case "start":
		check := turn.Check{Call: call.ID, Digest: call.Digest}
		if reason := named["changed"]; reason != "" {
			check.Digest, check.Reason = "other", reason
		}
		return turn.Start{
			Call: word(0), Owner: cmp.Or(named["owner"], "o1"), Target: cmp.Or(named["target"], "files"), Lease: lease, Check: check,
			Command: named["command"] != "",
		}, nil
	case "rule":
		start, err := time.ParseDuration(cmp.Or(named["start_within"], "0s"))
		if err != nil {
			return nil, err
		}
		undo, err := time.ParseDuration(cmp.Or(named["undo"], "0s"))
		terms := turn.Terms{Decision: turn.Decision(word(1)), Limits: turn.Limits{StartWithin: start, Undo: undo}}
		return turn.Ruled{Call: word(0), Terms: terms}, err
	case "tool_gone":
		return turn.ToolMissing{Call: word(0)}, nil
	case "undelivered":
		return turn.Undelivered{Call: word(0)}, nil
	case "unserved":
		return turn.Unserved{Call: word(0)}, nil
	case "beat":
		fraction, err := strconv.ParseFloat(cmp.Or(named["fraction"], "-1"), 64)
		return turn.Heartbeat{Call: word(0), Owner: owner, Fence: fence, Lease: lease, Fraction: fraction}, err
	case "finish":
		status := utp.Status(cmp.Or(word(1), "success"))
		o := outcome(status, named["digest"])
		o.Code = cmp.Or(utp.Code(named["code"]), o.Code)
		o.After = utp.AfterExecution(named["after"])
		return turn.Finish{Call: word(0), Owner: owner, Fence: fence, Outcome: o}, nil
	case "settle":
		return turn.Reconciled{
			Call: word(0), Owner: owner, LeaseExpiry: cmp.Or(number(named["lapse"]), call.LeaseExpiries),
			Finding: turn.Finding(word(1)), Outcome: turn.Outcome{
				Status: cmp.Or(utp.Status(named["status"]), utp.StatusSuccess), Code: utp.Code(named["code"]), Digest: cmp.Or(named["digest"], "r1"),
			},
		}, nil
	case "release":
		return turn.Release{WorkerClaim: hold}, nil
	case "resume":
		return turn.Resume{Nonce: named["nonce"]}, nil
	case "deliver":
		return turn.Deliver{WorkerClaim: hold, End: turn.End{
			Status: utp.Status(cmp.Or(word(0), "success")), Code: utp.Code(word(1)),
		}}, nil
	case "stop":
		return turn.StopTurn{Stop: turn.Stop{By: "ada", Surface: "terminal", Reason: word(0)}}, nil
	case "patience": // said by anyone who began the turn
		d, err := time.ParseDuration(word(0))
		s.state.MaxIdle, s.state.IdleFrom = d, s.now
		return turn.Tick{}, err
	case "deadline", "dispatch-timeout": // likewise
		d, err := time.ParseDuration(word(0))
		if verb == "deadline" {
			s.state.Deadline = s.now.Add(d)
		} else {
			s.state.QueuedFrom, s.state.MaxQueued = s.now, d
		}
		return turn.Tick{}, err
	case "depth":
		s.state.Depth = number(word(0))
		return turn.Tick{}, nil
	case "orphan":
		s.generation = named["generation"]
		return turn.Orphan{Generation: s.generation}, nil
	case "restored":
		return turn.Restored{}, nil
	}
	return s.outside(verb, words, named)
}

// outside are the commands of a program that plans an outside turn, and of the turns that this one begins.
func (s *script) outside(verb string, words []string, named map[string]string) (turn.Input, error) {
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch verb {
	case "begun":
		return turn.ChildBegun{Call: word(0), Index: number(word(1)), Turn: word(2)}, nil
	case "ended":
		status := utp.Status(word(2))
		child := turn.Child{Index: number(word(1)), Turn: named["turn"], Status: status, Code: utp.Code(named["code"])}
		return turn.ChildEnded{Call: word(0), Child: child}, nil
	case "open":
		s.state.Outside, s.state.MaxIdle = true, time.Hour
		return turn.Open{}, nil
	case "await":
		d, err := time.ParseDuration(word(1))
		return turn.Await{Call: word(0), Within: d, Abandoned: word(2) == "abandoned"}, err
	case "received":
		return turn.Received{Call: word(0)}, nil
	case "attached":
		return turn.Attached{Holder: word(0)}, nil
	case "present":
		d, err := time.ParseDuration(word(0))
		return turn.Present{Within: d}, err
	case "tell":
		percent := number(named["percent"])
		kind := turn.NoteObserved
		if percent > 0 {
			kind = turn.NoteProgress
		}
		return turn.AgentReport{Key: named["key"], Kind: kind, Percent: float64(percent)}, nil
	case "close":
		return turn.Close{End: turn.End{Status: utp.StatusSuccess}}, nil
	}
	return nil, fmt.Errorf("no such command; see script.input")
}

func outcome(status utp.Status, digest string) turn.Outcome {
	o := turn.Outcome{Status: status, Digest: cmp.Or(digest, "r1")}
	if status != utp.StatusSuccess {
		o.Code = utp.CodeInternalError
	}
	return o
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// call makes a call of `class,decision[,reconciles][,from-to][,invalid]`.
func (s *script) call(spec string) turn.Call {
	s.made++
	parts := strings.Split(spec, ",")
	c := turn.Call{
		ID: "tc_" + strconv.Itoa(s.made), Key: "k" + strconv.Itoa(s.made), Tool: "t", Target: "files",
		Class: utp.Class(parts[0]), Risk: utp.RiskMedium, Decision: turn.Decision(parts[1]), Digest: "d0",
	}
	for _, more := range parts[2:] {
		switch more {
		case "reconciles":
			c.Limits.Reconciles = true
		case "terminate":
			c.After = utp.Terminate
		case "permission":
			c.Kind = turn.PermissionCall
		case "keyless":
			c.Key = ""
		case "awaited":
			c.Awaited = s.now.Add(15 * time.Second)
		case "invalid":
			c.Outcome = &turn.Outcome{Status: utp.StatusFailed, Code: utp.CodeBadRequest}
		case "fast":
			c.Batch.FailFast = true
		case "async":
			c.Batch.Waits = false
		default:
			if n, is := strings.CutPrefix(more, "children:"); is {
				c.Target, c.Batch = "", batch(number(n))
				break
			}
			if within, err := time.ParseDuration(more); err == nil {
				c.Limits.Result = within
				break
			}
			from, to, _ := strings.Cut(more, "-")
			c.Range = [2]float64{float64(number(from)), float64(number(to))}
		}
	}
	return c
}

// batch is a batch of children that are waited for.
func batch(n int) *turn.Batch {
	b := &turn.Batch{Waits: true}
	for i := range n {
		b.Children = append(b.Children, turn.Child{Index: i, Agent: "clerk"})
	}
	return b
}

// statuses are those of the children of a call, in their order.
func statuses(b *turn.Batch) string {
	if b == nil {
		return ""
	}
	var all []string
	for _, c := range b.Children {
		all = append(all, strings.TrimSpace(cmp.Or(string(c.Status), "open")+" "+string(c.Code)))
	}
	return " [" + strings.Join(all, ", ") + "]"
}

// feed steps the machine, writes the effects down, and answers those that want one.
func (s *script) feed(in turn.Input, indent string) {
	next, effects, err := turn.Step(s.state, s.now, in)
	if err != nil {
		fmt.Fprintf(&s.out, "%srefused %v\n", indent, err)
		return
	}
	s.state = next
	for _, e := range effects {
		fmt.Fprintf(&s.out, "%s%s\n", indent, shown(e))
		switch e := e.(type) {
		case turn.AskConsent:
			s.ask(e.Call, indent+"  ")
		case turn.AskOutcome:
			s.ask(e.Call, indent+"  ")
		case turn.Replace:
			old, _ := s.state.Find(e.Call)
			c := s.call(string(old.Class) + "," + string(old.Decision))
			c.Limits, c.After, c.Replaces = old.Limits, old.After, old.ID
			if old.Outcome != nil && old.Outcome.Message == turn.StaleRestarted {
				c.Question = old.Question
			}
			s.feed(turn.Adopt{Call: c}, indent+"  ")
		}
	}
}

func (s *script) ask(call, indent string) {
	c, _ := s.state.Find(call)
	number := c.Question
	if number == 0 || c.State == turn.Unknown {
		s.question++
		number = s.question
	}
	s.feed(turn.QuestionAsked{Call: call, Number: number, Digest: "d" + strconv.Itoa(number)}, indent)
}

// shown writes an effect or an input with all its fields that say something.
func shown(e any) string {
	v := reflect.ValueOf(e)
	return strings.TrimSuffix(v.Type().Name()+" "+fields(v), " ")
}

func fields(v reflect.Value) string {
	var out []string
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() {
			continue
		}
		value := fmt.Sprint(f.Interface())
		if calls, are := reflect.TypeAssert[[]turn.Call](f); are {
			value = ""
			for _, c := range calls {
				value += "{" + fields(reflect.ValueOf(c)) + "}"
			}
		} else if f.Kind() == reflect.Struct && !f.Type().Implements(reflect.TypeFor[fmt.Stringer]()) {
			value = "{" + fields(f) + "}"
		}
		out = append(out, v.Type().Field(i).Name+"="+value)
	}
	return strings.Join(out, " ")
}

// stand writes down where the turn is.
func (s *script) stand() {
	st := s.state
	fmt.Fprintf(&s.out, "  = %s epoch %d waiting %d", st.Status, st.Epoch, st.Waiting())
	for _, c := range st.Calls {
		line := fmt.Sprintf("%s %s", c.ID, c.State)
		if o := c.Outcome; o != nil {
			line += fmt.Sprintf(" %s %s %s", o.Status, o.Code, o.Message)
		}
		s.out.WriteString(" · " + strings.Join(strings.Fields(line+statuses(c.Batch)), " "))
	}
	if due, is := st.Due(s.now); is && st.Status != turn.Ended {
		fmt.Fprintf(&s.out, " · due in %s", due.Sub(s.now.Wall))
	}
	if st.End != nil {
		fmt.Fprintf(&s.out, " · %s · %+v", strings.TrimSpace(string(st.End.Status)+" "+string(st.End.Code)), st.Tally)
	}
	s.out.WriteString("\n")
}
