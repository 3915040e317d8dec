package terminal

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestInputLines(t *testing.T) {
	t.Parallel()

	for text, want := range map[string][]string{
		"": nil, "a": {"a"}, "a\n": {"a"}, "a\r\n\nb\n": {"a", "", "b"}, strings.Repeat("x", 9000) + "\ny": {strings.Repeat("x", maxLine), "y"},
	} {
		i := newInput(strings.NewReader(text), nil, false)

		var got []string
		for line := range i.lines {
			got = append(got, line.text)
		}

		i.stop()

		if !slices.Equal(got, want) {
			t.Errorf("%.20q gives %.40q, want %.40q", text, got, want)
		}
	}
}

// TestFlushReachesWhatWasRead shows that a line which was read before a flush, but
// not yet obeyed, is known to be older than it.
func TestFlushReachesWhatWasRead(t *testing.T) {
	t.Parallel()

	in, typed := io.Pipe()
	emptied := 0
	i := newInput(in, func() { emptied++ }, false)

	line := func(text string) typedLine {
		if _, err := io.WriteString(typed, text); err != nil {
			t.Error(err)
		}

		return <-i.lines
	}

	old := line("accept\n")
	if !i.current(old) {
		t.Error("a line is older than a flush that has not happened")
	}

	i.flush()

	if i.current(old) || emptied != 1 {
		t.Errorf("a line that was read before the flush counts; emptied %d times", emptied)
	}

	if later := line("reject\n"); !i.current(later) || later.text != "reject" {
		t.Errorf("a line that was typed after the flush does not count: %+v", later)
	}

	if err := typed.Close(); err != nil {
		t.Error(err)
	}

	i.stop()
	<-i.done
}

// TestFlushDropsABegunLine shows that no line is put together from before and after.
func TestFlushDropsABegunLine(t *testing.T) {
	t.Parallel()

	var a assembly

	lines := slices.Concat(a.add([]byte("acc"), 0), a.add([]byte("ept\nre"), 1), a.add([]byte("ject\n"), 1))
	if !slices.Equal(lines, []string{"ept", "reject"}) {
		t.Errorf("%q", lines)
	}
}

// TestPipeIsNeverFlushed shows that a pipe's lines stay.
func TestPipeIsNeverFlushed(t *testing.T) {
	t.Parallel()

	i := newInput(strings.NewReader("accept\n"), nil, false)
	line := <-i.lines

	i.flush()

	if !i.current(line) {
		t.Error("a flush took a line from a pipe")
	}

	i.stop()
	<-i.done
}
