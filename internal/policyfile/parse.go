package policyfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/tool/settings"
)

// document is the format of an operator's policy. Unknown members are refused: a misspelt rule must not be ignored.
type document struct {
	Rules     []rulebook.Rule    `yaml:"rules"`
	Questions rulebook.Questions `yaml:"questions"`
}

const maxSize = 1 << 20

// read reads and checks the rules of a file; without a file there are none.
func read(path string) (*rulebook.Rules, []byte, error) {
	if path == "" {
		rules, err := rulebook.NewRules(nil)
		return rules, nil, err
	}
	raw, err := bytesOf(path)
	if err != nil {
		return nil, nil, err
	}
	rules, err := parse(path, raw)
	return rules, raw, err
}

// bytesOf reads the file. It never blocks, even if the path is not a regular file.
func bytesOf(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	unfit := &Error{why: legible.NewSentence("the policy %s should be a file of at most 1 MiB", path)}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, unfit
	}
	raw, err := within(f)
	switch {
	case errors.Is(err, errLonger):
		return nil, unfit
	case err != nil:
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	return raw, nil
}

var errLonger = errors.New("it is longer")

// within reads at most maxSize bytes of a file that may still grow. A longer file is an error, because a truncated one
// could lose the rules at its end.
func within(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(raw) > maxSize {
		err = errLonger
	}
	return raw, err
}

// parse parses the file. One without rules is refused: it may be in the middle of a write, or truncated by a crash,
// and its rules must not be lost silently.
func parse(path string, raw []byte) (*rulebook.Rules, error) {
	section, err := settings.Parse(raw)
	if errors.Is(err, settings.ErrEmpty) || err == nil && (section.Bare("rules") || without(section)) {
		return nil, &Error{why: legible.NewSentence("the policy %s has no rules; where none are meant, write rules: []", path)}
	}
	var in document
	if err == nil {
		err = section.Decode(&in)
	}
	if err == nil {
		err = checkQuestions(section, in.Questions)
	}
	if err != nil {
		return nil, fmt.Errorf("the policy %s: %w", path, err)
	}
	rules, err := rulebook.NewRules(in.Rules)
	if err == nil {
		rules.Questions = in.Questions
	}
	return rules, err
}

// without reports whether a file has nothing, or only what is not about rules.
func without(section settings.Section) bool {
	return len(section.Names()) == 0 || section.Has("questions") && !section.Has("rules")
}

// checkQuestions refuses a word that says neither of what can become of a question.
func checkQuestions(section settings.Section, q rulebook.Questions) error {
	switch q.WhenNobody {
	case "", rulebook.Wait, rulebook.Decide:
		return nil
	}
	value := strconv.Quote(settings.Clip(string(q.WhenNobody), 80))
	fault := section.Fault([]any{"questions", "when_nobody"}, "it is "+value, "wait or decide",
		"wait leaves a question open until its deadline; decide applies its default as soon as nobody who is connected can answer it")
	fault.Value = value
	return fault
}
