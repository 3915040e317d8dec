// Package validation judges files of AAEP messages, each by its type and, where that is wanted, their order, and writes each
// finding on a line: where, how grave, which rule, what was found and what was expected.
package validation

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Outcome is how a run went; a larger one is worse.
type Outcome int

// The outcomes.
const (
	Valid  Outcome = iota // no error was found; there may be warnings
	Broken                // an error was found
	Unread                // a file could not be read
)

// Options say what is judged, and how.
type Options struct {
	Mode   aaep.Mode
	Strict bool // warnings about what the specification demands count as errors
	// Order judges the order of the messages too. JoinedLate and CutShort say that sessions may have begun before the
	// recording, and may end after it; Terms is the file with the subscription.accepted under which they were sent.
	Order, JoinedLate, CutShort bool
	Terms                       string

	Out      io.Writer // of the findings
	JSON     bool      // writes one JSON object for each message, and a summary
	Quiet    bool      // says nothing of the progress
	Progress func(string)
	Report   func(*cause.Error) // of a file that cannot be read
	Now      func() time.Time
}

// New begins a run.
func New(o Options) (*Run, error) {
	checker, err := o.checker()
	if err != nil {
		return nil, err
	}
	lifted, err := demanded()
	if err != nil {
		return nil, err
	}
	return &Run{o: o, checker: checker, lifted: lifted, nextReport: o.Now().Add(progressFirst)}, nil
}

// checker judges the order, where that is wanted; nil otherwise.
func (o Options) checker() (*session.Checker, error) {
	if !o.Order {
		return nil, nil //nolint:nilnil // none is wanted
	}
	stream := session.Stream{JoinedLate: o.JoinedLate, CutShort: o.CutShort, Mode: o.Mode}
	if o.Terms != "" {
		raw, err := os.ReadFile(o.Terms)
		if err != nil {
			return nil, Unreadable(o.Terms, err)
		}
		accepted, err := aaep.DecodeSubscriptionAccepted(raw)
		if err != nil {
			return nil, cause.Misuse(fmt.Sprintf("%s holds no subscription.accepted: %v", o.Terms, err), "give the file with the answer that the producer gave")
		}
		stream.Terms = &accepted.HonoredCapabilities
	}
	return session.NewStreamChecker(stream), nil
}

// demanded are the rules whose warnings --strict counts as errors: those that the
// specification demands.
func demanded() (map[string]bool, error) {
	rules, err := conform.Catalogue()
	if err != nil {
		return nil, cause.Fail(err, "the catalogue of rules cannot be read", "")
	}
	lifted := map[string]bool{}
	for _, rule := range rules {
		lifted[rule.ID] = rule.Level == conform.LevelMust
	}
	return lifted, nil
}

// Unreadable says that a file cannot be read.
func Unreadable(name string, err error) *cause.Error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("%s cannot be read: %s", name, cause.Of(err)), Hint: "check the name and the rights", Err: err}
}

// File judges what a file holds. Size is its size, for the progress; 0 is one that is not known.
func (j *Run) File(name string, in io.Reader, size int64) {
	j.begin(name, size)
	r := capture.NewReader(in, capture.Options{})
	for {
		message, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			j.Fail(Unreadable(name, err))
			return
		}
		if err := j.message(message); err != nil {
			j.Fail(err)
			return
		}
	}
	j.endFile()
}
