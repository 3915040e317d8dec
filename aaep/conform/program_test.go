package conform_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// aside is another program, here a goroutine, that judges as the reference does.
func aside(t *testing.T, r io.Reader, w io.Writer) {
	t.Helper()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var q struct {
			Kind     conform.Kind    `json:"kind"`
			Mode     conform.Mode    `json:"mode"`
			Options  json.RawMessage `json:"options"`
			Messages []struct {
				Text   *string `json:"text"`
				Base64 string  `json:"base64"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Errorf("asked %s: %v", lines.Bytes(), err)
			return
		}
		c := conform.Case{Kind: q.Kind, Mode: q.Mode}
		if err := json.Unmarshal(q.Options, &c.Options); err != nil {
			t.Errorf("the options %s: %v", q.Options, err)
		}
		for _, m := range q.Messages {
			raw, err := base64.StdEncoding.DecodeString(m.Base64)
			if m.Text != nil {
				raw = []byte(*m.Text)
			}
			if err != nil {
				t.Error(err)
			}
			c.Messages = append(c.Messages, raw)
		}
		found, err := conform.Reference(c)
		if err != nil {
			t.Errorf("%s: %v", lines.Bytes(), err)
		}
		findings := []map[string]any{}
		for i, each := range found {
			for _, f := range each {
				findings = append(findings, map[string]any{"message": i, "rule": f.Rule, "also": f.Also, "severity": f.Severity, "path": f.Path, "text": f.Message})
			}
		}
		line, err := json.Marshal(map[string]any{"findings": findings})
		if err != nil {
			t.Error(err)
		}
		if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
			t.Error(err)
		}
	}
}

// TestProgram: a judge behind two pipes is told all that it needs, and its findings count like those of the reference.
func TestProgram(t *testing.T) {
	t.Parallel()
	vectors, err := conform.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	asked, ask := io.Pipe()
	answers, answered := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		aside(t, asked, answered)
	}()
	tally, err := conform.JudgeAll(vectors, conform.Program(ask, answers), nil, func(j conform.Judgement) error {
		if !j.Passed {
			t.Errorf("%s: %s%s", j.ID, j.Problem, j.Unsupported)
		}
		return nil
	})
	if err != nil || tally.Passed != len(vectors) {
		t.Errorf("%+v, %v", tally, err)
	}
	if err := ask.Close(); err != nil {
		t.Error(err)
	}
	<-done
}

// TestProgramBroken: what is not an answer is told as such, and a judge that cannot be asked is not asked again.
func TestProgramBroken(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]error{
		`{"findings":[]}`: nil,
		`{}`:              nil,
		`{"findings":[{"message":1,"rule":"X-1","severity":"info"}]}`: nil, // at the end
		`{"unsupported":"not yet"}`:                                   conform.ErrUnsupported,
		``:                                                            conform.ErrProgram,
		`yes`:                                                         conform.ErrProgram,
		`{"findings":[{"message":2,"rule":"X-1","severity":"info"}]}`:  conform.ErrProgram,
		`{"findings":[{"message":-1,"rule":"X-1","severity":"info"}]}`: conform.ErrProgram,
		`{"findings":[{"rule":"X-1","severity":"bad"}]}`:               conform.ErrProgram,
		strings.Repeat(" ", 5<<20):                                     conform.ErrProgram,
	} {
		judge := conform.Program(io.Discard, strings.NewReader(answer+"\n"))
		c := conform.Case{ID: "X-1-one", Kind: conform.KindEvent, Mode: conform.ModeProducer, Messages: [][]byte{[]byte(`{}`)}}
		if _, err := judge(c); !errors.Is(err, want) {
			t.Errorf("%.60s: %v, want %v", answer, err, want)
		}
		if _, err := judge(c); !errors.Is(err, conform.ErrProgram) {
			t.Errorf("%.60s: asked again behind the end: %v", answer, err)
		}
	}
}

// TestProgramEnds: an end and an endless line are told apart.
func TestProgramEnds(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"": "it has ended without an answer to the vector X-1-one", strings.Repeat(" ", 5<<20): "is a line of more than 4194304 bytes"} {
		_, err := conform.Program(io.Discard, strings.NewReader(answer))(conform.Case{ID: "X-1-one", Kind: conform.KindEvent, Messages: [][]byte{[]byte(`{}`)}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "ended") != (answer == "") {
			t.Errorf("%.10q: %v, expected %q", answer, err, want)
		}
	}
}
