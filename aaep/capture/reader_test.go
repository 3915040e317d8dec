package capture_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/earshot-dev/earshot/aaep/capture"
)

// told reads a whole file and writes each message as "line:column@offset raw" with the
// reason of a broken one behind it.
func told(t *testing.T, in io.Reader, limit int) []string {
	t.Helper()
	r := capture.NewReader(in, capture.Options{Limit: limit})
	var all []string
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d:%d@%d %s", m.Line, m.Column, m.Offset, m.Raw)
		if m.Err != nil {
			line += fmt.Sprintf(" | %d:%d@%d %s", m.Err.Line, m.Err.Column, m.Err.Offset, m.Err.Reason)
		}
		all = append(all, line)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	const (
		noQuote = "the line ends within a text, expected its closing quote"
		noComma = "found '{', expected a comma or what closes the message"
		noClose = "the file ends within the message, expected what closes it"
	)
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"nothing":                      {"", nil},
		"white space alone":            {" \r\n\t\n", nil},
		"a line each":                  {"{\"a\":1}\n{\"a\":2}\n", []string{`1:1@0 {"a":1}`, `2:1@8 {"a":2}`}},
		"lines that end with CR LF":    {"{\"a\":1}\r\n{\"a\":2}\r\n", []string{`1:1@0 {"a":1}`, `2:1@9 {"a":2}`}},
		"no line end at the end":       {`{"a":1}`, []string{`1:1@0 {"a":1}`}},
		"on one line":                  {`{"a":1} {"b":2}{"c":3}`, []string{`1:1@0 {"a":1}`, `1:9@8 {"b":2}`, `1:16@15 {"c":3}`}},
		"over several lines":           {"{\n \"a\": [1,\n 2]\n}\n{}", []string{"1:1@0 {\n \"a\": [1,\n 2]\n}", "5:1@18 {}"}},
		"brackets and quotes in texts": {`{"a":"}\"]{"} {"b":"\\"}`, []string{`1:1@0 {"a":"}\"]{"}`, `1:15@14 {"b":"\\"}`}},
		"an array":                     {`[{"a":1}, {"b":[2]},3]`, []string{`1:2@1 {"a":1}`, `1:11@10 {"b":[2]}`, `1:21@20 3`}},
		"an array over lines":          {"[\n  {\"a\":1},\n  {\"b\":2}\n]\n{\"c\":3}", []string{`2:3@4 {"a":1}`, `3:3@15 {"b":2}`, `5:1@25 {"c":3}`}},
		"an empty array":               {"[]\n{}", []string{`2:1@3 {}`}},
		"an array of mixed values":     {`[1,"x",null,[{}],{}]`, []string{`1:2@1 1`, `1:4@3 "x"`, `1:8@7 null`, `1:13@12 [{}]`, `1:18@17 {}`}},
		"no comma":                     {`[{} {}]`, []string{`1:2@1 {}`, `1:5@4 {} | 1:5@4 found the next item of the array, expected a comma before it`}},
		"an array that is not closed":  {"[{},\n", []string{`1:2@1 {}`, `2:1@5  | 2:1@5 the file ends within an array, expected ] at its end`}},
		"an array that is closed only": {"]\n{}", []string{`1:1@0 ]`, `2:1@2 {}`}},
		"words":                        {"42 nope true\n\"text\"", []string{`1:1@0 42`, `1:4@3 nope`, `1:9@8 true`, `2:1@13 "text"`}},
		"a word before an object":      {`data:{"a":1}`, []string{`1:1@0 data:`, `1:6@5 {"a":1}`}},
		"a byte order mark":            {"\xef\xbb\xbf{}\n{}", []string{"1:4@3 \xef\xbb\xbf{}", "2:1@6 {}"}},
		"half a byte order mark":       {"\xef\xbb{}", []string{"1:1@0 \xef\xbb", "1:3@2 {}"}},

		"cut off in a text":            {"{\"a\":\"b\n{\"c\":1}\n", []string{`1:1@0 {"a":"b | 1:8@7 ` + noQuote, `2:1@8 {"c":1}`}},
		"cut off behind an escape":     {"{\"a\":\"b\\\n{\"c\":1}\n", []string{"1:1@0 {\"a\":\"b\\ | 1:9@8 " + noQuote, `2:1@9 {"c":1}`}},
		"cut off behind a value":       {"{\"a\":{\"b\":1}\n{\"c\":1}\n", []string{"1:1@0 {\"a\":{\"b\":1}\n | 2:1@13 " + noComma, `2:1@13 {"c":1}`}},
		"cut off at the end":           {"{}\n{\"a\":[", []string{`1:1@0 {}`, `2:1@3 {"a":[ | 2:7@9 ` + noClose}},
		"cut off in an array of lines": {"[\n {\"a\":\"b\n },\n {\"c\":1}\n]\n{}", []string{"2:2@3 {\"a\":\"b | 2:9@10 " + noQuote, `4:2@16 {"c":1}`, "6:1@26 {}"}},
		"cut off as the last item":     {"[\n {\"a\":\"b\n]\n{}", []string{"2:2@3 {\"a\":\"b | 2:9@10 " + noQuote, "4:1@13 {}"}},
		"brackets of the wrong kind":   {"{\"a\":]\n{}", []string{`1:1@0 {"a":]`, `2:1@7 {}`}},
		"text that never ends":         {`"abc`, []string{`1:1@0 "abc | 1:5@4 the file ends within a text, expected its closing quote`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for way, in := range map[string]io.Reader{"at once": strings.NewReader(c.file), "byte by byte": iotest.OneByteReader(strings.NewReader(c.file))} {
				if got := told(t, in, 0); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
					t.Errorf("%s: found\n%q\nexpected\n%q", way, got, c.want)
				}
			}
		})
	}
}

// TestLongMessage: one over the limit is passed over with its first bytes, and the next
// one is whole.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	long := `{"a":"` + strings.Repeat("x", 3<<20) + `"}`
	got := told(t, strings.NewReader("{}\n"+long+"\n{\"b\":1}"), 1<<20)
	want := []string{
		`1:1@0 {}`,
		`2:1@3 ` + long[:4<<10] + ` | 2:1@3 found a message of more than 1048576 bytes, which is the limit`,
		fmt.Sprintf(`3:1@%d {"b":1}`, 4+len(long)),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found %.300q", got)
	}
	if got := told(t, strings.NewReader(strings.Repeat("x", 20)+" 1"), 10); len(got) != 2 || !strings.Contains(got[0], "more than 10 bytes") {
		t.Errorf("a long word: %q", got)
	}
}

// TestManyMessages: messages on each side of where the window moves are whole.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&file, "{\"n\":%d,\"pad\":%q}\n", i, strings.Repeat("p", i%997))
	}
	r := capture.NewReader(&file, capture.Options{})
	for i := range n {
		m, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("{\"n\":%d,\"pad\":%q}", i, strings.Repeat("p", i%997)); string(m.Raw) != want || m.Line != i+1 {
			t.Fatalf("message %d at line %d: %s", i, m.Line, m.Raw)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestReadingFails: what was read before is handed out, then the error, again and again.
func TestReadingFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	r := capture.NewReader(io.MultiReader(strings.NewReader("{} {\"a\""), iotest.ErrReader(broken)), capture.Options{})
	if m, err := r.Next(); err != nil || string(m.Raw) != "{}" {
		t.Fatal(m, err)
	}
	for range 2 {
		if _, err := r.Next(); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

// FuzzReader: no input makes it panic or loop, each byte that is not a space is in at most
// one message, and what is handed out stands where it says.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"{\"a\":1}\n{\"b\":\"}\"}", "[{},\n {\"a\":\"b\n {}]", "\xef\xbb\xbf[1,2", "{{", "]]", "{\"a\":{}{", "\"\\"} {
		f.Add([]byte(seed))
	}
	mark := []byte("\xef\xbb\xbf")
	f.Fuzz(func(t *testing.T, file []byte) {
		r := capture.NewReader(bytes.NewReader(file), capture.Options{Limit: 64})
		for end := int64(0); ; {
			m, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Offset < end {
				t.Fatalf("a message begins at %d, within the one before, which ends at %d", m.Offset, end)
			}
			raw := m.Raw
			if bytes.HasPrefix(file, mark) && end == 0 {
				raw = bytes.TrimPrefix(raw, mark)
			}
			if !bytes.HasPrefix(file[m.Offset:], raw) {
				t.Fatalf("%q does not stand at %d", raw, m.Offset)
			}
			end = m.Offset + int64(len(raw))
			if m.Err == nil && len(raw) == 0 {
				t.Fatal("an empty message without an error")
			}
		}
	})
}
