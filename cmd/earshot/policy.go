package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/kernel/turn"
)

// policyFile is the form of an operator's policy. Unknown members are refused: a
// misspelt rule must not be a rule left out.
type policyFile struct {
	Rules []policyRule `yaml:"rules"`
}

type policyRule struct {
	Agent       string        `yaml:"agent"`
	Tool        string        `yaml:"tool"`
	Decide      turn.Decision `yaml:"decide"`
	Timeout     time.Duration `yaml:"timeout"`
	StartWithin time.Duration `yaml:"start_within"`
	Undo        time.Duration `yaml:"undo"`
	// ResultWithin is how long a call may take, where its tool does not say.
	ResultWithin time.Duration `yaml:"result_within"`
	BrokerOnly   bool          `yaml:"broker_only"`
}

const maxPolicy = 1 << 20

func readPolicy(path string) (*kernel.Rules, error) {
	if path == "" {
		return kernel.NewRules(nil)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxPolicy {
		return nil, fmt.Errorf("the policy %s should be a file of at most 1 MiB", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	var in policyFile
	if err := d.Decode(&in); err != nil && !errors.Is(err, io.EOF) { // an empty file has no rules
		return nil, fmt.Errorf("the policy %s: %w", path, inWords(err))
	}
	if err := d.Decode(new(policyFile)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the policy %s has several documents; write all rules into one", path)
	}
	rules := make([]kernel.Rule, 0, len(in.Rules))
	for _, r := range in.Rules {
		rules = append(rules, kernel.Rule{
			Agent: r.Agent, Tool: r.Tool, Decide: r.Decide, BrokerOnly: r.BrokerOnly,
			Timeout: r.Timeout, StartWithin: r.StartWithin, Undo: r.Undo, ResultWithin: r.ResultWithin,
		})
	}
	return kernel.NewRules(rules)
}

var goType = regexp.MustCompile(`field (.+) not found in type .*`)

// inWords says what is wrong with a file to somebody who has not seen this program's
// source.
func inWords(err error) error {
	wrong, is := errors.AsType[*yaml.TypeError](err)
	if !is {
		return err
	}
	lines := make([]string, 0, len(wrong.Errors))
	for _, line := range wrong.Errors {
		lines = append(lines, goType.ReplaceAllString(line, "there is no member $1; a rule has agent, tool, decide, timeout, start_within, undo, result_within and broker_only"))
	}
	return errors.New(strings.Join(lines, "; "))
}
