package openapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// comments are what the sources say of types and their fields.
type comments struct {
	types  map[string]string            // by "package.Type"
	fields map[string]map[string]string // of a type, by the name of the Go field
	values map[string][]string          // of a type, the texts of its constants
}

// folders have the sources of the types.
func folders() []string { return []string{"..", "../../utp"} }

// readComments reads the comments of all types.
func readComments(t *testing.T) comments {
	t.Helper()
	c := comments{types: map[string]string{}, fields: map[string]map[string]string{}, values: map[string][]string{}}
	for _, folder := range folders() {
		names, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(names) == 0 {
			t.Fatalf("no sources in %s: %v", folder, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if group, is := d.(*ast.GenDecl); is {
					c.read(file.Name.Name, group)
				}
			}
		}
	}
	return c
}

func (c comments) read(pkg string, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			name := pkg + "." + s.Name.Name
			c.types[name] = plain(group.Doc.Text())
			if of, is := s.Type.(*ast.StructType); is {
				c.fields[name] = fieldComments(of)
			}
		case *ast.ValueSpec:
			of, named := s.Type.(*ast.Ident)
			if !named || group.Tok != token.CONST || len(s.Values) == 0 {
				continue
			}
			if text, is := s.Values[0].(*ast.BasicLit); is && text.Kind == token.STRING && len(text.Value) > 2 {
				c.values[pkg+"."+of.Name] = append(c.values[pkg+"."+of.Name], strings.Trim(text.Value, `"`))
			}
		}
	}
}

// fieldComments are the comments of a struct's fields. One that names the next fields too counts for them.
func fieldComments(of *ast.StructType) map[string]string {
	all, before := map[string]string{}, ""
	for _, f := range of.Fields.List {
		text := plain(f.Doc.Text() + f.Comment.Text())
		for _, name := range f.Names {
			if text == "" && regexp.MustCompile(`\b`+name.Name+`\b`).MatchString(before) {
				text = before
			}
			all[name.Name] = text
		}
		if text != "" {
			before = text
		}
	}
	return all
}

// link is a link of a Go comment.
var link = regexp.MustCompile(`\[\*?([A-Za-z][\w.]*)\]`)

// plain is a comment in one line, without the form of its links.
func plain(comment string) string {
	text := strings.Join(strings.Fields(comment), " ")
	text = link.ReplaceAllString(text, "$1")
	if text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}

// of is the comment of a field, or what a member of its name usually is.
func (c comments) of(owner reflect.Type, field, name string) string {
	if text := c.fields[owner.String()][field]; text != "" {
		return inJSON(owner, text)
	}
	return usual()[name]
}

// ofType is the comment of a type.
func (c comments) ofType(of reflect.Type) string {
	text := c.types[of.String()]
	if of.Kind() == reflect.Struct {
		text = inJSON(of, text)
	}
	return text
}

// inJSON names the fields in a comment as JSON does. A word that only begins a sentence is left alone.
func inJSON(owner reflect.Type, text string) string {
	for f := range owner.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		word := regexp.MustCompile(`(^|[ (])` + f.Name + `\b( (?:most|least|the|a|an|another)\b)?`)
		text = word.ReplaceAllStringFunc(text, func(found string) string {
			if (f.Name == "At" || f.Name == "Of") && !strings.HasSuffix(found, f.Name) {
				return found
			}
			return strings.Replace(found, f.Name, "`"+name+"`", 1)
		})
	}
	return text
}

// usual is what members mean whose fields have no comment.
func usual() map[string]string {
	return map[string]string{
		"after": "The last one that is known: the list continues behind it.", "agent": "The name of the agent.", "args": "The arguments, an object.",
		"asked": "When it was asked.", "at": "When it was.", "by": "The person or the process that did it.", "created": "When it was created.",
		"class": "The class of effect.", "code": "Why it did not succeed.", "deadline": "When the time to answer ends.", "decision": "What was decided.",
		"description": "What it is, for people.", "ended": "It has ended.", "event_id": "The id of the event.", "file": "The name of the file.", "hint": "What to do.",
		"id": "The id.", "kind": "What it is.", "language": "A BCP 47 tag.", "message": "What it says to people.", "more": "There are others behind these.",
		"name": "The name.", "number": "The number of the question.", "open": "Those that have not ended.", "owner": "The person that it belongs to.", "project": "The project.",
		"question": "The number of the question.", "reason": "Why.", "reply_token": "The token of the question.", "risk": "The risk of a mistake.",
		"session_id": "The session.", "surface": "Where it was done.", "text": "The text.", "title": "Its first line.", "tool": "The name of the tool.",
		"tool_call_id": "The call.", "tool_name": "The name of the tool.", "turn_id": "The turn.", "card_id": "The card.", "priority": "How urgent it is: assertive, polite or none.",
	}
}
