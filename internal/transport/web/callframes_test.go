package web_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/testkit/aaepv1"
)

// The sizes of HTTP/2 that the test uses.
const (
	theStream  = 1
	frameSize  = 16 << 10
	roomToRead = 64 << 20
)

// byCall is a subscriber over gRPC, whose frames it writes and reads by itself (RFC 9113).
type byCall struct {
	*testing.T

	conn   net.Conn
	frames *http2.Framer
	body   bytes.Buffer      // what has come of the answer and is not read
	ends   map[string]string // what the trailers say
	id     string            // of the subscription
	last   string            // of the last event
}

// call begins a call of Subscribe, with headers.
func (l *loopback) call(t *testing.T, headers ...string) *byCall {
	t.Helper()
	s := &byCall{T: t, conn: l.dial(t)}
	s.frames = http2.NewFramer(s.conn, s.conn)
	s.frames.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
	s.Write([]byte(http2.ClientPreface))
	s.ok(s.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: roomToRead}))
	s.ok(s.frames.WriteWindowUpdate(0, roomToRead))
	var block bytes.Buffer
	to := hpack.NewEncoder(&block)
	headers = append([]string{
		":method", "POST", ":scheme", "http", ":authority", l.host, ":path", "/aaep.v1.AaepService/Subscribe", "content-type", "application/grpc", "te", "trailers",
	}, headers...)
	for field := range slices.Chunk(headers, 2) {
		s.ok(to.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	s.ok(s.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: theStream, BlockFragment: block.Bytes(), EndHeaders: true}))
	return s
}

func (l *loopback) subscribeByCall(t *testing.T, ours string) *byCall {
	t.Helper()
	s := l.call(t, "authorization", "Bearer secret-ada")
	s.Write(s.Frame([]byte(socketRequest(ours))))
	accepted, err := aaep.DecodeSubscriptionAccepted(s.message())
	if err != nil {
		t.Fatal(err)
	}
	s.id = accepted.SubscriptionID
	return s
}

func (s *byCall) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *byCall) Reply(text string) []byte { return replyOf(s.id, text) }

// packed is a message as gRPC carries it: its size, and a message of protocol buffers that knows nothing of UTF-8.
func packed(message []byte) []byte {
	raw, err := proto.Marshal(&aaepv1.AaepMessage{Json: message, MessageType: "ignored"})
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(raw))), raw...)
}

// data are frames with so many bytes each, with others behind each.
func data(raw []byte, size int, behind func(*http2.Framer)) []byte {
	var out bytes.Buffer
	to := http2.NewFramer(&out, nil)
	for part := range slices.Chunk(raw, size) {
		_ = to.WriteData(theStream, false, part)
		behind(to)
	}
	return out.Bytes()
}

func (s *byCall) Frame(message []byte) []byte {
	return data(packed(message), frameSize, func(*http2.Framer) {})
}

func (s *byCall) Fragments(message []byte) []byte {
	return data(packed(message), 7, func(to *http2.Framer) { _ = to.WritePing(false, [8]byte{1}) })
}

// Claim claims four gibibytes, which is the most that gRPC can say.
func (s *byCall) Claim(size int) []byte {
	return data(append([]byte{0, 0xff, 0xff, 0xff, 0xff}, strings.Repeat("x", size)...), frameSize, func(*http2.Framer) {})
}

func (s *byCall) Write(raw []byte) { s.Helper(); write(s.T, s.conn, raw) }

// more reads one frame. It returns false when the call has ended.
func (s *byCall) more() bool {
	s.Helper()
	read, err := s.frames.ReadFrame()
	s.ok(err)
	switch f := read.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			s.ok(s.frames.WriteSettingsAck())
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			s.ok(s.frames.WritePing(true, f.Data))
		}
	case *http2.DataFrame:
		s.body.Write(f.Data())
	case *http2.MetaHeadersFrame:
		s.ends = map[string]string{}
		for _, field := range f.Fields {
			s.ends[field.Name] = field.Value
		}
		return !f.StreamEnded()
	case *http2.RSTStreamFrame:
		s.Fatalf("the stream was reset: %v", f.ErrCode)
	}
	return true
}

func (s *byCall) message() []byte {
	s.Helper()
	for {
		if head := s.body.Bytes(); len(head) >= 5 && s.body.Len() >= 5+int(binary.BigEndian.Uint32(head[1:5])) {
			raw := s.body.Next(5 + int(binary.BigEndian.Uint32(head[1:5])))
			var m aaepv1.AaepMessage
			s.ok(proto.Unmarshal(raw[5:], &m))
			if kind, _ := aaep.Read(m.GetJson()).Text("type"); kind != m.GetMessageType() {
				s.Errorf("found the type %q beside %.100s", m.GetMessageType(), m.GetJson())
			}
			return m.GetJson()
		}
		if !s.more() {
			s.Fatalf("the call has ended: %v", s.ends)
		}
	}
}

func (s *byCall) Next() []byte {
	s.Helper()
	for {
		raw := s.message()
		if id, is := aaep.Read(raw).Text("event_id"); is && pointOf(raw) == "" {
			s.last = id
			return raw
		}
	}
}

func (s *byCall) Point() string {
	s.Helper()
	for {
		if id := pointOf(s.message()); id == s.last {
			return id
		}
	}
}

// Refused returns the status with which the call ends.
func (s *byCall) Refused() int {
	s.Helper()
	for s.more() {
	}
	status, err := strconv.Atoi(s.ends["grpc-status"])
	if err != nil {
		s.Fatalf("the call has ended with %v", s.ends)
	}
	return status
}

func (s *byCall) Cut() {
	_ = s.conn.(*net.TCPConn).SetLinger(0)
	_ = s.conn.Close()
}
