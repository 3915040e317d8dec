package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/kernel"
)

// policyFile is the form of an operator's policy. Unknown members are refused: a
// misspelt rule must not be a rule left out.
type policyFile struct {
	Rules []kernel.Rule `yaml:"rules"`
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
	return kernel.NewRules(in.Rules)
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
