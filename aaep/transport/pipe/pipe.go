// Package pipe carries the messages of AAEP on a stream of bytes of this machine: a Unix socket (TR-UDS-01 to TR-UDS-05), a named pipe of
// Windows (TR-NP-01 to TR-NP-06), or the standard input and output of a program ([RPC]). It knows frames, for both ends; the server, the client and the judge know messages.
//
// A message that is larger than the limit or is not UTF-8 is refused with a [*transport.Error] that has the code for it. No memory is
// allocated for the size that a frame claims, only for what has arrived, up to the limit.
package pipe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

const (
	// writeTimeout is how long messages that are sent together may take before the connection is dropped.
	writeTimeout = 30 * time.Second
	// closeTimeout is how long the peer may take to read why the connection ends.
	closeTimeout = time.Second
	// answerTimeout is how long the requests of a subscriber that has left are waited for.
	answerTimeout = 10 * time.Second
	// lengthSize is how many bytes the size of a message takes.
	lengthSize = 4
)

// Framing is how messages are told apart. A connection keeps to one (TR-UDS-03).
type Framing int

const (
	// Detect takes the framing of the peer's first byte: 0x00 is a length, { is a line (C-87).
	Detect Framing = iota
	// Length is 4 bytes with the size, big-endian, before each message.
	Length
	// Lines is one message in a line, which ends with a line feed.
	Lines
)

// Options configure a connection. Limit is required.
type Options struct {
	// Limit is the largest message that is received, in bytes.
	Limit   int
	Framing Framing
	// Verbatim takes what is not UTF-8 too: for a recorder, which judges nothing.
	Verbatim bool
}

// Conn is one connection, a [transport.Conn]. It has no close codes on the wire: a subscription.close stands for them.
type Conn struct {
	stream  io.ReadWriteCloser
	from    *bufio.Reader
	o       Options
	dialled bool                // the peer is the producer
	wrap    func([]byte) []byte // puts a message into its envelope

	writing sync.Mutex // held while something is written, and taken before mu
	broken  bool       // guarded by writing

	mu           sync.Mutex // never held while something is read or written
	framing      Framing
	subscription string // once it has begun
}

// New returns the connection of a producer on a stream.
func New(stream io.ReadWriteCloser, o Options) *Conn {
	return &Conn{stream: stream, from: bufio.NewReader(stream), o: o, framing: o.Framing, wrap: func(m []byte) []byte { return m }}
}

// Dial connects a subscriber to the Unix socket, or on Windows the named pipe, at a path. [Detect] is [Length] here.
func Dial(ctx context.Context, path string, o Options) (*Conn, error) {
	stream, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	if o.Framing == Detect {
		o.Framing = Length
	}
	c := New(stream, o)
	c.dialled = true
	return c, nil
}

func open(ctx context.Context, path string) (net.Conn, error) {
	if IsNamed(path) {
		return dialNamed(ctx, path)
	}
	return new(net.Dialer).DialContext(ctx, "unix", path) //nolint:wrapcheck // the callers of Dial say what cannot be reached
}

// Receive implements [transport.Conn].
func (c *Conn) Receive() ([]byte, error) {
	framing, err := c.detect()
	if err != nil {
		return nil, err
	}
	read := c.line
	if framing == Length {
		read = c.sized
	}
	raw, err := read()
	if err != nil {
		return nil, err
	}
	if !c.o.Verbatim && !utf8.Valid(raw) {
		return nil, &transport.Error{Code: transport.NotUTF8, Reason: "found a message that is not UTF-8"}
	}
	if c.dialled {
		if end, is := transport.Closed(raw); is {
			return nil, end
		}
		c.note(raw)
	}
	return raw, nil
}

// detect returns the framing; it waits for the first byte if nothing else says it.
func (c *Conn) detect() (Framing, error) {
	known, _ := c.agreed()
	if known != Detect {
		return known, nil
	}
	first, err := c.from.Peek(1)
	if err != nil {
		return Detect, broken(err)
	}
	switch first[0] {
	case 0:
		known = Length
	case '{':
		known = Lines
	default:
		return Detect, &transport.Error{
			Code: transport.ProtocolError, Reason: fmt.Sprintf("found the first byte %#x, expected 4 bytes with the size of a message or a line with one", first[0]),
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing = known
	return known, nil
}

// sized reads a message behind its size.
func (c *Conn) sized() ([]byte, error) {
	var head [lengthSize]byte
	if _, err := io.ReadFull(c.from, head[:]); err != nil {
		return nil, broken(err)
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > int64(c.o.Limit) {
		return nil, tooBig(c.o.Limit)
	}
	raw, err := io.ReadAll(io.LimitReader(c.from, size))
	if err == nil && int64(len(raw)) < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, broken(err)
	}
	return raw, nil
}

// line reads a message that ends with a line feed. Empty lines are none. It takes what has come, so that a line without end is refused as
// soon as it is too long.
func (c *Conn) line() ([]byte, error) {
	var raw []byte
	for {
		if _, err := c.from.Peek(1); err != nil {
			return nil, broken(err)
		}
		part, _ := c.from.Peek(c.from.Buffered())
		end := bytes.IndexByte(part, '\n')
		if end >= 0 {
			part = part[:end+1]
		}
		raw = append(raw, part...)
		_, _ = c.from.Discard(len(part)) // it is there
		switch text := bytes.TrimRight(raw, "\r\n"); {
		case len(text) > c.o.Limit:
			return nil, tooBig(c.o.Limit)
		case end < 0:
		case len(text) == 0:
			raw = nil
		default:
			return text, nil
		}
	}
}

func tooBig(limit int) error {
	return &transport.Error{Code: transport.TooBig, Reason: fmt.Sprintf("found a message larger than %d bytes, send less", limit)}
}

func broken(err error) error { return fmt.Errorf("%w: %w", transport.ErrBroken, err) }

// agreed is what is known of the connection so far.
func (c *Conn) agreed() (framing Framing, subscription string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.framing, c.subscription
}

// note remembers the subscription, which the message that ends it names.
func (c *Conn) note(raw []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subscription == "" {
		c.subscription = accepted(raw)
	}
}

func accepted(raw []byte) string {
	m, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		return ""
	}
	return m.SubscriptionID
}

// Send implements [transport.Conn].
func (c *Conn) Send(group ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if !c.dialled && len(group) > 0 {
		c.note(group[0])
	}
	wrapped := make([][]byte, len(group))
	for i, raw := range group {
		wrapped[i] = c.wrap(raw)
	}
	return c.write(wrapped...)
}

// write writes messages at once, in their envelopes. The caller holds writing.
func (c *Conn) write(group ...[]byte) error {
	if c.broken {
		return transport.ErrBroken
	}
	framing, _ := c.agreed()
	var buffer []byte
	for _, raw := range group {
		buffer = framing.frame(buffer, raw)
	}
	timer := time.AfterFunc(writeTimeout, c.Drop)
	defer timer.Stop()
	if _, err := c.stream.Write(buffer); err != nil {
		c.broken = true
		return broken(err)
	}
	return nil
}

// frame appends a message with its framing. Line breaks between the tokens of JSON have no meaning.
func (f Framing) frame(to, raw []byte) []byte {
	if f != Lines {
		return append(binary.BigEndian.AppendUint32(to, uint32(len(raw))), raw...)
	}
	if bytes.ContainsAny(raw, "\r\n") {
		raw = slices.DeleteFunc(bytes.Clone(raw), func(b byte) bool { return b == '\n' || b == '\r' })
	}
	return append(append(to, raw...), '\n')
}

// Ping implements [transport.Conn]: the system tells when a peer of this machine has gone.
func (*Conn) Ping() error { return nil }

// Close implements [transport.Conn]. What the peer sends meanwhile is dropped.
func (c *Conn) Close(code transport.Code, reason string) {
	timer := time.AfterFunc(closeTimeout, c.Drop)
	defer timer.Stop()
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, subscription := c.agreed(); subscription != "" {
		if raw, err := transport.Closing(subscription, code, reason); err == nil {
			_ = c.write(c.wrap(raw)) // a peer that has gone is not told
		}
	}
	c.broken = true
	c.Drop()
}

// Drop implements [transport.Conn].
func (c *Conn) Drop() { _ = c.stream.Close() }
