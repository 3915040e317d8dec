package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/utp"
)

// shown writes each argument on a line of its own, in brackets.
const shown = `for a in "$@"; do printf '[%s]\n' "$a"; done`

// TestArguments: what reaches the program is, byte for byte, what was given, whole and in
// its place; and no value becomes an option unless the template says so.
func TestArguments(t *testing.T) {
	t.Parallel()
	program := script(t, shown)
	plain := `["--", "{a}", "{b}"]`
	for _, tt := range []struct {
		name, argv, args string
		want             []string // nil is refused
	}{
		{"words", plain, `{"a":"x y","b":"z"}`, []string{"--", "x y", "z"}},
		{"absent", plain, `{"b":"z"}`, []string{"--", "z"}},
		{"null", plain, `{"a":null,"b":"z"}`, []string{"--", "z"}},
		{"empty", plain, `{"a":"","b":"z"}`, []string{"--", "", "z"}},
		{"substitution", plain, `{"a":"$(touch /tmp/x)","b":"` + "`id`" + `"}`, []string{"--", "$(touch /tmp/x)", "`id`"}},
		{"separators", plain, `{"a":"x; rm -rf /","b":"a && b | c > d"}`, []string{"--", "x; rm -rf /", "a && b | c > d"}},
		{"glob and variable", plain, `{"a":"/*","b":"$HOME ~ {a} %s"}`, []string{"--", "/*", "$HOME ~ {a} %s"}},
		{"quotes", plain, `{"a":"'\"\\","b":"x"}`, []string{"--", `'"\`, "x"}},
		{"newline", plain, `{"a":"x\ny","b":"\r\t"}`, []string{"--", "x\ny", "\r\t"}},
		{"NUL", plain, `{"a":"x\u0000y"}`, nil},
		{"dash behind --", plain, `{"a":"-rf","b":"--help"}`, []string{"--", "-rf", "--help"}},
		{"dash", `["{a}"]`, `{"a":"-rf"}`, nil},
		{"long dash", `["{a}"]`, `{"a":"--output=/etc/passwd"}`, nil},
		{"lone dash", `["{a}"]`, `{"a":"-"}`, nil},
		{"-- itself", `["{a}", "{b}"]`, `{"a":"--","b":"-x"}`, nil},
		{"dash before --", `["{a}", "--", "{b}"]`, `{"a":"-x","b":"y"}`, nil},
		{"dash where the template says so", `[{value: "{a}", dash: true}]`, `{"a":"-5"}`, []string{"-5"}},
		{"dash after a minus that is not a hyphen", `["{a}"]`, `{"a":"−x"}`, []string{"−x"}},
		{"option", `[{option: -n, value: "{a}"}, "{b}"]`, `{"a":"3","b":"f"}`, []string{"-n", "3", "f"}},
		{"option that is not given", `[{option: -n, value: "{a}"}, "{b}"]`, `{"b":"f"}`, []string{"f"}},
		{"option whose value is one", `[{option: -n, value: "{a}"}, "{b}"]`, `{"a":"-v","b":"f"}`, nil},
		{"joined", `[{option: --name, value: "{a}", join: true}]`, `{"a":"-x=y z"}`, []string{"--name=-x=y z"}},
		{"unknown", plain, `{"c":"x"}`, nil},
		{"object", plain, `{"a":{"x":1}}`, nil},
		{"reference to a secret", plain, `{"a":{"$secret":"env:X","mac":"00"}}`, nil},
		{"no object", plain, `["x"]`, nil},
		{"too long", plain, `{"a":"` + strings.Repeat("x", 128<<10) + `"}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := anything
			if !strings.Contains(tt.argv, "{b}") {
				args = `{type: object, properties: {a: {type: string}}}`
			}
			got := call(within(t), t, service(t, parts{program: program, argv: tt.argv, parameters: args, class: "irreversible"}, nil), tt.args)
			if tt.want == nil {
				if got.err == nil || got.err.Code != utp.CodeBadRequest || !got.err.IsUntouched() || got.OutputBytes != 0 {
					t.Errorf("it was run: %+v, %v", got.Result, got.err)
				}
				return
			}
			if want := "[" + strings.Join(tt.want, "]\n[") + "]\n"; got.text != want || got.err != nil {
				t.Errorf("the program got\n%q, want\n%q (%v)", got.text, want, got.err)
			}
		})
	}
}

// TestKinds: numbers keep the digits that were consented to, true is its option, a list
// is an argument for each item.
func TestKinds(t *testing.T) {
	t.Parallel()
	made := service(t, parts{
		program: script(t, shown),
		argv:    `[{option: --copies, value: "{n}"}, {option: --color, value: "{c}"}, {option: --tag, value: "{tags}"}, --, "{files}"]`,
		parameters: `{type: object, properties: {n: {type: integer}, c: {type: boolean}, tags: {type: array, items: {type: string}},` +
			` files: {type: array, items: {type: string}}}, required: [files]}`,
	}, nil)
	for _, tt := range []struct {
		args string
		want []string // nil is refused
	}{
		{`{"files":["a","-b","c d"],"n":3,"c":true,"tags":["x","y"]}`, []string{"--copies", "3", "--color", "--tag", "x", "--tag", "y", "--", "a", "-b", "c d"}},
		{`{"files":[],"c":false}`, []string{"--"}},
		{`{"files":["a"],"n":1.50e3}`, []string{"--copies", "1.50e3", "--", "a"}},
		{`{"files":["a"],"n":-1}`, nil},
		{`{"files":["a"],"tags":["-x"]}`, nil},
		{`{"files":["a",["b"]]}`, nil},
		{`{"files":["a"],"tags":[{}]}`, nil},
		{`{"files":["a"],"tags":"x\u0000"}`, nil},
	} {
		args, want := tt.args, tt.want
		got := call(within(t), t, made, args)
		if want == nil {
			if got.err == nil || got.err.Code != utp.CodeBadRequest {
				t.Errorf("%s gave %q, %v", args, got.text, got.err)
			}
			continue
		}
		if text := "[" + strings.Join(want, "]\n[") + "]\n"; got.text != text {
			t.Errorf("%s gave %q, want %q (%v)", args, got.text, text, got.err)
		}
	}
}

// FuzzArgument: whatever is given arrives as that one argument, or nothing is run.
func FuzzArgument(f *testing.F) {
	for _, seed := range []string{"x", "", "-rf", "--", "$(id)", "a\nb", "\x00", "\xff", "ü{a}", "'", `\`, "*"} {
		f.Add(seed)
	}
	path := f.TempDir() + "/program"
	if err := writeScript(path, `printf '%s' "$#:$1:$2"`); err != nil {
		f.Fatal(err)
	}
	s, err := load(parts{program: path, argv: `["{a}", end]`, parameters: `{type: object, properties: {a: {type: string}}, required: [a]}`}.file(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, value string) {
		args, err := json.Marshal(map[string]string{"a": value})
		if err != nil {
			return // it is not text
		}
		got := call(t.Context(), t, s.Tools()[0], string(args))
		refused := strings.HasPrefix(value, "-") || strings.Contains(value, "\x00") || len(value) >= 128<<10
		if refused != (got.err != nil) {
			t.Fatalf("%q: refused %v, but %v", value, refused, got.err)
		}
		if !refused && got.text != "2:"+value+":end" {
			t.Fatalf("%q arrived as %q", value, got.text)
		}
	})
}

// TestLoadRefuses: what is wrong with a section is said with its line.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	good := parts{program: script(t, "true"), argv: `["--", "{a}"]`, parameters: `{type: object, properties: {a: {type: string}}}`}
	if _, err := load(good.file(), nil); err != nil {
		t.Fatal(err)
	}
	open := script(t, "true")
	if err := chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	bin := ownFolder(t)
	named := func(name string) string {
		t.Helper()
		path := filepath.Join(bin, name)
		if err := writeScript(path, "true"); err != nil {
			t.Fatal(err)
		}
		return path
	}
	versioned, box, awk, env, ssh, xargs := named("python3.12"), named("busybox"), named("gawk"), named("env"), named("ssh"), named("xargs")
	linked, boxed := filepath.Join(bin, "runner"), filepath.Join(bin, "ls")
	if err := errors.Join(os.Symlink(versioned, linked), os.Symlink(box, boxed)); err != nil {
		t.Fatal(err)
	}
	with := func(change func(*parts)) string {
		p := good
		change(&p)
		return p.file()
	}
	for _, tt := range []struct{ name, file, want string }{
		{"no target", strings.Replace(good.file(), "target: desk", "target: de.sk", 1), "line 2: command.target"},
		{"misspelt", strings.Replace(good.file(), "description:", "descriptions:", 1), "line 5: command.operations[0].descriptions: unknown name"},
		{"twice", good.file() + "      class: read\n", "it is there twice"},
		{"anchor", strings.Replace(good.file(), "target: desk", "target: &x desk", 1), "anchor"},
		{"tag", strings.Replace(good.file(), "target: desk", "target: !!binary desk", 1), "tag"},
		{"class", with(func(p *parts) { p.class = "harmless" }), "line 6: command.operations[0].class"},
		{"risk", with(func(p *parts) { p.more = "risk: none" }), "operations[0].risk"},
		{"relative program", with(func(p *parts) { p.program = "ls" }), "line 7: command.operations[0].program"},
		{"program by dots", with(func(p *parts) { p.program = "/usr/bin/../bin/env" }), "operations[0].program"},
		{"no program", with(func(p *parts) { p.program = "/nowhere/ls" }), "operations[0].program"},
		{"a folder", with(func(p *parts) { p.program = "/usr" }), "operations[0].program"},
		{"program of everybody", with(func(p *parts) { p.program = open }), "everybody can change the program"},
		{"place within a word", with(func(p *parts) { p.argv = `["--file={a}"]` }), "line 8: command.operations[0].argv[0]"},
		{"unknown place", with(func(p *parts) { p.argv = `["{z}"]` }), "no property z"},
		{"unused property", with(func(p *parts) { p.argv = `[]` }), "no place takes it"},
		{"object", with(func(p *parts) { p.parameters = `{type: object, properties: {a: {type: object}}}` }), "is not a string"},
		{"true without option", with(func(p *parts) { p.parameters = `{type: object, properties: {a: {type: boolean}}}` }), "stands for true"},
		{"open schema", with(func(p *parts) {
			p.parameters = `{type: object, additionalProperties: true, properties: {a: {type: string}}}`
		}), "additional properties"},
		{"no schema", with(func(p *parts) { p.parameters = `{type: object, properties: {a: {type: strin}}}` }), "line 9: command.operations[0].parameters"},
		{"schema from elsewhere", with(func(p *parts) {
			p.parameters = `{type: object, properties: {a: {type: string, $ref: "file:///etc/passwd"}}}`
		}), "may not refer"},
		{"shell with a text", with(func(p *parts) { p.program, p.argv = "/bin/sh", `["-c", "{a}"]` }), "a shell would run"},
		{"shell with a script", with(func(p *parts) { p.program, p.argv = "/bin/sh", `["{a}"]` }), "a shell would run"},
		{"shell after an option", with(func(p *parts) { p.program, p.argv = "/bin/sh", `["-e", "--", "{a}"]` }), "a shell would run"},
		{"shell of a version", with(func(p *parts) { p.program, p.argv = versioned, `["-c", "{a}"]` }), "a shell would run"},
		{"shell in a box", with(func(p *parts) { p.program, p.argv = box, `["sh", "{a}"]` }), "operations[0].argv[1]: a shell would run"},
		{"shell that is named", with(func(p *parts) { p.program, p.argv = box, `["{a}"]` }), "a shell would run"},
		{"shell that reads", with(func(p *parts) { p.program, p.argv, p.more = "/bin/sh", `[]`, "stdin: '{a}'" }), "operations[0].stdin: a shell would run"},
		{"shell that reads with options", with(func(p *parts) { p.program, p.argv, p.more = "/bin/sh", `["-e", "--"]`, "stdin: '{a}'" }), "a shell would run"},
		{"shell that reads and has arguments", with(func(p *parts) { p.program, p.argv, p.more = "/bin/sh", `["-es", "x"]`, "stdin: '{a}'" }), "a shell would run"},
		{"interpreter that reads", with(func(p *parts) { p.program, p.argv, p.more = versioned, `["-", "x"]`, "stdin: '{a}'" }), "a shell would run"},
		{"box that reads", with(func(p *parts) { p.program, p.argv, p.more = box, `["sh"]`, "stdin: '{a}'" }), "a shell would run"},
		{"shell by another name", with(func(p *parts) { p.program, p.argv = linked, `["-c", "{a}"]` }), "a shell would run"},
		{"program of awk", with(func(p *parts) { p.program, p.argv = awk, `["{a}"]` }), "a shell would run"},
		{"program of awk in an option", with(func(p *parts) { p.program, p.argv = awk, `[{option: -f, value: "{a}"}]` }), "a shell would run"},
		{"shell behind env", with(func(p *parts) { p.program, p.argv = env, `[/bin/sh, -c, "{a}"]` }), "operations[0].argv[2]: a shell would run"},
		{"shell behind env, of its name", with(func(p *parts) { p.program, p.argv = env, `[sh, -c, "{a}"]` }), "operations[0].argv[2]: a shell would run"},
		{"shell behind env in one word", with(func(p *parts) { p.program, p.argv = env, `[-S, /bin/sh -c, "{a}"]` }), "operations[0].argv[2]: a shell would run"},
		{"program behind env", with(func(p *parts) { p.program, p.argv = env, `["{a}"]` }), "operations[0].argv[0]: it starts what"},
		{"program behind two", with(func(p *parts) { p.program, p.argv = env, `[`+env+`, "{a}"]` }), "operations[0].argv[1]: it starts what"},
		{"shell behind two", with(func(p *parts) { p.program, p.argv = env, `[-i, `+env+`, /bin/sh, -c, "{a}"]` }), "operations[0].argv[4]: a shell would run"},
		{"shell behind env that reads", with(func(p *parts) { p.program, p.argv, p.more = env, `[/bin/sh]`, "stdin: '{a}'" }), "operations[0].stdin: a shell would run"},
		{"shell of its name behind env that reads", with(func(p *parts) { p.program, p.argv, p.more = env, `[sh]`, "stdin: '{a}'" }), "operations[0].stdin: a shell would run"},
		{"shell of another machine", with(func(p *parts) { p.program, p.argv = ssh, `[host, /bin/ls, "{a}"]` }), "operations[0].argv[2]: ssh would hand"},
		{"arguments that are read", with(func(p *parts) { p.program, p.argv, p.more = xargs, `[/bin/rm]`, "stdin: '{a}'" }), "operations[0].stdin: xargs would hand"},
		{"unknown secret", with(func(p *parts) { p.more = "secrets: [{name: x, env: X}]" }), "no secret x"},
		{"secret without a place", with(func(p *parts) { p.section = "secrets: {x: {}}" }), "it names no place"},
		{"secret's value", with(func(p *parts) { p.section = "secrets: {x: hunter22}" }), "names and values"},
		{"descriptor", with(func(p *parts) { p.section, p.more = "secrets: {x: {env: X}}", "secrets: [{name: x, fd: 7}]" }), "3: descriptors follow"},
		{"time", with(func(p *parts) { p.more = "limits: {time: 30}" }), "a time such as 30s"},
		{"long grace", with(func(p *parts) { p.more = "limits: {grace: 1m}" }), "at most 4s"},
		{"size", with(func(p *parts) { p.more = "limits: {output: lots}" }), "a size such as"},
		{"output", with(func(p *parts) { p.more = "output: xml" }), "text or json"},
		{"exit", with(func(p *parts) { p.more = "exit: {1: {status: fine}}" }), "for a code from 0 to 255"},
		{"stdin", with(func(p *parts) { p.more = "stdin: '{z}'" }), "a place such as"},
		{"folder", with(func(p *parts) { p.more = "folder: '{a}'" }), "a place also needs within"},
		{"reserved", strings.Replace(good.file(), "tool: desk.do", "tool: submit_result", 1), "not reserved"},
		{"empty value", with(func(p *parts) { p.more = "folder:" }), "it is empty"},
	} {
		_, err := load(tt.file, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	for name, allowed := range map[string]string{
		"a place":            with(func(p *parts) { p.program, p.argv = "/bin/sh", `["-c", "echo \"$1\"", "sh", "{a}"]` }),
		"an input":           with(func(p *parts) { p.program, p.argv, p.more = "/bin/sh", `["-c", "cat"]`, "stdin: '{a}'" }),
		"an input to a file": with(func(p *parts) { p.program, p.argv, p.more = versioned, `["-I", "/srv/bin/read.py"]`, "stdin: '{a}'" }),
		"a program's awk":    with(func(p *parts) { p.program, p.argv, p.more = awk, `["{print $1}", "{a}"]`, "" }),
		"a program of env's": with(func(p *parts) { p.program, p.argv = env, `[-i, /bin/ls, --, "{a}"]` }),
		"a script of env's":  with(func(p *parts) { p.program, p.argv = env, `[/bin/sh, /srv/own.sh, "{a}"]` }),
		"a tool of the box":  with(func(p *parts) { p.program, p.argv = boxed, `["{a}"]` }),
		"no shell of a box":  with(func(p *parts) { p.program, p.argv, p.more = box, `["sort", "{a}"]`, "stdin: '{a}'" }),
		"a place in a box":   with(func(p *parts) { p.program, p.argv = box, `["sh", "/srv/bin/x", "{a}"]` }),
	} {
		if _, err := load(allowed, nil); err != nil {
			t.Errorf("a shell with a text of the operator's and %s: %v", name, err)
		}
	}
}

// TestDigest: another program under the same name is another tool.
func TestDigest(t *testing.T) {
	t.Parallel()
	program := script(t, "true")
	base := parts{program: program, argv: `["--", "{a}"]`, parameters: `{type: object, properties: {a: {type: string}}}`}
	digest := func(p parts) string {
		t.Helper()
		d, err := service(t, p, nil).Definition.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	rewritten := script(t, "true")
	before := digest(parts{program: rewritten, argv: base.argv, parameters: base.parameters})
	if err := writeScript(rewritten, "false"); err != nil {
		t.Fatal(err)
	}
	if digest(parts{program: rewritten, argv: base.argv, parameters: base.parameters}) == before {
		t.Error("a program of other content has the same digest")
	}
	seen := []string{digest(base)}
	if again := digest(base); again != seen[0] {
		t.Error("the same section has two digests")
	}
	for name, change := range map[string]func(*parts){
		"program":     func(p *parts) { p.program = script(t, "false") },
		"arguments":   func(p *parts) { p.argv = `["-r", "--", "{a}"]` },
		"dash":        func(p *parts) { p.argv = `["--", {value: "{a}", dash: true}]` },
		"folder":      func(p *parts) { p.more = "folder: /tmp" },
		"environment": func(p *parts) { p.more = "environment: {A: b}" },
		"inherited":   func(p *parts) { p.more = "inherit: [HOME]" },
		"shared":      func(p *parts) { p.section = "environment: {A: b}" },
		"exit":        func(p *parts) { p.more = "exit: {1: {status: success}}" },
		"class":       func(p *parts) { p.class = "reversible" },
	} {
		p := base
		change(&p)
		d := digest(p)
		if slices.Contains(seen, d) {
			t.Errorf("%s: the digest is one that was there before", name)
		}
		seen = append(seen, d)
	}
}
