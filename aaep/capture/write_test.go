package capture_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep/capture"
)

// TestWrite: a message is one line, as it came where that is one line already, and what is written can be read.
func TestWrite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ raw, want string }{
		"as it came":              {`{"b": 1,  "a":"x"}`, `{"b": 1,  "a":"x"}`},
		"line ends between":       {"{\n  \"a\": 1\r\n}", `{"a":1}`},
		"a name twice stays":      {"{\"a\":1,\n\"a\":2}", `{"a":1,"a":2}`},
		"numbers stay":            {"{\"a\":\n1.50}", `{"a":1.50}`},
		"broken, on several":      {"{\"a\":\n", `{"a":`},
		"broken, nothing is lost": {"nonsense\nand more", "nonsense and more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := capture.Write(&out, []byte(tt.raw)); err != nil || out.String() != tt.want+"\n" {
				t.Errorf("wrote %q, %v; want %q", &out, err, tt.want)
			}
		})
	}
	var out bytes.Buffer
	for _, raw := range []string{"{\"a\":\n1}", `{"b":2}`} {
		if err := capture.Write(&out, []byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	r := capture.NewReader(&out, capture.Options{})
	for _, want := range []string{`{"a":1}`, `{"b":2}`} {
		if m, err := r.Next(); err != nil || string(m.Raw) != want {
			t.Errorf("read %q, %v; want %q", m.Raw, err, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last: %v", err)
	}
	if err := capture.Write(failing{}, []byte(strings.Repeat("1", 9))); err == nil {
		t.Error("a failure to write is not told")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
