package server_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/server"
)

// dialSocket subscribes at a server's Unix socket, and returns the answer.
func dialSocket(t *testing.T, s *server.Server, before ...string) (*pipe.Conn, []byte) {
	t.Helper()
	conn, err := pipe.Dial(t.Context(), s.Socket(), pipe.Options{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Drop)
	var group [][]byte // in one write: the server may close after the first
	for _, message := range append(before, `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{"supports_confirmation_reply":true}}`) {
		group = append(group, []byte(message))
	}
	if err := conn.Send(group...); err != nil {
		t.Fatal(err)
	}
	answer, err := conn.Receive()
	if err != nil {
		t.Fatal(err)
	}
	return conn, answer
}

// TestUnixSocket: a program of the same account hears without a token and is granted no replies; one with a token that may answer is
// (TR-UDS-02, TR-UDS-04; call protocol, "Who may answer"). The manifest names the transport.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	folder := shortFolder(t)
	s := open(t, server.Options{Data: folder, HTTP: "127.0.0.1:0"})
	info, err := os.Lstat(s.Socket())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket is %v, %v", info, err)
	}
	for name, row := range map[string]struct {
		before []string
		grants bool
	}{
		"no token":      {nil, false},
		"the programs'": {[]string{fmt.Sprintf(`{"type":"earshot:authenticate","token":%q}`, s.Token())}, false},
		"the person's":  {[]string{fmt.Sprintf(`{"type":"earshot:authenticate","token":%q}`, s.PersonToken())}, true},
	} {
		_, answer := dialSocket(t, s, row.before...)
		accepted, err := aaep.DecodeSubscriptionAccepted(answer)
		if err != nil {
			t.Fatalf("%s: %s: %v", name, answer, err)
		}
		if got := accepted.HonoredCapabilities.SupportsConfirmationReply; got == nil || *got != row.grants {
			t.Errorf("%s: replies are granted: %v", name, !row.grants)
		}
	}
	if _, answer := dialSocket(t, s, `{"type":"earshot:authenticate","token":"wrong"}`); !strings.Contains(string(answer), "authentication_required") {
		t.Errorf("a wrong token gets %s", answer)
	}
	s.Close()
	if _, err := os.Lstat(filepath.Join(folder, "aaep.sock")); err == nil {
		t.Error("the socket is still there")
	}
}

// TestUnixSocketRecord: the recorder takes the address of a socket; the terms are its first message, and a wrong token ends it.
func TestUnixSocketRecord(t *testing.T) {
	t.Parallel()
	s := open(t, server.Options{Data: shortFolder(t), HTTP: "127.0.0.1:0"})
	for token, kind := range map[string]string{"": "subscription.accepted", s.Token(): "subscription.accepted", "wrong": "subscription.rejected"} {
		for m, err := range client.Record(t.Context(), client.RecordOptions{URL: "unix:" + s.Socket(), Token: token}) {
			if got, _ := aaep.Read(m.Raw).Text("type"); err != nil || got != kind {
				t.Errorf("with the token %.7q: found %s, %v, expected %s", token, m.Raw, err, kind)
			}
			break
		}
	}
	for _, err := range client.Record(t.Context(), client.RecordOptions{URL: "unix:" + s.Socket() + "x", ReconnectTimeout: 1}) {
		if !errors.Is(err, client.ErrUnreachable) {
			t.Errorf("where there is none: %v", err)
		}
	}
}

// TestUnixSocketPath: a socket that an ended process has left is replaced; one where somebody listens, and what is no socket, stays.
func TestUnixSocketPath(t *testing.T) {
	t.Parallel()
	folder := shortFolder(t)
	left := filepath.Join(folder, "left")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	s := open(t, server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", Socket: left})
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ path, message string }{
		"another server's": {left, "another program listens"}, "a file": {file, "is not a socket"}, "too long": {"/" + strings.Repeat("x", 200), "longer than"},
	} {
		if _, err := server.New(t.Context(), server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", Socket: row.path}); err == nil || !strings.Contains(err.Error(), row.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "mine" {
		t.Errorf("the file is %q, %v", raw, err)
	}
	dialSocket(t, s)
	if none := open(t, server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", Socket: server.NoSocket}); none.Socket() != "" {
		t.Errorf("with none there is %s", none.Socket())
	}
}

// shortFolder is a folder whose path leaves room for a socket's name.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "e") //nolint:usetesting // that of the test is too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// open opens a server that ends with the test.
func open(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	s, err := server.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
