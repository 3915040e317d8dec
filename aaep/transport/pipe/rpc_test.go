package pipe_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

const (
	subscribe = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1"}`
	granted   = `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"a","agent_name":"A","agent_version":"1"},"honored_capabilities":{}}`
)

// TestRPCEnvelopes: what is wrong with an envelope is answered with the error of JSON-RPC for it, a notification with nothing, and the
// connection goes on (TR-STDIO-03 to TR-STDIO-07).
func TestRPCEnvelopes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ sent, answer string }{
		"no JSON":                 {`{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		"a name twice":            {`{"jsonrpc":"2.0","id":1,"id":2,"method":"aaep.ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		"no JSON in an array":     {`[1,`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		"a batch":                 {`[1]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"found a batch, and batches are not taken; send one request in each line"}}`},
		"a batch of requests":     {`[{"jsonrpc":"2.0","id":1,"method":"aaep.ping"}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"an empty batch":          {`[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"a number":                {`1`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"another version":         {`{"jsonrpc":"1.0","id":1,"method":"aaep.ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		"an unknown method":       {`{"jsonrpc":"2.0","id":"x","method":"aaep.stop"}`, `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,`},
		"other params":            {`{"jsonrpc":"2.0","id":1,"method":"aaep.reply","params":` + subscribe + `}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`},
		"no params":               {`{"jsonrpc":"2.0","id":1,"method":"aaep.subscribe"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`},
		"a request without an id": {`{"jsonrpc":"2.0","method":"aaep.subscribe","params":` + subscribe + `}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"a ping":                  {`{"jsonrpc":"2.0","id":4,"method":"aaep.ping"}`, `{"jsonrpc":"2.0","id":4,"result":{}}`},
		"a notification":          {`{"jsonrpc":"2.0","method":"aaep.stop"}`, ""},
	} {
		mine, its := net.Pipe()
		r := pipe.NewRPC(its, 1<<10)
		received := make(chan string, 1)
		go func() {
			raw, err := r.Receive()
			if err != nil {
				received <- err.Error()
				return
			}
			received <- string(raw)
		}()
		from := bufio.NewReader(mine)
		_, _ = mine.Write([]byte(row.sent + "\n"))
		if row.answer != "" {
			if got, err := from.ReadString('\n'); err != nil || !strings.HasPrefix(got, row.answer) {
				t.Errorf("%s: answered with %q, %v", name, got, err)
			}
		}
		_, _ = mine.Write([]byte(`{"jsonrpc":"2.0","id":9,"method":"aaep.subscribe","params":` + subscribe + "}\n"))
		if got := <-received; got != subscribe {
			t.Errorf("%s: then it receives %s", name, got)
		}
		go func() { _ = r.Send([]byte(granted)) }()
		if got, err := from.ReadString('\n'); err != nil || got != `{"jsonrpc":"2.0","id":9,"result":`+granted+"}\n" {
			t.Errorf("%s: the terms are %q, %v", name, got, err)
		}
		go r.Close(transport.TooBig, "send less")
		if got, err := from.ReadString('\n'); err != nil || !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"aaep.close","params":{"type":"subscription.close","subscription_id":"sub_1","reason_code":"too_big"`) {
			t.Errorf("%s: the end is %q, %v", name, got, err)
		}
		_ = mine.Close()
	}
}

// TestFirstByte: a first byte that begins neither a size nor a line is refused (C-87).
func TestFirstByte(t *testing.T) {
	t.Parallel()
	mine, its := net.Pipe()
	go func() { _, _ = mine.Write([]byte("GET / HTTP/1.1\r\n")) }()
	_, err := pipe.New(its, pipe.Options{Limit: 1 << 10}).Receive()
	if e, is := errors.AsType[*transport.Error](err); !is || e.Code != transport.ProtocolError {
		t.Errorf("found %v", err)
	}
	_ = mine.Close()
}

// TestJoin: messages go both ways as they are, and the end of either side is told to the other.
func TestJoin(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]bool{"the subscriber leaves": true, "the producer ends it": false} {
		reader, left := net.Pipe()
		right, server := net.Pipe()
		lines := pipe.Options{Limit: 1 << 10, Framing: pipe.Lines}
		done := make(chan error, 1)
		go func() { done <- pipe.Join(context.Background(), pipe.New(left, lines), pipe.New(right, lines)) }()
		fromReader, fromServer := bufio.NewReader(server), bufio.NewReader(reader)
		_, _ = reader.Write([]byte(subscribe + "\n"))
		if got, err := fromReader.ReadString('\n'); err != nil || got != subscribe+"\n" {
			t.Errorf("%s: the server got %q, %v", name, got, err)
		}
		_, _ = server.Write([]byte(granted + "\n"))
		if got, err := fromServer.ReadString('\n'); err != nil || got != granted+"\n" {
			t.Errorf("%s: the reader got %q, %v", name, got, err)
		}
		ends, other := server, fromServer
		if leaves {
			ends, other = reader, fromReader
		}
		_ = ends.Close()
		for {
			if _, err := other.ReadString('\n'); err != nil {
				break
			}
		}
		if err := <-done; (err == nil) != leaves {
			t.Errorf("%s: it ended with %v", name, err)
		}
		_, _ = reader.Close(), server.Close()
	}
}

// input is a stream whose input ends, such as piped standard input.
type input struct {
	io.Reader
	io.WriteCloser
}

// TestJoinAnswers: at the end of its input, each request of a subscriber has its answer, in their order; one that the producer does not
// answer is waited for ten seconds.
func TestJoinAnswers(t *testing.T) {
	t.Parallel()
	const again = `{"type":"subscription.renegotiate","subscription_id":"sub_1","capabilities":{}}`
	lines := `{"jsonrpc":"2.0","id":1,"method":"aaep.subscribe","params":` + subscribe + "}\n" +
		`{"jsonrpc":"2.0","id":"two","method":"aaep.renegotiate","params":` + again + "}\n"
	for answers := range 3 {
		synctest.Test(t, func(t *testing.T) {
			reader, out := net.Pipe()
			right, server := net.Pipe()
			done := make(chan error, 1)
			began := time.Now()
			go func() {
				done <- pipe.Join(t.Context(), pipe.NewRPC(input{strings.NewReader(lines), out}, 1<<10), pipe.New(right, pipe.Options{Limit: 1 << 10, Framing: pipe.Lines}))
			}()
			var got []string
			read := make(chan struct{})
			go func() {
				defer close(read)
				for all := bufio.NewScanner(reader); all.Scan() && len(got) < answers; {
					got = append(got, all.Text())
				}
			}()
			from := bufio.NewReader(server)
			for range 2 {
				_, _ = from.ReadString('\n')
			}
			synctest.Wait()
			for range answers {
				_, _ = server.Write([]byte(granted + "\n"))
				synctest.Wait()
			}
			go func() { _, _ = io.Copy(io.Discard, from) }()
			if err := <-done; err != nil {
				t.Errorf("%d answers: %v", answers, err)
			}
			<-read
			want := []string{`{"jsonrpc":"2.0","id":1,"result":` + granted + "}", `{"jsonrpc":"2.0","id":"two","result":` + granted + "}"}
			if !slices.Equal(got, want[:answers]) {
				t.Errorf("%d answers: the subscriber got %q", answers, got)
			}
			if waited := time.Since(began); (waited == 0) != (answers == 2) || waited > 12*time.Second {
				t.Errorf("%d answers: it ended after %v", answers, waited)
			}
			_, _ = reader.Close(), server.Close()
		})
	}
}
