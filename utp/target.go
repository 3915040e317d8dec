package utp

import "strings"

// TargetValues fill the placeholders of a tool's target_subject.
type TargetValues struct {
	Project string // {project_id}
	Channel string // {channel_id}
	Agent   string // {agent_id}
}

// RenderTarget fills in a tool's target_subject, for example `cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.delete`
// (UTP, "Tool definitions"). Each value that is used must be one token. The result must be a tool command of the given
// project and channel, so that a definition cannot send a call to another project. The error is a [*SubjectError].
func RenderTarget(template string, v TargetValues) (Subject, error) {
	text, err := fillTarget(template, v)
	if err != nil {
		return Subject{}, err
	}
	s, err := ParseSubject(text)
	if err != nil {
		return Subject{}, err
	}
	wrong := func(part, found, expected string) error {
		return &SubjectError{Subject: template, Part: part, Found: Shown(found), Expected: expected}
	}
	switch {
	case s.Version != Version:
		return Subject{}, wrong("the version", s.Version, Version)
	case !s.IsToolCommand():
		return Subject{}, wrong("the category and component", s.Category+"."+s.Component, "cmd.tool")
	case s.Project != v.Project:
		return Subject{}, wrong("the project", s.Project, "{project_id}")
	case s.Channel != v.Channel:
		return Subject{}, wrong("the channel", s.Channel, "{channel_id}")
	}
	return checkedTool(s)
}

// Service returns the name of the service that a call of the tool is sent to. The error is a [*SubjectError].
func (d Definition) Service() (string, error) {
	s, err := RenderTarget(d.Target, TargetValues{Project: "p", Channel: "c", Agent: "a"})
	return s.Target, err
}

// fillTarget replaces the placeholders. It scans once, so that values are not searched for placeholders.
func fillTarget(template string, v TargetValues) (string, error) {
	var out strings.Builder
	rest := template
	for {
		before, after, found := strings.Cut(rest, "{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", &SubjectError{Subject: template, Part: "a place", Found: Shown("{" + after), Expected: "a closing brace"}
		}
		value, err := v.value(template, name)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		rest = tail
	}
}

func (v TargetValues) value(template, name string) (string, error) {
	var value string
	switch name {
	case "project_id":
		value = v.Project
	case "channel_id":
		value = v.Channel
	case "agent_id":
		value = v.Agent
	default:
		return "", &SubjectError{
			Subject: template, Part: "a place", Found: Shown("{" + name + "}"),
			Expected: "{project_id}, {channel_id} or {agent_id}",
		}
	}
	if !ValidToken(value) {
		return "", &SubjectError{Subject: template, Part: "the value of {" + name + "}", Found: Shown(value), Expected: alphabetRule}
	}
	return value, nil
}
