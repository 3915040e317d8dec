package aaep

import (
	"fmt"
	"slices"
	"strings"
)

// Reference writes the whole description as a page in Markdown: headings to jump by,
// and one table with a header row for each message. The same bytes at every call.
func Reference() []byte {
	var p page
	p.WriteString(referenceHead)
	p.WriteString("\n## Names\n\n")
	for _, name := range Names() {
		p.linef("- [%s](#%s)", name, anchor(name))
	}
	p.linef("- [extensions](#extensions)")
	p.linef("\n## %s\n", EnvelopeName)
	p.linef("What every event carries, in this order; the payload stands before `extensions` (ENV-58). Section §3.\n")
	p.fields(envelope(), "§3.2")
	for _, m := range slices.Concat(table(), Documents()) {
		p.message(m)
	}
	p.linef("\n## extensions\n")
	p.linef("What stands under the prefixes that Earshot knows, `extensions.<prefix>` (EXT-18). Both objects are open.\n")
	p.fields(namespaces(), "§3.9")
	return []byte(p.String())
}

const referenceHead = `# AAEP messages, field by field

<!-- Written by ` + "`earshot schema --markdown`" + ` from the table in package aaep. Do not edit: a test compares the two. -->

Every message of AAEP 1.0.0 that Earshot sends or reads, with the rules that one message alone can break. The
rules of what comes after what, and of who may answer, are not here. Identifiers such as START-01 name rules; a
violation of ` + "`aaep.Validate`" + ` carries the same names. Sections are those of the AAEP specification. A length counts
characters (code points); a duration is in milliseconds where its name ends in ` + "`_ms`" + `. A message without a field
that is needed is refused; so is a field that the message does not have, unless the page says that it is open.

The same as JSON Schema: ` + "`earshot schema NAME`" + `.
`

// page is Markdown in the making.
type page struct{ strings.Builder }

func (p *page) linef(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// anchor is how a heading is linked to.
func anchor(heading string) string { return strings.ReplaceAll(heading, ".", "") }

func (p *page) message(m Message) {
	p.linef("\n## %s\n", m.Name())
	p.linef("%s Type `%s`, section %s.\n", m.Description, m.Type, m.Spec)
	if m.Event {
		p.linef("The fields of the [envelope](#%s), and:\n", EnvelopeName)
	}
	p.fields(m.Fields, m.Spec)
	p.about(m)
	p.linef("\nExample:\n\n```json\n%s\n```", strings.TrimSpace(m.Example))
}

// about tells what holds for the message as a whole.
func (p *page) about(m Message) {
	p.linef("")
	switch {
	case m.Critical != "":
		p.linef("- Urgency: always `critical` (%s).", m.Critical)
	case m.Quiet:
		p.linef("- Urgency: usually `%s`, or `%s` (ENV-36).", m.Urgency, UrgencyBackground)
	case m.Event:
		p.linef("- Urgency: usually `%s` (ENV-36).", m.Urgency)
	}
	if m.Event {
		p.linef("- Texts for people may stand beside it in further languages, under the name of the field, an underscore and the language: `summary_normal_yo` (PAY-01).")
	}
	if m.Borne != "" {
		p.linef("- Other fields: none (%s); the text `%s` is borne, with a warning.", m.Closed, m.Borne)
	} else {
		p.linef("- Other fields: none (%s).", m.Closed)
	}
	for _, r := range m.Rules {
		p.linef("- Across fields: %s (%s).", r.Name, strings.Join(r.IDs, ", "))
	}
}

func (p *page) fields(fields []Field, spec string) {
	p.linef("| Field | Needed | Value | Absent means | Rules | Section | Meaning |")
	p.linef("|---|---|---|---|---|---|---|")
	p.rows("", fields, spec)
}

func (p *page) rows(path string, fields []Field, spec string) {
	for _, f := range fields {
		if f.Spec == "" {
			f.Spec = spec
		}
		p.linef("| `%s` | %s | %s | %s | %s | %s | %s |", path+f.Name, needed(f), cell(valueOf(f)), code(f.Default), strings.Join(rulesOf(f), ", "), f.Spec, cell(f.Description))
		p.rows(path+f.Name+".", f.Members, f.Spec)
		if f.Item != nil {
			p.rows(path+f.Name+"[].", f.Item.Members, f.Spec)
		}
	}
}

// rulesOf names the rules of a row, with those of its checks.
func rulesOf(f Field) []string {
	rules := append([]string{f.Rule, f.RecommendedBy}, f.Also...)
	for _, r := range f.Checks {
		rules = append(rules, r.IDs...)
	}
	if f.Item != nil {
		for _, r := range f.Item.Checks {
			rules = append(rules, r.IDs...)
		}
	}
	return Ranked(rules...)
}

func needed(f Field) string {
	switch {
	case f.Required:
		return "yes"
	case f.RecommendedBy != "":
		return "advised"
	default:
		return "no"
	}
}

// valueOf says in words what a value may be.
func valueOf(f Field) string {
	parts := []string{string(f.Kind)}
	switch f.Kind {
	case KindArray:
		parts = []string{"array of " + amount(f.MinLen, f.MaxLen, "items")}
		if f.Unique {
			parts = append(parts, "no two alike")
		}
		parts = append(parts, "each a "+valueOf(*f.Item))
		return strings.ReplaceAll(strings.Join(parts, ", "), "each a object", "each an object")
	case KindString, KindScalar:
		parts = append(parts, textOf(f)...)
	case KindInteger, KindNumber:
		if f.Bounded && f.High >= maxSafeInteger {
			parts = append(parts, "at least "+figure(f.Low))
		} else if f.Bounded {
			parts = append(parts, figure(f.Low)+" to "+figure(f.High))
		}
	case KindObject:
		parts = append(parts, insideOf(f)...)
	case KindBoolean, KindContext:
	}
	return strings.Join(parts, ", ")
}

func textOf(f Field) []string {
	var parts []string
	if f.MinLen > 0 || f.MaxLen > 0 {
		parts = append(parts, amount(f.MinLen, f.MaxLen, "characters"))
	}
	if f.Pattern != "" && f.Format == "" {
		parts = append(parts, "`"+f.Pattern.Expression()+"`")
	}
	switch f.Format {
	case FormatURI:
		parts = append(parts, "a URI")
	case FormatTimestamp:
		parts = append(parts, "a timestamp such as `2026-05-24T14:22:11.342Z`")
	case FormatLanguage:
		parts = append(parts, "a well-formed language tag")
	default: // no format
	}
	if f.Enum != nil {
		parts = append(parts, "one of `"+strings.Join(f.Enum, "`, `")+"`")
	}
	if f.Readable {
		parts = append(parts, "for people")
	}
	return parts
}

func insideOf(f Field) []string {
	switch {
	case f.Each != nil:
		return []string{"each member an " + string(f.Each.Kind)}
	case f.Closed != "":
		return []string{"no other members (" + f.Closed + ")"}
	default:
		return []string{"open"}
	}
}

func amount(least, most int, of string) string {
	switch {
	case least > 0 && most > 0 && least == most:
		return fmt.Sprintf("%d %s", least, of)
	case least > 0 && most > 0:
		return fmt.Sprintf("%d to %d %s", least, most, of)
	case most > 0:
		return fmt.Sprintf("at most %d %s", most, of)
	case least == 1:
		return "not empty"
	case least > 0:
		return fmt.Sprintf("at least %d %s", least, of)
	default:
		return of
	}
}

// code sets a value apart, or says that there is none.
func code(value string) string {
	if value == "" {
		return "nothing"
	}
	return cell("`" + value + "`")
}

// cell keeps text from ending the cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
