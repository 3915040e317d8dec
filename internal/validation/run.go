package validation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/cause"
)

const (
	progressFirst = 2 * time.Second // no word before that
	progressEvery = 5 * time.Second
	clockEvery    = 4096 // messages between two looks at the clock
)

// Run is one validation: files in, findings out.
type Run struct {
	o       Options
	checker *session.Checker // nil where the order does not matter
	lifted  map[string]bool  // rules whose warnings --strict counts as errors
	judge   aaep.Validator

	name       string
	size       int64 // of the file; 0 where it is not known
	inFile     int64 // messages of this file
	total      verdictTotal
	worst      Outcome
	nextReport time.Time
}

// verdictTotal is what `earshot validate` says at its end.
type verdictTotal struct {
	Events   int64 `json:"events"` // messages of every kind
	Valid    int64 `json:"valid"`
	Errors   int64 `json:"errors"` // findings of all messages and sessions
	Warnings int64 `json:"warnings"`
	Sessions int64 `json:"sessions"` // where the order is judged
}

// judged is what is said of one message.
type judgedMessage struct {
	File       string           `json:"file"`
	Line       int              `json:"line"`
	Offset     int64            `json:"offset"`
	EventID    string           `json:"event_id,omitzero"`
	SessionID  string           `json:"session_id,omitzero"`
	Type       string           `json:"type,omitzero"`
	Valid      bool             `json:"valid"`
	Violations []aaep.Violation `json:"violations"`
}

func (j *Run) begin(name string, size int64) { j.name, j.size, j.inFile = name, size, 0 }

// Fail reports what is wrong with a file; the ones behind it are judged all the same.
func (j *Run) Fail(err error) {
	f, is := errors.AsType[*cause.Error](err)
	if !is {
		f = cause.Fail(err, "the findings could not be written", "")
	}
	j.o.Report(f)
	j.worst = max(j.worst, Unread)
}

// message judges one message and writes what is to be said of it.
func (j *Run) message(m capture.Message) error {
	j.inFile++
	j.total.Events++
	judged := judgedMessage{File: j.name, Line: m.Line, Offset: m.Offset}
	if m.Err != nil {
		judged.Violations = []aaep.Violation{unended(m.Err)}
	} else {
		j.read(m.Raw, &judged)
	}
	j.count(&judged)
	j.progress(m)
	return j.write(judged)
}

// unended is the finding on a message that does not end.
func unended(err *capture.BrokenError) aaep.Violation {
	return aaep.Violation{
		Rule: "ENV-02", Severity: aaep.SeverityError, Spec: "§3.8",
		Message: fmt.Sprintf("not readable as JSON: at line %d, byte %d of the file: %s", err.Line, err.Offset, err.Reason),
	}
}

func (j *Run) read(raw []byte, judged *judgedMessage) {
	document := j.judge.Read(raw)
	judged.EventID, _ = document.Text("event_id")
	judged.SessionID, _ = document.Text("session_id")
	judged.Type, _ = document.Text("type")
	if judged.Type == aaep.TypeManifest {
		judged.Violations = aaep.ValidateManifest(raw, j.o.Mode)
		return
	}
	judged.Violations = j.judge.Judge(document, j.o.Mode)
	if j.checker != nil && document.Readable() {
		judged.Violations = append(judged.Violations, j.checker.CheckDocument(document)...)
	}
}

// count adds a message to the total, with the weight that its findings have here.
func (j *Run) count(judged *judgedMessage) {
	judged.Valid = j.weigh(judged.Violations)
	if judged.Valid {
		j.total.Valid++
	}
}

// weigh counts findings and reports whether there is no error among them.
func (j *Run) weigh(found []aaep.Violation) bool {
	valid := true
	for i := range found {
		if j.o.Strict && found[i].Severity == aaep.SeverityWarning && j.lifts(found[i]) {
			found[i].Severity = aaep.SeverityError
		}
		switch found[i].Severity {
		case aaep.SeverityError:
			valid = false
			j.total.Errors++
			j.worst = max(j.worst, Broken)
		case aaep.SeverityWarning:
			j.total.Warnings++
		case aaep.SeverityInfo:
		}
	}
	return valid
}

func (j *Run) lifts(v aaep.Violation) bool {
	return j.lifted[v.Rule] || slices.ContainsFunc(v.Also, func(rule string) bool { return j.lifted[rule] })
}

func (j *Run) write(judged judgedMessage) error {
	if j.o.JSON {
		if judged.Violations == nil {
			judged.Violations = []aaep.Violation{}
		}
		return j.writeJSON(judged)
	}
	for _, v := range judged.Violations {
		if err := j.line(fmt.Sprintf("%s:%d: byte %d: %s", cause.OneLine(j.name), judged.Line, judged.Offset, violationLine(v))); err != nil {
			return err
		}
	}
	return nil
}

// violationLine is one line about one violation.
func violationLine(v aaep.Violation) string {
	place := ""
	if v.Path != "" {
		place = " at " + legible.Line(v.Path)
	}
	return fmt.Sprintf("%s: %s%s: %s (%s)", v.Severity, v.Rule, place, legible.Line(v.Message), v.Spec)
}

func (j *Run) line(text string) error {
	if _, err := fmt.Fprintln(j.o.Out, text); err != nil {
		return cause.Fail(err, "the findings could not be written", "")
	}
	return nil
}

func (j *Run) writeJSON(v any) error {
	raw, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return cause.Fail(err, "the findings could not be written", "")
	}
	return j.line(string(raw))
}

// progress says on standard error how far a long file has been read.
func (j *Run) progress(m capture.Message) {
	if j.o.Quiet || j.total.Events%clockEvery != 0 {
		return
	}
	now := j.o.Now()
	if now.Before(j.nextReport) {
		return
	}
	j.nextReport = now.Add(progressEvery)
	of := ""
	if j.size > 0 {
		of = fmt.Sprintf(" of %s, %d %%", legible.Bytes(j.size), 100*m.Offset/j.size)
	}
	j.o.Progress(fmt.Sprintf("%s: %s messages judged, %s%s read", cause.OneLine(j.name), legible.Grouped(j.inFile), legible.Bytes(m.Offset), of))
}

// endFile says it where a file holds nothing: a check that judged nothing must not pass
// for one that found nothing.
func (j *Run) endFile() {
	if j.inFile > 0 {
		return
	}
	judged := judgedMessage{File: j.name, Line: 1, Violations: []aaep.Violation{{
		Rule: "ENV-01", Severity: aaep.SeverityError, Spec: "§2.2.4", Message: "found no message, expected at least one JSON object",
	}}}
	j.weigh(judged.Violations)
	if err := j.write(judged); err != nil {
		j.Fail(err)
	}
}

// End judges what only the end shows, and sums up. It says how all of it went.
func (j *Run) End() (Outcome, error) {
	err := errors.Join(j.endSessions(), j.summary())
	return j.worst, err
}

func (j *Run) endSessions() error {
	if j.checker == nil {
		return nil
	}
	j.total.Sessions = j.checker.Sessions()
	for _, open := range j.checker.CloseEach() {
		j.weigh(open.Violations)
		if err := j.writeSession(open); err != nil {
			return err
		}
	}
	return nil
}

// sessionFindings is what is said of a session at the end of the stream.
type sessionFindings struct {
	Session struct {
		SessionID  string           `json:"session_id"`
		Violations []aaep.Violation `json:"violations"`
	} `json:"session"`
}

func (j *Run) writeSession(open session.Unfinished) error {
	if j.o.JSON {
		var judged sessionFindings
		judged.Session.SessionID, judged.Session.Violations = open.SessionID, open.Violations
		return j.writeJSON(judged)
	}
	for _, v := range open.Violations {
		if err := j.line(fmt.Sprintf("session %s at its end: %s", legible.Line(open.SessionID), violationLine(v))); err != nil {
			return err
		}
	}
	return nil
}

func (j *Run) summary() error {
	if j.o.JSON {
		return j.writeJSON(struct {
			Summary verdictTotal `json:"summary"`
		}{j.total})
	}
	sessions := ""
	if j.checker != nil {
		sessions = ", " + legible.Counted(j.total.Sessions, "session")
	}
	return j.line(fmt.Sprintf("%s: %s valid, %s, %s%s.", legible.Counted(j.total.Events, "message"), legible.Grouped(j.total.Valid),
		legible.Counted(j.total.Errors, "error"), legible.Counted(j.total.Warnings, "warning"), sessions))
}
