package web_test

import (
	"bufio"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/testkit/framing"
)

// patience bounds what a test waits for, and nothing that works.
const patience = time.Minute

// loopback is a scene that is served over TCP.
type loopback struct {
	*scene

	host string
}

func serveLoopback(t *testing.T) *loopback {
	t.Helper()
	s := newScene(t)
	s.room.begin("sess_1", "")
	server := httptest.NewUnstartedServer(s.server)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(s.server.Close) // first: it ends the streams
	return &loopback{scene: s, host: strings.TrimPrefix(server.URL, "http://")}
}

// await waits until a condition of the room holds.
func (h *room) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	late := time.After(patience)
	for {
		h.mu.Lock()
		done, changed := condition(), h.changed
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%s: it did not happen in time", what)
		}
	}
}

// producer returns the scene for the table of framings.
func (l *loopback) producer(t *testing.T) framing.Producer {
	return framing.Producer{
		Emit: func(text string) []byte {
			l.room.extended("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"}, map[string]any{"arguments": text}) // where AAEP sets no limit
			l.room.mu.Lock()
			defer l.room.mu.Unlock()
			return l.room.log[len(l.room.log)-1].raw
		},
		Replies: func(n int) []string {
			l.room.await(t, "a reply", func() bool { return len(l.room.replies) >= n })
			l.room.mu.Lock()
			defer l.room.mu.Unlock()
			return slices.Clone(l.room.replies)
		},
		Streams: func(n int) { l.room.await(t, "a stream", func() bool { return l.room.streaming == n }) },
	}
}

// dial opens a connection whose reads and writes end with the test's patience.
func (l *loopback) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.host)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func write(t *testing.T, to io.Writer, raw []byte) {
	t.Helper()
	if _, err := to.Write(raw); err != nil {
		t.Fatal(err)
	}
}

// replyOf is a confirmation with a member that may have any size. It has no escapes, so that its size is that of the text, and more.
func replyOf(subscription, text string) []byte {
	return fmt.Appendf(nil, `{"type":"confirmation.reply","reply_token":%q,"decision":"reject","subscription_id":%q,"timestamp":"2000-01-01T00:00:00.000Z","modified_action":{"text":"%s"}}`, tokenA, subscription, text)
}

// TestFraming: one table for the transports of HTTP (TR-GRPC-04, TR-GRPC-05, TR-01, TR-02, TR-03, TR-08, TR-12, TR-WS-03, TR-WS-05, TR-WS-08).
func TestFraming(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]func() framing.Transport{
		"server-sent events": func() framing.Transport {
			l := new(loopback)
			return framing.Transport{
				New:   func(t *testing.T) framing.Producer { *l = *serveLoopback(t); return l.producer(t) },
				Dial:  func(t *testing.T, after string) framing.Subscriber { return l.subscribeByEvents(t, after) },
				Limit: 64 << 10, TooBig: http.StatusBadRequest, NotUTF8: http.StatusBadRequest,
			}
		},
		"WebSocket": func() framing.Transport {
			l := new(loopback)
			return framing.Transport{
				New:   func(t *testing.T) framing.Producer { *l = *serveLoopback(t); return l.producer(t) },
				Dial:  func(t *testing.T, after string) framing.Subscriber { return l.subscribeBySocket(t, after) },
				Limit: 64 << 10, TooBig: 1009, NotUTF8: 1007,
			}
		},
		"gRPC": func() framing.Transport {
			l := new(loopback)
			return framing.Transport{
				New: func(t *testing.T) framing.Producer { *l = *serveLoopback(t); return l.producer(t) },
				Dial: func(t *testing.T, after string) framing.Subscriber {
					return l.subscribeByCall(t, `{"resume":{"after":"`+after+`"}}`)
				},
				Limit: 64 << 10, TooBig: int(codes.ResourceExhausted), NotUTF8: int(codes.InvalidArgument),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			framing.Run(t, over)
		})
	}
}

// byEvents is a subscriber with a stream and a connection for its replies.
type byEvents struct {
	*testing.T

	host, id       string
	stream, posted net.Conn
	events         *bufio.Reader
	answers        *bufio.Reader
	last           string
}

func (l *loopback) subscribeByEvents(t *testing.T, after string) *byEvents {
	t.Helper()
	s := &byEvents{T: t, host: l.host, stream: l.dial(t), posted: l.dial(t)}
	location := l.subscribe("ada")
	_, s.id, _ = strings.Cut(location, "subscription_id=")
	write(t, s.stream, fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer secret-ada\r\nLast-Event-ID: %s\r\n\r\n", location, l.host, after))
	answer, err := http.ReadResponse(bufio.NewReader(s.stream), nil) //nolint:bodyclose // it ends with the connection
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", answer, err)
	}
	s.events, s.answers = bufio.NewReader(answer.Body), bufio.NewReader(s.posted)
	return s
}

func (s *byEvents) head(rest string) string {
	return "POST /aaep/v1/replies HTTP/1.1\r\nHost: " + s.host + "\r\nAuthorization: Bearer secret-ada\r\nContent-Type: application/json\r\n" + rest + "\r\n\r\n"
}

func (s *byEvents) Reply(text string) []byte { return replyOf(s.id, text) }

func (s *byEvents) Frame(message []byte) []byte {
	return append([]byte(s.head(fmt.Sprintf("Content-Length: %d", len(message)))), message...)
}

func (s *byEvents) Fragments(message []byte) []byte {
	raw := []byte(s.head("Transfer-Encoding: chunked"))
	for part := range slices.Chunk(message, 7) {
		raw = fmt.Appendf(raw, "%x\r\n%s\r\n", len(part), part)
	}
	return append(raw, "0\r\n\r\n"...)
}

func (s *byEvents) Claim(size int) []byte {
	return append([]byte(s.head(fmt.Sprintf("Content-Length: %d", 1<<40))), strings.Repeat("x", size)...)
}

func (s *byEvents) Write(raw []byte) { s.Helper(); write(s.T, s.posted, raw) }

func (s *byEvents) Next() []byte {
	s.Helper()
	for {
		line, err := s.events.ReadString('\n')
		if err != nil {
			s.Fatal(err)
		}
		if id, is := strings.CutPrefix(line, "id: "); is {
			s.last = strings.TrimSpace(id)
		}
		if data, is := strings.CutPrefix(line, "data: "); is {
			return []byte(strings.TrimSuffix(data, "\n"))
		}
	}
}

func (s *byEvents) Point() string { return s.last }

func (s *byEvents) Refused() int {
	s.Helper()
	for {
		answer, err := http.ReadResponse(s.answers, nil)
		if err != nil {
			s.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode >= http.StatusBadRequest {
			return answer.StatusCode
		}
	}
}

func (s *byEvents) Cut() {
	for _, c := range []net.Conn{s.stream, s.posted} {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
}

// bySocket is a subscriber on a WebSocket, which it speaks by itself (RFC 6455).
type bySocket struct {
	*testing.T

	conn net.Conn
	from *bufio.Reader
	id   string // of the subscription
	last string // of the last event
}

// The opcodes of frames.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

// upgrade connects to the WebSocket, and returns the answer with what reads on.
func (l *loopback) upgrade(t *testing.T, headers ...string) (*http.Response, *bySocket) {
	t.Helper()
	return l.upgradeTo(t, "/aaep/v1/ws", l.host, headers...)
}

// upgradeTo asks for a WebSocket at a path, under a name of the server.
func (l *loopback) upgradeTo(t *testing.T, path, host string, headers ...string) (*http.Response, *bySocket) {
	t.Helper()
	s := &bySocket{T: t, conn: l.dial(t)}
	s.from = bufio.NewReader(s.conn)
	write(t, s.conn, fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: %s\r\n%s\r\n\r\n", path, host, handshakeKey, strings.Join(headers, "\r\n")))
	answer, err := http.ReadResponse(s.from, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer, s
}

const handshakeKey = "dGhlIHNhbXBsZSBub25jZQ=="

// accepts is the header with which a server shows that it has read the key.
func accepts() string {
	sum := sha1.Sum([]byte(handshakeKey + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// request is a subscription.request that can answer, with members of the capability earshot.
func socketRequest(ours string) string {
	return `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{"supports_confirmation_reply":true,"earshot":` + ours + `}}`
}

// open upgrades as somebody.
func (l *loopback) open(t *testing.T, as string) *bySocket {
	t.Helper()
	answer, s := l.upgrade(t, "Authorization: Bearer secret-"+as, "Sec-WebSocket-Protocol: aaep.v1") //nolint:bodyclose // the connection is the test's
	if answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Sec-WebSocket-Protocol") != "aaep.v1" || answer.Header.Get("Sec-WebSocket-Accept") != accepts() {
		t.Fatalf("%s %v", answer.Status, answer.Header)
	}
	return s
}

// subscribed opens and subscribes.
func (l *loopback) subscribed(t *testing.T, as, ours string) *bySocket {
	t.Helper()
	s := l.open(t, as)
	s.Write(s.Frame([]byte(socketRequest(ours))))
	accepted, err := aaep.DecodeSubscriptionAccepted(s.message())
	if err != nil {
		t.Fatal(err)
	}
	s.id = accepted.SubscriptionID
	return s
}

func (l *loopback) subscribeBySocket(t *testing.T, after string) *bySocket {
	t.Helper()
	return l.subscribed(t, "ada", `{"resume":{"after":"`+after+`"}}`)
}

// frameOf is one masked frame.
func frameOf(op byte, last bool, payload []byte) []byte {
	if last {
		op |= 0x80
	}
	return append(headOf(op, uint64(len(payload))), masked(payload)...)
}

// headOf is the head of a frame, with the mask that masked uses.
func headOf(op byte, size uint64) []byte {
	head := []byte{op}
	switch {
	case size < 126:
		head = append(head, 0x80|byte(size))
	case size <= 0xffff:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(size))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), size)
	}
	return append(head, mask[:]...)
}

var mask = func() (m [4]byte) { _, _ = rand.Read(m[:]); return m }()

func masked(payload []byte) []byte {
	out := slices.Clone(payload)
	for i := range out {
		out[i] ^= mask[i%len(mask)]
	}
	return out
}

func (s *bySocket) Reply(text string) []byte { return replyOf(s.id, text) }

func (s *bySocket) Frame(message []byte) []byte { return frameOf(opText, true, message) }

// Fragments cuts within characters, and has a ping behind each fragment.
func (s *bySocket) Fragments(message []byte) []byte {
	var raw []byte
	op := byte(opText)
	for part := range slices.Chunk(message, 7) {
		raw = append(raw, frameOf(op, false, part)...)
		raw = append(raw, frameOf(opPing, true, []byte("there?"))...)
		op = opContinuation
	}
	return append(raw, frameOf(op, true, nil)...)
}

func (s *bySocket) Claim(size int) []byte {
	return append(headOf(0x80|opText, 1<<40), masked([]byte(strings.Repeat("x", size)))...)
}

func (s *bySocket) Write(raw []byte) { s.Helper(); write(s.T, s.conn, raw) }

// read returns the next frame of the server, which neither masks nor cuts.
func (s *bySocket) read() (op byte, payload []byte) {
	s.Helper()
	var head [2]byte
	s.full(head[:])
	size := uint64(head[1])
	switch size {
	case 126:
		var long [2]byte
		s.full(long[:])
		size = uint64(binary.BigEndian.Uint16(long[:]))
	case 127:
		var long [8]byte
		s.full(long[:])
		size = binary.BigEndian.Uint64(long[:])
	}
	if head[0]&0xf0 != 0x80 || head[1]&0x80 != 0 || size > 16<<20 {
		s.Fatalf("found a frame that begins with % x", head)
	}
	payload = make([]byte, size)
	s.full(payload)
	return head[0] & 0xf, payload
}

func (s *bySocket) full(p []byte) {
	s.Helper()
	if _, err := io.ReadFull(s.from, p); err != nil {
		s.Fatal(err)
	}
}

// message returns the next message; pings and pongs are skipped.
func (s *bySocket) message() []byte {
	s.Helper()
	for {
		switch op, payload := s.read(); op {
		case opText:
			return payload
		case opPing, opPong:
		default:
			s.Fatalf("found a frame of kind %#x: % x", op, payload)
		}
	}
}

// Next skips the points after which the subscriber can go on.
func (s *bySocket) Next() []byte {
	s.Helper()
	for {
		raw := s.message()
		if id, is := aaep.Read(raw).Text("event_id"); is && pointOf(raw) == "" {
			s.last = id
			return raw
		}
	}
}

// Point waits for the point behind the last event.
func (s *bySocket) Point() string {
	s.Helper()
	for {
		if id := pointOf(s.message()); id == s.last {
			return id
		}
	}
}

func pointOf(raw []byte) string {
	message := aaep.Read(raw)
	if kind, _ := message.Text("type"); kind != "earshot:resume_point" {
		return ""
	}
	id, _ := message.Text("event_id")
	return id
}

// Refused returns the code of the close that comes next, whatever is before it, and answers it.
func (s *bySocket) Refused() int {
	s.Helper()
	code, _ := s.closed()
	return code
}

func (s *bySocket) closed() (code int, reason string) {
	s.Helper()
	for {
		op, payload := s.read()
		if op != opClose {
			continue
		}
		_, _ = s.conn.Write(frameOf(opClose, true, payload))
		if len(payload) < 2 {
			return 0, ""
		}
		return int(binary.BigEndian.Uint16(payload)), string(payload[2:])
	}
}

func (s *bySocket) Cut() {
	_ = s.conn.(*net.TCPConn).SetLinger(0)
	_ = s.conn.Close()
}
