package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/schema"
)

// TestDefinitions: a tool comes in without a class, whatever its server says of it; that stands in the definition as a claim,
// with the program by its content.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	s := stdio(t, "usual", "")
	for name, want := range map[string]mcp.Proposal{
		"echo":   {Class: utp.Read, Risk: utp.RiskLow},
		"fetch":  {Class: utp.Read, Risk: utp.RiskMedium},
		"tag":    {Class: utp.Idempotent, Risk: utp.RiskMedium},
		"wipe":   {Class: utp.Irreversible, Risk: utp.RiskHigh},
		"append": {Class: utp.Irreversible, Risk: utp.RiskHigh},
		"plain":  {Class: utp.Irreversible, Risk: utp.RiskHigh},
	} {
		one := s.tool(name)
		d := one.Definition
		if d.Class != "" || d.Risk != "" || !one.Unclaimed {
			t.Errorf("%s claims %q, %q", name, d.Class, d.Risk)
		}
		claims, is := mcp.ClaimsOf(d)
		if !is || claims.Tool != name || claims.Server != "scene" || claims.Version != "1.2.3" {
			t.Errorf("%s has the claims %+v, %v", name, claims, is)
		}
		got := mcp.Propose(claims)
		if got.Class != want.Class || got.Risk != want.Risk || got.Why == "" {
			t.Errorf("%s is proposed as %+v, want %+v", name, got, want)
		}
		program := settings.ProgramOf(d)
		if program != s.server.Program() || len(program.SHA256) != 64 {
			t.Errorf("%s runs %+v", name, program)
		}
		if strings.Contains(string(d.Options), secret) {
			t.Errorf("the secret is in the options: %s", d.Options)
		}
	}
	if got := s.tool("append").Definition.Description; got != "Append a line" {
		t.Errorf("without a description it is described as %q", got)
	}
}

// TestOutcomes: what a call comes to.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	s := stdio(t, "usual", "")
	got := s.call("echo", `{"word":"hello","more":12345678901234567890}`, utp.Read)
	if got.err != nil || !strings.Contains(got.text, `{\"word\":\"hello\",\"more\":12345678901234567890}`) || !strings.Contains(got.text, "[secret token]") {
		t.Errorf("echo: %v, %s", got.err, got.text)
	}
	got = s.call("fail", `{}`, utp.Read)
	wantError(t, got, utp.CodeInternalError, "the disk is full, says [secret token]")
	if got.status != utp.StatusFailed || !strings.Contains(string(got.Content), "the disk is full") {
		t.Errorf("fail: %q, %s", got.status, got.text)
	}
	wantError(t, s.call("refuse", `{}`, utp.Irreversible), utp.CodeBadRequest, "no such word")
	if got = s.call("big", `{}`, utp.Read); got.err != nil || len(got.text) < 3<<20 {
		t.Errorf("big: %v, %d bytes", got.err, len(got.text))
	}
}

// TestRichResult: pictures, sounds, resources and structured content are kept, in the protocol's form.
func TestRichResult(t *testing.T) {
	t.Parallel()
	eachVersion(t, "usual", func(t *testing.T, mode string) {
		s := stdio(t, mode, "")
		got := s.call("rich", `{}`, utp.Read)
		if err := tool.Keepable(jsontext.Value(got.text)); got.err != nil || err != nil {
			t.Fatal(got.err, err)
		}
		var r struct {
			Content    []map[string]any `json:"content"`
			Structured map[string]any   `json:"structuredContent"` //nolint:tagliatelle // the protocol's own name
		}
		if err := json.Unmarshal([]byte(got.text), &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Content) != 5 || r.Content[0]["text"] != "a\uFFFDb" || r.Content[1]["data"] != "AQID" || r.Content[1]["mimeType"] != "image/png" || r.Content[2]["type"] != "audio" {
			t.Errorf("the content is %v", r.Content)
		}
		inside, _ := r.Content[3]["resource"].(map[string]any)
		if inside["text"] != "inside" || r.Content[4]["uri"] != "file:///b" || r.Structured["n"] != 1.0 {
			t.Errorf("the resources are %v, the value %v", r.Content[3:], r.Structured)
		}
	})
}

// TestCrashInACall: the server is started again, and the call that was under way is not repeated by anybody: its outcome is
// unknown, unless it may be repeated.
func TestCrashInACall(t *testing.T) {
	t.Parallel()
	t.Attr("counts", "effects")
	for class, want := range map[utp.Class]utp.Code{
		utp.Irreversible: utp.CodeOutcomeUnknown, utp.Reversible: utp.CodeOutcomeUnknown, utp.Read: utp.CodeUpstreamUnavailable, utp.Idempotent: utp.CodeUpstreamUnavailable,
	} {
		s := stdio(t, "usual", "")
		got := s.call("crash", `{}`, class)
		wantError(t, got, want, "what it had done by then is not known")
		if got.err != nil && (got.err.IsUntouched() || got.err.Retryable != class.Repeatable()) {
			t.Errorf("%s: it says %+v", class, got.err)
		}
		s.hears("it ended: exit status 3, and its last words were: segmentation fault. It is started again")
		s.offered()
		if got := s.call("plain", `{}`, utp.Irreversible); got.err != nil {
			t.Errorf("the server that was started again: %v", got.err)
		}
		if n := s.count("crash"); n != 1 {
			t.Errorf("%s: it was called %d times", class, n)
		}
	}
}

// TestChanged: a tool that its server changes is another definition, is offered as such, and is not called any more as what it was.
func TestChanged(t *testing.T) {
	t.Parallel()
	t.Attr("counts", "effects")
	for _, mode := range []string{"usual", "silent"} { // one that tells of changes, and one that does not
		eachVersion(t, mode, func(t *testing.T, mode string) {
			s := stdio(t, mode, "")
			before, was := s.tool("plain"), s.digest("plain")
			if got := s.call("change", `{"word":"x"}`, utp.Read); got.err != nil {
				t.Fatal(got.err)
			}
			got := s.calls(t.Context(), before, `{}`, utp.Irreversible)
			wantError(t, got, utp.CodeChangedSinceReview, "earshot tools review scene.plain")
			if got.err != nil && !got.err.IsUntouched() || s.count("plain") != 0 {
				t.Errorf("%s: it was called all the same: %v", mode, s.marks())
			}
			s.offered()
			if now := s.digest("plain"); now == was {
				t.Errorf("%s: it is the same definition", mode)
			}
			if got := s.call("plain", `{}`, utp.Irreversible); got.err != nil || s.count("plain") != 1 {
				t.Errorf("%s: as it is now: %v, %v", mode, got.err, s.marks())
			}
			known := s.tool("plain") // a server that tells of changes may have it gone from the list at any moment
			if got := s.call("remove", `{}`, utp.Read); got.err != nil {
				t.Fatal(got.err)
			}
			wantError(t, s.calls(t.Context(), known, `{}`, utp.Irreversible), utp.CodeUnknownTool, "has no tool")
		})
	}
}

// TestCancel: the end of a call reaches the server, and is told as what is known of its effect.
func TestCancel(t *testing.T) {
	t.Parallel()
	eachVersion(t, "usual", func(t *testing.T, mode string) {
		for _, row := range []struct {
			class utp.Class
			cause error
			want  utp.Code
		}{
			{utp.Irreversible, tool.ErrStopped, utp.CodeStopped},
			{utp.Read, tool.ErrStopped, utp.CodeStopped},
			{utp.Irreversible, tool.ErrTimeout, utp.CodeOutcomeUnknown},
			{utp.Read, tool.ErrTimeout, utp.CodeToolTimeout},
		} {
			s := stdio(t, mode, "")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				s.awaits("slow")
				cancel(row.cause)
			}()
			wantError(t, s.calls(ctx, s.tool("slow"), `{}`, row.class), row.want, "cancelled at the MCP server scene")
			s.awaits("cancelled")
		}
	})
}

// TestTimeLimit: a call that takes longer than its limit is cancelled at the server.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	s := stdio(t, "usual", "    limits: {time: 300ms}\n")
	wantError(t, s.call("slow", `{}`, utp.Irreversible), utp.CodeOutcomeUnknown, "because it took too long")
	s.awaits("cancelled")
}

// TestQuestionForNobody: where nobody can be asked, a server's question is not answered; the result says what it was.
func TestQuestionForNobody(t *testing.T) {
	t.Parallel()
	eachVersion(t, "usual", func(t *testing.T, mode string) {
		s := stdio(t, mode, "")
		got := s.call("ask", `{}`, utp.Irreversible)
		if got.err != nil || !strings.Contains(got.text, "not done: cancel") || !slices.Equal(got.Unasked, []string{"Really do it?"}) {
			t.Errorf("it ended with %v, %s", got.err, got.text)
		}
	})
}

// TestStrangeTools: what cannot be had is left out and named, and the rest is there.
func TestStrangeTools(t *testing.T) {
	t.Parallel()
	s := stdio(t, "strange", "")
	for _, part := range []string{
		`the tool "twice" is left out: another one has that name`, `the tool "a/b" is left out`, `the tool "xxx`, `the tool "list" is left out: its input schema: it is not an object`,
		`the tool "text" is left out: its input schema: its type is string`, `the tool "far" is left out`, `the tool "wrong" is left out`,
	} {
		s.hears(part)
	}
	names := []string{}
	for name := range s.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"scene.old", "scene.open", "scene.with_space"}; !slices.Equal(names, want) {
		t.Errorf("the tools are %q, want %q", names, want)
	}
	if claims, _ := mcp.ClaimsOf(s.tool("with_space").Definition); claims.Tool != "with space" {
		t.Errorf("it is called %q by its server", claims.Tool)
	}
	compiled, err := schema.Compile(s.tool("open").Definition.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	for args, fits := range map[string]bool{
		`{"x":1}`: true, `{"a":{"x":1}}`: true, `{"c":{"x":1}}`: false, `{"c":{"d":1}}`: true, `{"a":1}`: false,
	} {
		var value any
		if err := json.Unmarshal([]byte(args), &value); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); (err == nil) != fits {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestMostTools: a server that has no end of tools is not listed for ever.
func TestMostTools(t *testing.T) {
	t.Parallel()
	s := stdio(t, "endless", "")
	s.hears("more than 200 tools")
	if n := len(s.tools); n != 200 {
		t.Errorf("it has %d tools", n)
	}
}

// TestBadServers: what a server does wrong is said, with no secret in it, and it does not hold anything up.
func TestBadServers(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"mute":    "it did not start: it had not answered in time",
		"broken":  "its last words were: no license key [secret token] found",
		"rubbish": "it did not start: ",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			placeholder := ownFolder(t)
			s := newScene(t, section(t, mode, placeholder, "    limits: {start: 2s}\n"))
			_, err := s.server.Inspect(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
				t.Errorf("it says %v", err)
			}
		})
	}
	t.Run("greeting", func(t *testing.T) {
		t.Parallel()
		s := stdio(t, "greeting", "")
		s.hears("what it writes to standard output is not all of the protocol")
		if got := s.call("plain", `{}`, utp.Irreversible); got.err != nil {
			t.Error(got.err)
		}
	})
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		s := stdio(t, "usual", "    limits: {message: 1MiB}\n")
		wantError(t, s.call("big", `{}`, utp.Irreversible), utp.CodeOutcomeUnknown, "")
		s.hears("it sent a message of more than 1048576 bytes")
		s.offered()
	})
	t.Run("not there", func(t *testing.T) {
		t.Parallel()
		placeholder := ownFolder(t)
		s := newScene(t, section(t, "broken", placeholder, ""))
		s.run()
		s.hears("It is started again")
	})
}

// TestProgramChanged: a program that changed since the file was read is not started again, and its tools are others when it is read again.
func TestProgramChanged(t *testing.T) {
	t.Parallel()
	dir := ownFolder(t)
	program := filepath.Join(dir, "server")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(program, raw, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := section(t, "usual", dir, "")
	text = strings.Replace(text, text[strings.Index(text, "[")+1:strings.Index(text, ",")], program, 1)
	look := func(s *scene) (string, error) {
		got, err := s.server.Inspect(t.Context())
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(got.Definitions, func(d utp.Definition) bool { return d.Tool == "scene.plain" })
		return got.Definitions[i].Digest()
	}
	s := newScene(t, text)
	before, err := look(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program+"2", append(raw, 0), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program+"2", program); err != nil {
		t.Fatal(err)
	}
	if _, err := look(s); err == nil || !strings.Contains(err.Error(), "changed since the file of tools was read") {
		t.Errorf("it was started: %v", err)
	}
	after, err := look(newScene(t, text))
	if err != nil || after == before {
		t.Errorf("the digest with another program is %s, was %s (%v)", after, before, err)
	}
}

// TestEnds: a server that does not end by itself is ended.
func TestEnds(t *testing.T) {
	t.Parallel()
	placeholder := ownFolder(t)
	s := newScene(t, section(t, "stubborn", placeholder, "    limits: {start: 200ms}\n"))
	began := time.Now()
	if _, err := s.server.Inspect(t.Context()); err == nil || time.Since(began) > 30*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

// TestLoadRefuses: what is wrong with a section is said with its place.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}":                              "there is no server",
		"{a.b: {url: https://x.example}}": `its name is "a.b"`,
		"{a: {}}":                         "it names no server, or two",
		"{a: {url: https://x.example, command: [/bin/ls]}}":                    "it names no server, or two",
		"{a: {command: [ls]}}":                                                 "the full path of a program first",
		"{a: {command: [/nowhere/ls]}}":                                        "there is no /nowhere",
		"{a: {command: [/bin/ls], headers: {X: y}}}":                           "a program takes no headers",
		"{a: {command: [/bin/ls], folder: x}}":                                 "the full path of a folder",
		"{a: {command: [/bin/ls], roots: [/, x]}}":                             "the full path of a folder",
		"{a: {command: [/bin/ls], roots: [/nowhere]}}":                         "the full path of a folder",
		"{a: {url: 'https://mcp.example.org', roots: [/]}}":                    "no folder, no roots and no environment",
		"{a: {command: [/bin/ls], environment: {A: '{t}'}}}":                   "there is no secret t",
		"{a: {command: [/bin/ls], limits: {time: 25h}}}":                       "over the limit",
		"{a: {url: 'http://mcp.example.org'}}":                                 "https; http only on this machine",
		"{a: {url: 'https://me:pw@mcp.example.org'}}":                          "a user name or a password",
		"{a: {url: 'https://mcp.example.org', folder: /}}":                     "no folder, no roots and no environment",
		"{a: {url: 'https://mcp.example.org', headers: {Host: x}}}":            "the protocol sets it itself",
		"{a: {url: 'https://mcp.example.org', headers: {Idempotency-Key: x}}}": "the protocol sets it itself",
		"{a: {url: 'https://mcp.example.org', header: {A: x}}}":                "did you mean",
	} {
		_, err := load("mcp: "+text+"\n", mcp.Options{})
		if err == nil {
			t.Errorf("%s was taken", text)
			continue
		}
		full := err.Error()
		if placeholder, is := err.(*settings.Error); is { //nolint:errorlint // it is promised
			full += " " + placeholder.Hint
		}
		if !strings.Contains(full, want) {
			t.Errorf("%s: %s; want %s", text, full, want)
		}
	}
}
