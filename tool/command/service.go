package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	programs "github.com/earshot-dev/earshot/internal/program"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Options of a service.
type Options struct {
	// LookupEnv returns inherited variables and secrets; required.
	LookupEnv func(string) (string, bool)
	// Private is the folder under which a subfolder holds private copies of the programs; it is created (0700) when
	// first needed. Programs must be executable from there. Default: the system's folder for temporary files.
	Private string
}

// Service is a validated section: programs as tools of one target.
type Service struct {
	target     string
	operations []*program
	copies     *programs.Copies
}

// program is one operation, ready to run.
type program struct {
	operation

	definition utp.Definition
	bound      *programs.Program
	copies     *programs.Copies
	template   template
	stdin      string // the property that becomes the program's input; "" for none
	limits     limits
	secrets    settings.Secrets
	shared     map[string]string // the section's environment
	o          Options
}

// Load reads the section `command` of a file and validates it. The error is a [*settings.Error].
func Load(in settings.Section, o Options) (*Service, error) {
	var c config
	if err := in.Decode(&c); err != nil {
		return nil, err
	}
	if want := settings.CheckTarget(c.Target); want != "" {
		return nil, in.Fault([]any{"target"}, fmt.Sprintf("it is %q", c.Target), want, "")
	}
	if len(c.Operations) == 0 {
		return nil, in.Fault([]any{"operations"}, "there is none", "at least one", "")
	}
	if err := c.Secrets.Check(in, "secrets"); err != nil {
		return nil, err
	}
	if o.Private == "" {
		o.Private = os.TempDir()
	}
	s := &Service{target: c.Target, copies: programs.NewCopies(o.Private)}
	seen := map[string]bool{}
	for i, op := range c.Operations {
		p := &program{operation: op, limits: op.Limits.withDefaults(c.Limits), secrets: c.Secrets, shared: c.Environment, copies: s.copies, o: o}
		fault := func(found, expected string, path ...any) error {
			return in.Fault(append([]any{"operations", i}, path...), found, expected, "")
		}
		if seen[op.Tool] {
			return nil, fault("there is another of that name", "a name of its own", "tool")
		}
		seen[op.Tool] = true
		if err := p.check(c.Target, fault); err != nil {
			return nil, err
		}
		s.operations = append(s.operations, p)
		s.copies.Add(p.bound)
	}
	return s, nil
}

// Close removes the private copies of the programs. Call it only when no call is running.
func (s *Service) Close() { s.copies.Close() }

// Target is the name of the service.
func (s *Service) Target() string { return s.target }

// Tools are the operations as tools.
func (s *Service) Tools() []tool.Tool {
	tools := make([]tool.Tool, 0, len(s.operations))
	for _, p := range s.operations {
		tools = append(tools, tool.Tool{Definition: p.definition, Run: p.run})
	}
	return tools
}

type faultAt func(found, expected string, path ...any) error

// check completes a program from its operation.
func (p *program) check(target string, fault faultAt) error {
	if name, found, expected := settings.CheckOffer(p.Tool, p.Description, p.Class, p.Risk); name != "" {
		return fault(found, expected, name)
	}
	var raw jsontext.Value
	if !p.Parameters.IsZero() {
		var err error
		if raw, err = settings.JSON(&p.Parameters); err != nil {
			return fault(err.Error(), "", "parameters")
		}
	}
	schema, properties, err := settings.Closed(raw)
	if err != nil {
		return fault(err.Error(), "", "parameters")
	}
	p.template = p.Argv
	if i, err := p.template.check(properties); err != nil {
		return fault(err.Error(), "", "argv", i)
	}
	for _, check := range []func(faultAt) error{p.checkProgram, p.checkFolder, p.checkEnvironment, p.checkLimits, p.checkExit} {
		if err := check(fault); err != nil {
			return err
		}
	}
	if err := p.checkStdin(properties, fault); err != nil {
		return err
	}
	if name := p.unused(properties); name != "" {
		return fault("no place takes it, so that people would consent to what has no effect", "a place for it, or no such property", "parameters", "properties", name)
	}
	p.definition, err = settings.Offer{
		Target: target, Tool: p.Tool, Description: p.Description, Class: p.Class, Risk: p.Risk, Parameters: schema, Meaning: p.meaning(),
		Program: &settings.Program{Path: p.Program, SHA256: p.bound.SHA256()}, Phrases: p.Phrases,
	}.Definition()
	if err != nil {
		return fault(err.Error(), "", "tool")
	}
	return nil
}

// meaning is everything that decides what a call does, for the digest.
func (p *program) meaning() any {
	secrets := map[string]settings.Secret{}
	for _, use := range p.Secrets {
		secrets[use.Name] = p.secrets[use.Name]
	}
	return map[string]any{
		"program": p.Program, "argv": p.template, "stdin": p.stdin, "folder": p.Folder, "within": p.Within, "inherit": p.Inherit,
		"environment": []map[string]string{p.shared, p.Environment}, "uses": p.Secrets, "secrets": secrets, "exit": p.exits(),
	}
}

// exits are the meanings of exit codes, with string keys for JSON.
func (p *program) exits() map[string]exit {
	out := make(map[string]exit, len(p.Exit))
	for code, means := range p.Exit {
		out[strconv.Itoa(code)] = means
	}
	return out
}

// checkProgram requires a program that only its owner or root can change, binds the operation to its bytes, and
// prevents shells from running an agent's text.
func (p *program) checkProgram(fault faultAt) error {
	if !filepath.IsAbs(p.Program) || filepath.Clean(p.Program) != p.Program {
		return fault(fmt.Sprintf("it is %q", p.Program), "the full path of a program, such as /usr/bin/lp", "program")
	}
	var err error
	if p.bound, err = programs.Bind(p.Program); err != nil {
		if wrong, is := errors.AsType[*programs.LocationError](err); is {
			return fault(wrong.Found, wrong.Expected, "program")
		}
		return fault(err.Error(), "", "program")
	}
	return p.checkShell(fault)
}

func (p *program) checkStdin(properties map[string]jsontext.Value, fault faultAt) error {
	if p.Stdin == "" {
		return nil
	}
	match := wholePlaceholder().FindStringSubmatch(p.Stdin)
	if len(match) < 2 || properties[match[1]] == nil {
		return fault(fmt.Sprintf("it is %q", p.Stdin), "a place such as {text}, for a property of the parameters", "stdin")
	}
	p.stdin = match[1]
	return nil
}

func (p *program) checkEnvironment(fault faultAt) error {
	for _, name := range p.Inherit {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fault(fmt.Sprintf("%q is not a variable name", name), "", "inherit")
		}
	}
	next := firstFD
	for i, use := range p.Secrets {
		_, known := p.secrets[use.Name]
		switch {
		case !known:
			return fault("there is no secret "+use.Name+" in the section's secrets", "", "secrets", i, "name")
		case (use.Env == "") == (use.FD == 0):
			return fault("it is given in no way, or in two", "env: NAME or fd: "+strconv.Itoa(next), "secrets", i)
		case use.FD != 0 && use.FD != next:
			return fault(fmt.Sprintf("it is %d", use.FD), fmt.Sprintf("%d: descriptors follow one another from %d", next, firstFD), "secrets", i, "fd")
		case use.FD != 0:
			next++
		}
	}
	return nil
}

func (p *program) checkLimits(fault faultAt) error {
	switch {
	case p.limits.Time > maxTime:
		return fault("it is over the limit", "at most 24h", "limits", "time")
	case p.limits.Grace > maxGrace:
		return fault("it is over the limit", "at most 4s, for the service itself has to end", "limits", "grace")
	case p.limits.Output > maxOutput:
		return fault("it is over the limit", "at most 8MiB", "limits", "output")
	case p.Output == "":
		p.Output = outputText
	case p.Output != outputText && p.Output != outputJSON:
		return fault(fmt.Sprintf("it is %q", p.Output), "text or json", "output")
	}
	return nil
}

func (p *program) checkExit(fault faultAt) error {
	for code, means := range p.Exit {
		known := slices.Contains([]string{string(utp.StatusSuccess), string(utp.StatusPartial), string(utp.StatusFailed), string(utp.StatusTimeout), statusUnknown}, means.Status)
		if !known || code < 0 || code > 255 {
			return fault(fmt.Sprintf("it is %q", means.Status), "success, partial, failed, timeout or unknown, for a code from 0 to 255", "exit", strconv.Itoa(code), "status")
		}
		if means.Untouched && means.Status != string(utp.StatusFailed) {
			return fault("it has changed nothing, and has not failed", "untouched only with failed", "exit", strconv.Itoa(code), "untouched")
		}
	}
	return nil
}

// unused returns a property without a placeholder.
func (p *program) unused(properties map[string]jsontext.Value) string {
	for name := range properties {
		used := slices.ContainsFunc(p.template, func(a argument) bool { return a.Placeholder == name })
		if !used && name != p.stdin && p.Folder != "{"+name+"}" {
			return name
		}
	}
	return ""
}
