package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/testkit"
)

const killed = -int(syscall.SIGKILL)

// ordeal is a turn that is killed, perhaps several times, and taken up again.
type ordeal struct {
	*scene
	faults []string // where each run dies, if it comes there
	answer string   // to a question about an unknown fate
	trash  string   // the home of the trash, when files go there
	// between happens after each death.
	between func(*ordeal)

	open   [][]string // the questions that were open when it died
	number int        // of the run, from 0
}

// spring is a run up to its end: every question is answered, once.
func (o *ordeal) spring(fault string) (code int, p *process) {
	o.t.Helper()
	args := []string{"--json", "tidy", o.folder}
	if o.trash != "" {
		args = append(args, "--trash")
	}
	if o.number > 0 {
		args = []string{"--json", "--resume"}
	} else {
		o.does(0, "set", "undo-time", "3s") // what these tests wait for, many times
	}
	o.number++
	p = start(o.t, options{data: o.data, args: args, fault: fault, env: []string{"XDG_DATA_HOME=" + o.trash}})
	for said := 0; ; {
		word, asked := o.asked(p, &said)
		if !asked {
			code := p.wait()
			return code, p
		}
		if word == "accept" && !o.everAccepted() {
			o.untouched("before the first yes")
		}
		p.say(word)
	}
}

// asked waits for the next question of a run and says what to answer.
func (o *ordeal) asked(p *process, said *int) (string, bool) {
	o.t.Helper()
	if !p.says(asked) {
		return "", false
	}
	*said++
	all := squeeze(p.prompt.String())
	shown := all[:p.from]
	shown = shown[strings.LastIndex(shown, "Question "):]
	o.stillOpen(shown)
	if strings.Contains(shown, "Type leave, ask again") {
		return o.answer, true
	}
	return "accept", true
}

// stillOpen demands that what was open when the program was killed is asked again under
// its old number and with its old deadline.
func (o *ordeal) stillOpen(shown string) {
	o.t.Helper()
	for _, q := range o.open {
		var micros int64
		_, err := fmt.Sscan(q[2], &micros)
		must(o.t, err)
		until := time.UnixMicro(micros).UTC().Format("Answer by 15:04,")
		if !strings.HasPrefix(shown, "Question "+q[0]+", tidy, 001/photos: ") || !strings.Contains(shown, until) {
			o.t.Errorf("question %s was asked with “%s”; what is asked after the restart is %q", q[0], until, shown)
		}
	}
	o.open = nil
}

func (o *ordeal) everAccepted() bool {
	return o.number > 1 && readLedger(o.t, o.data).one(`SELECT count(*) FROM consents`) != "0"
}

// endure runs to the end through every fault and proves what has to hold after it.
func (o *ordeal) endure() *ledger {
	o.t.Helper()
	var p *process
	var code int
	for _, fault := range append(slices.Clone(o.faults), "") {
		if code, p = o.spring(fault); code != killed {
			break
		}
		after := readLedger(o.t, o.data)
		o.open = after.openQuestions()
		for _, id := range after.sessions() {
			judge(o.t, after.bodies(id), false)
		}
		if after.one(`SELECT count(*) FROM consents`) == "0" {
			o.untouched("killed before any yes, ")
		}
		if o.between != nil {
			o.between(o)
		}
	}
	if len(o.open) > 0 {
		o.t.Errorf("these were open when it was killed and were not asked again: %v", o.open)
	}
	l := readLedger(o.t, o.data)
	l.ended()
	l.consented(1 + o.startsTwice())
	o.told(l, p)
	o.exit(l, code)
	return l
}

// startsTwice counts the deaths after which a call may be granted once more: its start
// was recorded, or may have been, and its service can show that nothing had begun.
func (o *ordeal) startsTwice() int {
	n := 0
	for _, f := range o.faults {
		switch name, _, _ := strings.Cut(f, ":"); name {
		case "invoked.logged", "command.published", "start.committed":
			n++
		}
	}
	return n
}

// told compares standard output of the last run with the ledger: all of the session.
func (o *ordeal) told(l *ledger, p *process) {
	o.t.Helper()
	ids := l.sessions()
	if len(ids) != 1 {
		o.t.Fatalf("there are %d sessions, want 1", len(ids))
	}
	if !slices.Equal(jsonLines(p.out.String()), l.bodies(ids[0])) {
		o.t.Errorf("standard output is not the session's events:\n%s", p.out)
	}
}

// exit judges the exit code by what has happened to the files.
func (o *ordeal) exit(l *ledger, code int) {
	o.t.Helper()
	gone := o.gone()
	want := 1
	if slices.Equal(gone, o.duplicates()) && l.one(`SELECT count(*) FROM questions WHERE kind = 'clarification'`) == "0" {
		want = 0
	}
	if code != want {
		o.t.Errorf("the exit code is %d, want %d: %d of %d files are gone", code, want, len(gone), len(o.duplicates()))
	}
	for _, path := range gone {
		if !slices.Contains(o.duplicates(), path) {
			o.t.Errorf("%q is gone and was not a duplicate", path)
		}
	}
	var all []string
	for call, paths := range o.removed() {
		if n := l.one(`SELECT count(*) FROM consents WHERE call_id = ? AND consumed_at IS NOT NULL`, call); n != "1" {
			o.t.Errorf("call %s has removed %v with %s consents consumed", call, paths, n)
		}
		all = append(all, paths...)
	}
	slices.Sort(all)
	if doubles := len(all) - len(slices.Compact(slices.Clone(all))); doubles > 0 {
		o.t.Errorf("%d files were removed twice: %v", doubles, all)
	}
	if o.between == nil && !slices.Equal(all, gone) {
		o.t.Errorf("the journals say that these are gone: %v\ngone are: %v", all, gone)
	}
}

// points are all fault points but unknown.asked, which needs an unknown outcome, and those of a stop and
// an end (stop.told, services.ending), at which a test holds the program.
func points() []string {
	return []string{
		"enqueued", "question.saving", "question.saved", "answer.saved", "dispatch.committing", "invoked.logged", "command.published",
		"start.committed", "delete.middle", "delete.done", "finish.committed", "report.applying", "undo.waiting",
	}
}

func name(faults []string) string { return strings.Join(faults, ",") }

// endures kills the program in each of these ways; at a landing in one of them.
func endures(t *testing.T, ways ...[]string) {
	t.Helper()
	for _, faults := range testkit.Sample(t, ways, 1) {
		enduresOne(t, faults)
	}
}

func enduresOne(t *testing.T, faults []string) {
	t.Helper()
	t.Run(name(faults), func(t *testing.T) {
		t.Parallel()
		o := &ordeal{scene: newScene(t), faults: faults, answer: "leave"}
		o.endure()
		if o.number < 2 {
			t.Errorf("the program was never killed: it does not come to %s", faults[0])
		}
		o.tidied()
	})
}

// TestKilledOnce kills the program at every point, and at those that it passes for each
// of its three calls, at each.
func TestKilledOnce(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	var ways [][]string
	for _, point := range points() {
		ways = append(ways, []string{point})
		switch point {
		case "dispatch.committing", "invoked.logged", "command.published", "finish.committed", "report.applying":
			ways = append(ways, []string{point + ":2"}, []string{point + ":3"})
		}
	}
	endures(t, ways...)
}

// TestKilledTwice kills the program, and once more where it comes to the same point
// again.
func TestKilledTwice(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	var ways [][]string
	for _, point := range points() {
		ways = append(ways, []string{point, point})
	}
	endures(t, ways...)
}

// TestKilledOnTheWay kills the program, and once more further on.
func TestKilledOnTheWay(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	endures(t, [][]string{
		{"invoked.logged", "finish.committed"},
		{"report.applying:2", "question.saved"},
		{"question.saving", "answer.saved"},
		{"question.saved", "question.saved", "undo.waiting"},
		{"question.saved", "dispatch.committing"},
		{"answer.saved", "invoked.logged"},
		{"undo.waiting", "command.published"},
		{"dispatch.committing:3", "start.committed"},
		{"command.published:3", "delete.middle"},
		{"start.committed", "start.committed", "delete.middle"},
		{"start.committed", "delete.done"},
		{"delete.middle", "report.applying"},
		{"delete.done", "finish.committed"},
		{"finish.committed:3", "report.applying"},
	}...)
}

// TestKilledTrashing does the same with a removal that can be undone: what is gone lies in
// the trash, and nothing else does.
func TestKilledTrashing(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, faults := range testkit.Sample(t, [][]string{
		{"start.committed"}, {"trash.middle"}, {"trash.done"}, {"trash.middle", "finish.committed"}, {"start.committed", "trash.middle"},
	}, 1) {
		t.Run(name(faults), func(t *testing.T) {
			t.Parallel()
			o := &ordeal{scene: newScene(t), faults: faults, answer: "leave"}
			o.trash = filepath.Join(filepath.Dir(o.data), "share")
			must(t, os.Mkdir(o.trash, 0o700))
			o.endure()
			gone := len(o.gone())
			if n := o.restore(filepath.Join(o.trash, "Trash")); n != gone {
				t.Errorf("%d files are gone, %d lie in the trash", gone, n)
			}
			o.untouched("with everything put back")
		})
	}
}

// TestConsentOfAnotherProcess: the process that took the yes is gone when it is resumed, by other rules
// even. It is asked again under its number, and says why.
func TestConsentOfAnotherProcess(t *testing.T) {
	t.Parallel()
	o := &ordeal{scene: newScene(t)}
	if code, _ := o.spring("answer.saved"); code != killed {
		t.Fatalf("the exit code is %d; the program was not killed", code)
	}
	p := o.resume("--policy", o.policy("rules: [{tool: files.delete, decide: ask, start_within: 30s}]\n"))
	p.await("Question 1, tidy, 001/photos: Delete 15 duplicate files")
	p.await("Asked again: Earshot restarted after your yes. Nothing was done.")
	o.untouched("after a yes of another process")
	p.await(asked)
	p.say("accept 1")
	p.ends(0)
	l := readLedger(t, o.data)
	l.ended()
	l.consented(1)
	if got := l.rows(`SELECT question, consumed_at IS NOT NULL FROM consents ORDER BY at`); len(got) != 2 || got[0][1] != "0" || got[1][1] != "1" {
		t.Errorf("the consents are %v, want the first unused and the second used", got)
	}
}

// TestAcceptedAndNotDone: the yes no longer applies, and nobody is there to be asked again.
// What was accepted has not been done, and the exit code says so.
func TestAcceptedAndNotDone(t *testing.T) {
	t.Parallel()
	o := &ordeal{scene: newScene(t)}
	if code, _ := o.spring("answer.saved"); code != killed {
		t.Fatalf("the exit code is %d; the program was not killed", code)
	}
	p := o.resume("--no-input", "--policy", o.policy("rules: [{tool: files.delete, decide: ask, start_within: 30s}]\n"))
	p.ends(1)
	o.untouched("after a yes that no longer applies")
	readLedger(t, o.data).ended()
}

// withoutJournals removes what would tell how far a removal came.
func withoutJournals(o *ordeal) { must(o.t, os.RemoveAll(filepath.Join(o.data, "journal"))) }

// withBrokenJournals writes rubbish over it.
func withBrokenJournals(o *ordeal) {
	journals, err := filepath.Glob(filepath.Join(o.data, "journal", "*.jsonl"))
	must(o.t, err)
	for _, path := range journals {
		must(o.t, os.WriteFile(path, []byte("no journal\n"), 0o600))
	}
}

// unknownFate is a death in the middle of a removal, and what comes of it.
type unknownFate struct {
	name      string
	faults    []string
	between   func(*ordeal)
	answer    string
	questions string
}

func (u unknownFate) String() string { return u.name }

// TestUnknownFate kills the program in the middle of a removal and takes away what would
// tell how far it came: a person is asked, and what they say is done.
func TestUnknownFate(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, row := range testkit.Sample(t, []unknownFate{
		{"lost, leave", []string{"delete.middle"}, withoutJournals, "leave", "confirmation accepted, clarification answered"},
		{"broken, leave", []string{"delete.middle"}, withBrokenJournals, "leave", "confirmation accepted, clarification answered"},
		{"lost, ask again", []string{"delete.middle"}, withoutJournals, "ask again", "confirmation accepted, clarification answered, confirmation accepted"},
		{"lost after the whole, ask again", []string{"delete.done"}, withoutJournals, "ask again", "confirmation accepted, clarification answered, confirmation accepted"},
		{"killed when asked, leave", []string{"delete.middle", "unknown.asked"}, withoutJournals, "leave", "confirmation accepted, clarification answered"},
		{"killed when asked, ask again", []string{"delete.middle", "unknown.asked"}, withoutJournals, "ask again", "confirmation accepted, clarification answered, confirmation accepted"},
		{"killed when asked again", []string{"delete.middle", "question.saved"}, withBrokenJournals, "ask again", "confirmation accepted, clarification answered, confirmation accepted"},
	}, 1) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := &ordeal{scene: newScene(t), faults: row.faults, answer: row.answer, between: row.between}
			l := o.endure()
			if o.number != len(row.faults)+1 {
				t.Errorf("it took %d runs, want %d", o.number, len(row.faults)+1)
			}
			var questions []string
			for _, q := range l.rows(`SELECT kind || ' ' || state FROM questions ORDER BY number`) {
				questions = append(questions, q[0])
			}
			if got := strings.Join(questions, ", "); got != row.questions {
				t.Errorf("the questions are %q, want %q", got, row.questions)
			}
		})
	}
}

// TestRestIsOffered kills the program in the middle of a removal. When the session is resumed, it says how far the removal came and
// asks about the rest, and offers no undo that is over. What is left after a no is what the next run asks about.
func TestRestIsOffered(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	o := &ordeal{scene: newScene(t)}
	if code, _ := o.spring("delete.middle"); code != killed {
		t.Fatalf("the exit code is %d; the program was not killed", code)
	}
	p := o.resume()
	p.await("Question 2, tidy, 001/photos: Delete 7 duplicate files")
	before, _, _ := strings.Cut(squeeze(p.prompt.String()), "Question 2, ")
	contains(t, before, "You accepted question 1 in the terminal.", "8 files and freed", "; 7 files were not reached.",
		"Output: The deletion was interrupted. Deleted 8 files.", "7 files are left, and nothing was done to them.")
	for _, wrong := range []string{"undo", "Starts in", "0 files", "in 8 seconds"} {
		if strings.Contains(before, wrong) {
			t.Errorf("%q is in:\n%s", wrong, before)
		}
	}
	p.await(asked)
	p.say("reject")
	p.ends(1) // what was accepted first was not all done
	contains(t, p.prompt.String(), "You said no. Nothing more was deleted. Deleted 8 files.", "Not reached: 7 files, untouched. Run this again to be asked about what is left.")
	if gone := o.gone(); len(gone) != 8 {
		t.Errorf("gone are %v, want 8", gone)
	}
	l := readLedger(t, o.data)
	l.ended()
	l.consented(1)
	next := o.run("--json")
	next.await("Question 3, tidy, 001/photos: Delete 7 duplicate files")
	next.await(asked)
	next.say("accept")
	next.ends(0)
	if gone := o.gone(); !slices.Equal(gone, o.duplicates()) {
		t.Errorf("gone are %v, want %v", gone, o.duplicates())
	}
}

// TestUnansweredFate leaves the question about an unknown fate to itself: nobody is
// there to answer, so nothing more is done.
func TestUnansweredFate(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	o := &ordeal{scene: newScene(t)}
	if code, _ := o.spring("delete.middle"); code != killed {
		t.Fatalf("the exit code is %d; the program was not killed", code)
	}
	gone := o.gone()
	withoutJournals(o)
	p := o.resume("--no-input")
	p.ends(1)
	if after := o.gone(); !slices.Equal(gone, after) {
		t.Errorf("gone were %v, now %v", gone, after)
	}
	l := readLedger(t, o.data)
	l.ended()
	l.consented(1)
}

// TestFaultWithoutAPoint is the control: a point that does not exist kills nothing.
func TestFaultWithoutAPoint(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	o := &ordeal{scene: newScene(t), faults: []string{"no.such.point"}}
	o.endure()
	if o.number != 1 {
		t.Error("the program was killed")
	}
}
