package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport/sse"
)

// heardFrames reads a whole stream and formats each event as "name|id|data".
func heardFrames(in io.Reader) (all []string, s *sse.Reader, err error) {
	s = sse.NewReader(in, "")

	for {
		f, err := s.Next(func() {})
		if err != nil {
			return all, s, err
		}

		all = append(all, fmt.Sprintf("%s|%s|%s", f.Name, f.ID, f.Data))
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		stream string
		want   []string
	}{
		"nothing":                   {"", nil},
		"one":                       {"event: aaep.event\nid: evt_1\ndata: {}\n\n", []string{"aaep.event|evt_1|{}"}},
		"without spaces":            {"event:e\nid:1\ndata:{}\n\n", []string{"e|1|{}"}},
		"CR LF":                     {"id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"|1|a", "|1|b"}},
		"CR":                        {"id: 1\rdata: a\r\rdata: b\r\r", []string{"|1|a", "|1|b"}},
		"several data lines":        {"data: a\ndata\ndata:  b\n\n", []string{"||a\n\n b"}},
		"a byte order mark":         {"\xef\xbb\xbfdata: a\n\n", []string{"||a"}},
		"comments":                  {": hello\n\ndata: a\n: in between\n\n", []string{"||a"}},
		"an id alone counts":        {"id: 7\n\ndata: a\n\n", []string{"|7|a"}},
		"an id can be taken back":   {"id: 7\ndata: a\n\nid\ndata: b\n\n", []string{"|7|a", "||b"}},
		"an id with NUL":            {"id: 7\ndata: a\n\nid: a\x00b\ndata: b\n\n", []string{"|7|a", "|7|b"}},
		"a name without data":       {"event: x\n\ndata: a\n\n", []string{"||a"}},
		"an end within an event":    {"data: a\n\ndata: b\n", []string{"||a"}},
		"fields that are not known": {"color: red\ndata: a\n\n", []string{"||a"}},
		"empty data":                {"data\n\n", []string{"||"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for way, in := range map[string]io.Reader{"at once": strings.NewReader(row.stream), "byte by byte": iotest.OneByteReader(strings.NewReader(row.stream))} {
				got, _, err := heardFrames(in)
				if !errors.Is(err, io.EOF) || strings.Join(got, "\x01") != strings.Join(row.want, "\x01") {
					t.Errorf("%s: found %q, %v; expected %q", way, got, err, row.want)
				}
			}
		})
	}
}

func TestFramesPause(t *testing.T) {
	t.Parallel()

	_, s, _ := heardFrames(strings.NewReader("retry: 1500\n\nretry: soon\n\nretry: -1\n\n"))
	if s.Pause() != 1500*time.Millisecond {
		t.Errorf("found %v", s.Pause())
	}
}

func TestFramesBounds(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", sse.MaxLine)
	if _, _, err := heardFrames(strings.NewReader("data: " + long + "\n\n")); !errors.Is(err, sse.ErrLongLine) {
		t.Errorf("a long line: %v", err)
	}

	line := "data: " + long[:sse.MaxLine-100] + "\n"
	if _, _, err := heardFrames(strings.NewReader(line + line + line + "\n")); !errors.Is(err, sse.ErrLongFrame) {
		t.Errorf("a long event: %v", err)
	}
}

// FuzzFrames: no stream makes it panic, and reading byte by byte gives the same.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"event: e\nid: 1\ndata: {}\n\n", "data: a\r\rdata: b\r\n\r\n", "\xef\xbb\xbfretry: 5\n:\n\n"} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, _, _ := heardFrames(bytes.NewReader(stream))
		slow, _, _ := heardFrames(iotest.OneByteReader(bytes.NewReader(stream)))

		if strings.Join(whole, "\x01") != strings.Join(slow, "\x01") {
			t.Errorf("at once %q, byte by byte %q", whole, slow)
		}
	})
}
