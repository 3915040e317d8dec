package utp

import (
	"strings"
)

// Version is the version of the protocol: the second token of every subject, and the value of CG-Version.
const Version = "v1r4"

// The categories and components of a subject (UTP, "Subjects").
const (
	CategoryCommand = "cmd"
	CategoryEvent   = "evt"
	CategoryStream  = "str"

	ComponentAgent  = "agent"
	ComponentTool   = "tool"
	ComponentSystem = "sys"
	ComponentUser   = "user"

	// SuffixWakeup ends the subject of a wakeup.
	SuffixWakeup = "wakeup"

	// A command to a tool of the PMO goes to the system's TargetPMO, with SuffixInternal and the tool's name; an action of a
	// user interface to TargetUI, with SuffixAction.
	TargetPMO      = "pmo"
	TargetUI       = "ui"
	SuffixInternal = "internal"
	SuffixAction   = "action"
)

const (
	subjectRoot   = "cg"
	subjectTokens = 8
	alphabetRule  = "1 to 128 of A-Z a-z 0-9 _ -"
)

// Subject is a CommonGround subject,
// `cg.{ver}.{project}.{channel}.{category}.{component}.{target}.{suffix…}` (UTP, "Subjects").
type Subject struct {
	// Version may differ from the constant [Version] only in a subject that was received; empty means the constant.
	Version   string
	Project   string
	Channel   string
	Category  string
	Component string
	// Target is a tool provider, a worker target or an agent, depending on category and component.
	Target string
	// Suffix is everything after the target, including its dots.
	Suffix string
}

// SubjectError describes which part of a subject or of a subject template is wrong.
type SubjectError struct {
	Subject  string
	Part     string
	Found    string
	Expected string
}

func (e *SubjectError) Error() string {
	return "subject " + Shown(e.Subject) + ": " + e.Part + " is " + e.Found + "; expected " + e.Expected
}

// Code is bad_request.
func (*SubjectError) Code() Code { return CodeBadRequest }

// ParseSubject parses a concrete subject: no wildcards, at least eight tokens, each a [ValidToken]. The error is a
// [*SubjectError].
func ParseSubject(text string) (Subject, error) {
	tokens := strings.SplitN(text, ".", subjectTokens)
	if len(tokens) < subjectTokens {
		return Subject{}, &SubjectError{
			Subject: text, Part: "the whole", Found: "too short",
			Expected: "cg.{ver}.{project}.{channel}.{category}.{component}.{target}.{suffix}",
		}
	}
	if tokens[0] != subjectRoot {
		return Subject{}, &SubjectError{Subject: text, Part: "the first token", Found: Shown(tokens[0]), Expected: subjectRoot}
	}
	s := Subject{
		Version: tokens[1], Project: tokens[2], Channel: tokens[3],
		Category: tokens[4], Component: tokens[5], Target: tokens[6], Suffix: tokens[7],
	}
	if s.Version == "" {
		return Subject{}, &SubjectError{Subject: text, Part: "the version", Found: "nothing", Expected: alphabetRule}
	}
	if err := s.Validate(); err != nil {
		return Subject{}, err
	}
	return s, nil
}

// Validate checks every part. The error is a [*SubjectError].
func (s Subject) Validate() error {
	text := s.String()
	for _, part := range []struct{ name, value string }{
		{"the version", s.version()},
		{"the project", s.Project},
		{"the channel", s.Channel},
		{"the target", s.Target},
	} {
		if !ValidToken(part.value) {
			return &SubjectError{Subject: text, Part: part.name, Found: Shown(part.value), Expected: alphabetRule}
		}
	}
	switch s.Category {
	case CategoryCommand, CategoryEvent, CategoryStream:
	default:
		return &SubjectError{Subject: text, Part: "the category", Found: Shown(s.Category), Expected: "cmd, evt or str"}
	}
	switch s.Component {
	case ComponentAgent, ComponentTool, ComponentSystem, ComponentUser:
	default:
		return &SubjectError{Subject: text, Part: "the component", Found: Shown(s.Component), Expected: "agent, tool, sys or user"}
	}
	for token := range strings.SplitSeq(s.Suffix, ".") {
		if !ValidToken(token) {
			return &SubjectError{Subject: text, Part: "a token of the suffix", Found: Shown(token), Expected: alphabetRule}
		}
	}
	return nil
}

// String formats the subject. It does not check it; see [Subject.Validate].
func (s Subject) String() string {
	return strings.Join([]string{
		subjectRoot, s.version(), s.Project, s.Channel, s.Category, s.Component, s.Target, s.Suffix,
	}, ".")
}

func (s Subject) version() string {
	if s.Version == "" {
		return Version
	}
	return s.Version
}

// IsToolCommand reports whether the subject is a command to a tool service.
func (s Subject) IsToolCommand() bool {
	return s.Category == CategoryCommand && s.Component == ComponentTool
}

// PMOTool returns the name of the tool if the subject is that of a command to a tool of the PMO, else "".
func (s Subject) PMOTool() string {
	name, internal := strings.CutPrefix(s.Suffix, SuffixInternal+".")
	if s.Category != CategoryCommand || s.Component != ComponentSystem || s.Target != TargetPMO || !internal || strings.Contains(name, ".") {
		return ""
	}
	return name
}

// ToolCommand returns the subject of a command to a tool service. The suffix is one token, because services listen to
// `….cmd.tool.{target}.*`. The error is a [*SubjectError].
func ToolCommand(project, channel, target, suffix string) (Subject, error) {
	s := Subject{
		Version: Version, Project: project, Channel: channel,
		Category: CategoryCommand, Component: ComponentTool, Target: target, Suffix: suffix,
	}
	return checkedTool(s)
}

// checkedTool validates a subject of a tool command, whose suffix is one token.
func checkedTool(s Subject) (Subject, error) {
	if strings.Contains(s.Suffix, ".") {
		return Subject{}, &SubjectError{
			Subject: s.String(), Part: "the suffix", Found: Shown(s.Suffix), Expected: "one token: services listen to no more",
		}
	}
	if err := s.Validate(); err != nil {
		return Subject{}, err
	}
	return s, nil
}

// Wakeup returns the subject of wakeups for a worker target, which is not an agent's id (UTP, "Subjects"). The error is
// a [*SubjectError].
func Wakeup(project, channel, workerTarget string) (Subject, error) {
	s := Subject{
		Version: Version, Project: project, Channel: channel,
		Category: CategoryCommand, Component: ComponentAgent, Target: workerTarget, Suffix: SuffixWakeup,
	}
	if err := s.Validate(); err != nil {
		return Subject{}, err
	}
	return s, nil
}
