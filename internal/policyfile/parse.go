package policyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
)

// document is the form of an operator's policy. Unknown members are refused: a
// misspelt rule must not be a rule left out.
type document struct {
	Rules []kernel.Rule `yaml:"rules"`
}

const maxSize = 1 << 20

// read reads and checks the rules of a file; without one there are none.
func read(path string) (*kernel.Rules, []byte, error) {
	if path == "" {
		rules, err := kernel.NewRules(nil)
		return rules, nil, err
	}
	raw, err := bytesOf(path)
	if err != nil {
		return nil, nil, err
	}
	rules, err := parse(path, raw)
	return rules, raw, err
}

// bytesOf is what the file holds. It waits for nobody, also where the file is none.
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
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, fmt.Errorf("the policy %s should be a file of at most 1 MiB", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	return raw, nil
}

// parse reads the rules. A file without any is refused: it may be one that is being
// written, or that a crash has cut off, and its rules are not to be lost without a word.
func parse(path string, raw []byte) (*kernel.Rules, error) {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	var in document
	if err := d.Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the policy %s: %w", path, inWords(err))
	}
	if in.Rules == nil {
		return nil, fmt.Errorf("the policy %s has no rules; where none are meant, write rules: []", path)
	}
	if err := d.Decode(new(document)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the policy %s has several documents; write all rules into one", path)
	}
	return kernel.NewRules(in.Rules)
}

// inWords says what is wrong with a policy to somebody who has not seen this program's source.
func inWords(err error) error {
	return cause.OfYAML(err, "there is no member %s; a rule has agent, tool, decide, timeout, start_within, undo, result_within and broker_only")
}
