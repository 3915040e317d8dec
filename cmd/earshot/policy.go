package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
)

// policyFile is the form of an operator's policy. Unknown members are refused: a
// misspelt rule must not be a rule left out.
type policyFile struct {
	Rules []kernel.Rule `yaml:"rules"`
}

const maxPolicy = 1 << 20

// readPolicy reads and checks the rules of a file; without one there are none.
func readPolicy(path string) (*kernel.Rules, []byte, error) {
	if path == "" {
		rules, err := kernel.NewRules(nil)
		return rules, nil, err
	}
	raw, err := policyBytes(path)
	if err != nil {
		return nil, nil, err
	}
	rules, err := parsePolicy(path, raw)
	return rules, raw, err
}

// policyBytes is what the file holds. It waits for nobody, also where the file is none.
func policyBytes(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxPolicy {
		return nil, fmt.Errorf("the policy %s should be a file of at most 1 MiB", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxPolicy))
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	return raw, nil
}

// parsePolicy reads the rules. A file without any is refused: it may be one that is being
// written, or that a crash has cut off, and its rules are not to be lost without a word.
func parsePolicy(path string, raw []byte) (*kernel.Rules, error) {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	var in policyFile
	if err := d.Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the policy %s: %w", path, inWords(err))
	}
	if in.Rules == nil {
		return nil, fmt.Errorf("the policy %s has no rules; where none are meant, write rules: []", path)
	}
	if err := d.Decode(new(policyFile)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the policy %s has several documents; write all rules into one", path)
	}
	return kernel.NewRules(in.Rules)
}

var (
	unknownMember = regexp.MustCompile(`^(line \d+: )?field (.+) not found in type .*$`)
	wrongKind     = regexp.MustCompile("(?s)^(line \\d+: )?cannot unmarshal \\S+ (?:`(.*)` )?into (\\S+)$")
)

// inWords says what is wrong with a policy to somebody who has not seen this program's source.
func inWords(err error) error {
	return yamlErrors(err, "there is no member %s; a rule has agent, tool, decide, timeout, start_within, undo, result_within and broker_only")
}

// yamlWords is the same of any file.
func yamlWords(err error) error { return yamlErrors(err, "there is no member %s") }

func yamlErrors(err error, unknown string) error {
	wrong, is := errors.AsType[*yaml.TypeError](err)
	if !is {
		return errors.New(strings.TrimPrefix(cause.Of(err), "yaml: "))
	}
	lines := make([]string, 0, len(wrong.Errors))
	for _, line := range wrong.Errors {
		lines = append(lines, yamlLine(line, unknown))
	}
	return errors.New(strings.Join(lines, "; "))
}

// yamlLine is one complaint of the YAML reader without the types of Go.
func yamlLine(line, unknown string) string {
	if m := unknownMember.FindStringSubmatch(line); m != nil {
		return m[1] + fmt.Sprintf(unknown, m[2])
	}
	m := wrongKind.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	expected := "names and values"
	switch kind := m[3]; {
	case kind == "time.Duration":
		expected = "a time such as 30s or 5m"
	case kind == "bool":
		expected = "true or false"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		expected = "a whole number"
	case strings.HasPrefix(kind, "[]"):
		expected = "a list"
	case kind == "string":
		expected = "a text"
	}
	if m[2] == "" {
		return m[1] + "expected " + expected
	}
	return fmt.Sprintf("%sfound %q, expected %s", m[1], m[2], expected)
}
