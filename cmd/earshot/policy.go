package main

import (
	"fmt"
	"os"
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
	Tool        string        `yaml:"tool"`
	Decide      turn.Decision `yaml:"decide"`
	Timeout     time.Duration `yaml:"timeout"`
	StartWithin time.Duration `yaml:"start_within"`
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
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("the policy %s: %w", path, err)
	}
	rules := make([]kernel.Rule, 0, len(in.Rules))
	for _, r := range in.Rules {
		rules = append(rules, kernel.Rule{Tool: r.Tool, Decide: r.Decide, Timeout: r.Timeout, StartWithin: r.StartWithin})
	}
	return kernel.NewRules(rules)
}
