package hostfile_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/hostfile"
)

var update = flag.Bool("update", false, "write the golden files in testdata again")

// TestEdit: what is written into the files of each host, compared with files that were looked at: testdata/HOST/CASE.in becomes CASE.out.
// Writing it again changes nothing, and taking it out gives back what was there.
func TestEdit(t *testing.T) {
	t.Parallel()
	for _, host := range hostfile.Hosts() {
		cases, err := filepath.Glob(filepath.Join("testdata", host.Name, "*.in"))
		if err != nil || len(cases) < 5 {
			t.Fatalf("found the cases %v for %s (%v), expected at least five", cases, host.Name, err)
		}
		for _, in := range cases {
			name := strings.TrimSuffix(filepath.Base(in), ".in")
			t.Run(host.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				before := read(t, in)
				f, err := hostfile.Read(host, []byte(before))
				if err != nil {
					t.Fatal(err)
				}
				had, section := f.Entry(hostfile.EntryName) != nil, f.HasSection()
				entry := host.Entry("/usr/bin/earshot", "mcp", "serve")
				set(t, f, entry)
				golden(t, strings.TrimSuffix(in, ".in")+".out", string(f.Text()))
				again, err := hostfile.Read(host, f.Text())
				if err != nil || !again.Has(hostfile.EntryName, entry) {
					t.Fatalf("the entry is not there: %v", err)
				}
				if again.Changed() {
					t.Error("reading it changed it")
				}
				if err := again.Remove(hostfile.EntryName); err != nil {
					t.Fatal(err)
				}
				if !section {
					if err := again.RemoveSection(); err != nil {
						t.Fatal(err)
					}
				}
				if left := string(again.Text()); !had && !alike(left, before) {
					t.Errorf("without it again:\n%q\nbefore:\n%q", left, before)
				}
			})
		}
	}
}

// alike compares what is left with what there was. Of nothing, an empty object or table may be left, and a last line is ended.
func alike(left, before string) bool {
	end := func(text string) string {
		text = strings.ReplaceAll(text, ": {}", ":") // an empty table of YAML
		if text == "" || strings.HasSuffix(text, "\n") {
			return text
		}
		return text + "\n"
	}
	return end(left) == end(before) || strings.TrimSpace(before) == "" && strings.Trim(left, "{}\r\n") == ""
}

func set(t *testing.T, f *hostfile.File, entry hostfile.Object) {
	t.Helper()
	if err := f.Set(hostfile.EntryName, entry); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != want {
		t.Errorf("%s is not what came out:\n%s", path, got)
	}
}

// TestBroken: a file that its host could not read is not edited, and the error says where it is broken.
func TestBroken(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		host, text, want string
		line             int
	}{
		{"claude", "{\n  \"mcpServers\": {\n", "unexpected EOF", 3},
		{"claude", "{\"a\": 1,\n \"b\": x}", "invalid", 2},
		{"claude", `{"a": 1, "a": 2}`, "twice", 0},
		{"claude", "{\n  // mine\n  \"a\": 1\n}", "a comment, or a comma", 2},
		{"claude", "{\n  \"a\": [1],\n}", "a comment, or a comma", 3},
		{"gemini", "{\n  // mine\n  \"a\": [\n1,]\n}", "a comma behind the last value", 4},
		{"claude", `[]`, "not of the kind", 0},
		{"claude", `{"mcpServers": []}`, "mcpServers is not a table of entries", 0},
		{"codex", "a = 1\nb = = 2\n", "", 2},
		{"codex", "a = 1\na = 2\n", "", 2},
		{"codex", "mcp_servers = 1\n", "mcp_servers is not a table of entries", 0},
		{"goose", "a: 1\n  b: 2\n", "mapping values are not allowed", 2},
		{"goose", "a: 1\n---\nb: 1\n", "more than one document", 0},
		{"goose", "- a\n", "", 1},
	} {
		host, _ := hostfile.HostOf(row.host)
		_, err := hostfile.Read(host, []byte(row.text))
		broken, is := errors.AsType[*hostfile.BrokenError](err)
		if !is || !strings.Contains(broken.Reason, row.want) || broken.Line != row.line {
			t.Errorf("%s, %q: %v, expected line %d and %q", row.host, row.text, err, row.line, row.want)
		}
	}
}

// TestByHand: what is written in a form that is not edited is left as it is.
func TestByHand(t *testing.T) {
	t.Parallel()
	for host, text := range map[string]string{
		"codex": "mcp_servers = { earshot = { command = \"x\" } }\n",
		"goose": "extensions: {earshot: {cmd: x}}\n",
	} {
		host, _ := hostfile.HostOf(host)
		f, err := hostfile.Read(host, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{f.Set(hostfile.EntryName, host.Entry("/x")), f.Remove(hostfile.EntryName)} {
			if _, is := errors.AsType[*hostfile.HandError](err); !is || f.Changed() {
				t.Errorf("%s: found %v, expected it to be left to the user", host.Name, err)
			}
		}
	}
}

// TestOnlyTheEntry: an edit that would change anything else is refused. Here what looks like a comment is the end of a text, before which
// the entry would come to stand.
func TestOnlyTheEntry(t *testing.T) {
	t.Parallel()
	goose, _ := hostfile.HostOf("goose")
	f, err := hostfile.Read(goose, []byte("extensions:\n  files:\n    note: |\n      one\n      # two\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, is := errors.AsType[*hostfile.HandError](f.Set(hostfile.EntryName, goose.Entry("/x"))); !is || f.Changed() {
		t.Errorf("it came out as\n%s", f.Text())
	}
}

// FuzzEdit: whatever a file is like, an edit of it loses nothing but blanks: its text is still there around the entry, and is what is
// left once the entry is gone.
func FuzzEdit(f *testing.F) {
	hosts := hostfile.Hosts()
	for i, host := range hosts {
		cases, _ := filepath.Glob(filepath.Join("testdata", host.Name, "*.in"))
		for _, path := range cases {
			raw, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), raw)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		host := hosts[int(which)%len(hosts)]
		file, err := hostfile.Read(host, text)
		if err != nil {
			return
		}
		if _, there := strings.CutPrefix(strings.Join(file.Names(), " ")+" ", hostfile.EntryName+" "); there || strings.Contains(strings.Join(file.Names(), " "), hostfile.EntryName) {
			_ = file.Remove(hostfile.EntryName)
			if !within(string(file.Text()), string(text)) {
				t.Errorf("taking it out of\n%q\nleft\n%q", text, file.Text())
			}
			return
		}
		section := file.HasSection()
		if file.Set(hostfile.EntryName, host.Entry("/usr/bin/earshot", "mcp", "serve")) != nil {
			if file.Changed() {
				t.Errorf("it was refused, and is\n%q", file.Text())
			}
			return
		}
		if !within(string(text), string(file.Text())) {
			t.Errorf("an entry in\n%q\nmade it\n%q", text, file.Text())
		}
		if err := file.Remove(hostfile.EntryName); err != nil {
			t.Fatalf("%v of\n%q", err, file.Text())
		}
		if !section {
			if err := file.RemoveSection(); err != nil {
				t.Fatalf("%v of\n%q", err, file.Text())
			}
		}
		if !alike(dense(string(file.Text())), dense(string(text))) {
			t.Errorf("without the entry\n%q\nis\n%q", text, file.Text())
		}
	})
}

// dense is a text without blanks, and without how an empty table is written.
func dense(text string) string {
	text = strings.Join(strings.Fields(text), "")
	for _, nothing := range []string{"{}", "null", "Null", "NULL", "~"} {
		text = strings.ReplaceAll(text, nothing, "")
	}
	return text
}

// within reports whether a text is in another, with what was added in between.
func within(text, all string) bool {
	text, all = dense(text), dense(all)
	for i := range len(text) {
		at := strings.IndexByte(all, text[i])
		if at < 0 {
			return false
		}
		all = all[at+1:]
	}
	return true
}
