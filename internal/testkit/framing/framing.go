// Package framing is the table of tests that every transport of AAEP passes: whatever the bytes of messages are cut into on their way,
// the messages are the same at the other end, and what is not a message is refused with the code that the transport has for it.
package framing

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// Producer is the producer behind the transport. Its waits end with the test.
type Producer struct {
	// Emit sends an event that contains the text, and returns its bytes.
	Emit func(text string) []byte
	// Replies waits until that many replies have come, and returns all that have.
	Replies func(n int) []string
	// Streams waits until that many subscribers are connected.
	Streams func(n int)
}

// Subscriber is one end of a connection, as raw bytes. Its methods fail the test.
type Subscriber interface {
	// Reply returns a valid reply of this subscriber that contains the text.
	Reply(text string) []byte
	// Frame returns the bytes that carry a message.
	Frame(message []byte) []byte
	// Fragments returns the same in several fragments, with what else the transport may have between them.
	Fragments(message []byte) []byte
	// Claim returns the first bytes of a message that claims to be a tebibyte: those in which it says so, and size more.
	Claim(size int) []byte
	// Write writes bytes to the connection, in one write.
	Write(raw []byte)
	// Next returns the next event.
	Next() []byte
	// Point returns what Dial takes to go on behind the last event.
	Point() string
	// Refused returns the code with which the last message was refused.
	Refused() int
	// Cut breaks the connection off, without a word.
	Cut()
}

// Transport is the transport under test.
type Transport struct {
	// New starts a producer. It ends with the test.
	New func(t *testing.T) Producer
	// Dial connects a subscriber to the last producer, behind a point; "" is from now on.
	Dial func(t *testing.T, after string) Subscriber
	// Limit is the largest message of a subscriber, in bytes.
	Limit int
	// TooBig and NotUTF8 are the codes for a message that is larger, and for text that is not UTF-8.
	TooBig, NotUTF8 int
}

// Run runs the table.
func Run(t *testing.T, over func() Transport) {
	t.Helper()
	for name, row := range map[string]func(t *testing.T, over Transport){
		"one byte at a time":                  byteByByte,
		"two messages in one write":           together,
		"fragments with a ping between":       fragments,
		"a message of the largest size":       largest,
		"an event of 200 KiB":                 func(t *testing.T, over Transport) { t.Helper(); large(t, over, 200<<10) },
		"an event of 1 MiB":                   func(t *testing.T, over Transport) { t.Helper(); large(t, over, 1<<20) },
		"a message that is too big":           tooBig,
		"a message that claims a TiB":         claimed,
		"text that is not UTF-8":              notUTF8,
		"a connection that breaks off":        cut,
		"going on after it has broken":        resumed,
		"events in the order of their making": ordered,
		"a reply while events are not read":   unread,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row(t, over())
		})
	}
}

// connect returns a producer with one subscriber.
func connect(t *testing.T, over Transport) (Producer, Subscriber) {
	t.Helper()
	p := over.New(t)
	s := over.Dial(t, "")
	p.Streams(1)
	return p, s
}

func byteByByte(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	for _, b := range s.Frame(s.Reply("slow")) {
		s.Write([]byte{b})
	}
	arrived(t, p, "slow")
}

func together(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	s.Write(append(s.Frame(s.Reply("one")), s.Frame(s.Reply("two"))...))
	arrived(t, p, "one", "two")
}

func fragments(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	s.Write(s.Fragments(s.Reply("déjà vu, in pieces")))
	arrived(t, p, "déjà vu, in pieces")
}

func largest(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	text := strings.Repeat("x", over.Limit-len(s.Reply("")))
	s.Write(s.Frame(s.Reply(text)))
	arrived(t, p, text)
}

// arrived checks that exactly these replies have come, in order.
func arrived(t *testing.T, p Producer, texts ...string) {
	t.Helper()
	got := p.Replies(len(texts))
	if len(got) != len(texts) {
		t.Fatalf("found %d replies, expected %d", len(got), len(texts))
	}
	for i, text := range texts {
		if !strings.Contains(got[i], text) {
			t.Errorf("reply %d is %.200q, expected one with %.100q", i+1, got[i], text)
		}
	}
}

func large(t *testing.T, over Transport, size int) {
	t.Helper()
	p, s := connect(t, over)
	want := p.Emit(strings.Repeat("ä", size/2))
	if got := s.Next(); !bytes.Equal(got, want) {
		t.Errorf("found %d bytes, expected the same %d", len(got), len(want))
	}
	want = p.Emit("and on")
	if got := s.Next(); !bytes.Equal(got, want) {
		t.Errorf("after it came %.200q, expected %q", got, want)
	}
}

func ordered(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	for i := range 100 {
		want := p.Emit(strconv.Itoa(i))
		if got := s.Next(); !bytes.Equal(got, want) {
			t.Fatalf("event %d is %.200q, expected %q", i, got, want)
		}
	}
}

// unread: what is being written, and is not read, keeps no reply from being read, nor what the transport has between its fragments.
func unread(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	const events = 24 // of 1 MiB: more than a system keeps for a connection
	want := make([][]byte, events)
	for i := range want {
		want[i] = p.Emit(strings.Repeat("x", 1<<20))
	}
	s.Write(s.Fragments(s.Reply("meanwhile")))
	arrived(t, p, "meanwhile")
	for i, event := range want {
		if got := s.Next(); !bytes.Equal(got, event) {
			t.Fatalf("event %d has %d bytes, expected %d others", i, len(got), len(event))
		}
	}
}

func tooBig(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	s.Write(s.Frame(s.Reply(strings.Repeat("x", over.Limit+1-len(s.Reply(""))))))
	refused(t, p, s, over.TooBig)
}

func claimed(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	s.Write(s.Claim(over.Limit + 1))
	refused(t, p, s, over.TooBig)
}

func notUTF8(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	s.Write(s.Frame(s.Reply("caf\xe9")))
	refused(t, p, s, over.NotUTF8)
}

// refused checks the code of a refusal, and that nothing has come of the message.
func refused(t *testing.T, p Producer, s Subscriber, want int) {
	t.Helper()
	if got := s.Refused(); got != want {
		t.Errorf("it was refused with %d, expected %d", got, want)
	}
	if got := p.Replies(0); len(got) != 0 {
		t.Errorf("the producer got %q", got)
	}
}

func cut(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	frame := s.Frame(s.Reply("half"))
	s.Write(frame[:len(frame)/2])
	s.Cut()
	p.Streams(0)
	if got := p.Replies(0); len(got) != 0 {
		t.Errorf("half a message has arrived: %q", got)
	}
}

func resumed(t *testing.T, over Transport) {
	t.Helper()
	p, s := connect(t, over)
	p.Emit("first")
	p.Emit("second")
	s.Next()
	s.Next()
	point := s.Point()
	s.Cut()
	p.Streams(0)
	missed := [][]byte{p.Emit("third"), p.Emit("fourth")}
	again := over.Dial(t, point)
	p.Streams(1)
	for _, want := range append(missed, p.Emit("fifth")) {
		if got := again.Next(); !bytes.Equal(got, want) {
			t.Fatalf("it went on with %.300q, expected %q", got, want)
		}
	}
}
