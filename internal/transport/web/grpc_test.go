package web_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/internal/testkit/aaepv1"
)

// client is a client of gRPC's own library.
func (l *loopback) client(t *testing.T) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient("passthrough:///"+l.host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// as is a context with a token.
func as(t *testing.T, who string) context.Context {
	t.Helper()
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer secret-"+who)
}

type subscribing = grpc.BidiStreamingClient[aaepv1.AaepMessage, aaepv1.AaepMessage]

// subscribed begins a call and subscribes.
func subscribedBy(t *testing.T, c *grpc.ClientConn, who string) (subscribing, string) {
	t.Helper()
	call, err := aaepv1.NewAaepServiceClient(c).Subscribe(as(t, who))
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Send(&aaepv1.AaepMessage{Json: []byte(socketRequest(`{}`)), MessageType: "subscription.request"}); err != nil {
		t.Fatal(err)
	}
	m, err := call.Recv()
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := aaep.DecodeSubscriptionAccepted(m.GetJson())
	if err != nil || m.GetMessageType() != "subscription.accepted" {
		t.Fatalf("%v, %v", m, err)
	}
	return call, accepted.SubscriptionID
}

// TestCallByLibrary: a client that gRPC's own tools have generated from aaep.proto hears, answers and leaves (TR-GRPC-01, TR-GRPC-02,
// TR-GRPC-04, TR-GRPC-05).
func TestCallByLibrary(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	call, id := subscribedBy(t, l.client(t), "ada")
	l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
	event := l.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
	m, err := call.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := aaep.Read(m.GetJson()).Text("event_id"); got != event {
		t.Errorf("heard %v", m)
	}
	for _, message := range []string{string(replyOf(id, "gladly")), `{"type":"subscription.close","subscription_id":"` + id + `"}`} {
		if err := call.Send(&aaepv1.AaepMessage{Json: []byte(message)}); err != nil {
			t.Fatal(err)
		}
	}
	l.room.await(t, "a reply", func() bool { return len(l.room.replies) == 1 })
	if m, err = call.Recv(); err != nil || m.GetMessageType() != "subscription.close" {
		t.Errorf("the end is %v, %v", m, err)
	}
	if _, err = call.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the call ends with %v", err)
	}
	l.room.await(t, "the end", func() bool { return l.room.streaming == 0 })
}

// TestCallHalfClosed: who says that it sends nothing more, as grpcurl does, still hears.
func TestCallHalfClosed(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	call, _ := subscribedBy(t, l.client(t), "ada")
	if err := call.CloseSend(); err != nil {
		t.Fatal(err)
	}
	l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
	for range 3 {
		id := l.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
		if m, err := call.Recv(); err != nil || !bytes.Contains(m.GetJson(), []byte(id)) {
			t.Fatalf("%v, %v", m, err)
		}
	}
}

// TestCallDescribed: anybody learns the manifest and what is served; the description is that of aaep.proto (TR-GRPC-03).
func TestCallDescribed(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	c := l.client(t)
	manifest, err := aaepv1.NewAaepServiceClient(c).GetManifest(t.Context(), &aaepv1.GetManifestRequest{})
	if err != nil {
		t.Fatal(err)
	}
	over, err := http.Get("http://" + l.host + "/.well-known/aaep-manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = over.Body.Close() }()
	if want, err := io.ReadAll(over.Body); err != nil || !bytes.Equal(bytes.TrimSpace(want), bytes.TrimSpace(manifest.GetJson())) {
		t.Errorf("found %s, expected %s, %v", manifest.GetJson(), want, err)
	}
	asked, err := grpc_reflection_v1.NewServerReflectionClient(c).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(q *grpc_reflection_v1.ServerReflectionRequest) *grpc_reflection_v1.ServerReflectionResponse {
		t.Helper()
		if err := asked.Send(q); err != nil {
			t.Fatal(err)
		}
		a, err := asked.Recv()
		if err != nil || !proto.Equal(a.GetOriginalRequest(), q) {
			t.Fatalf("%v, %v", a, err)
		}
		return a
	}
	services := ask(&grpc_reflection_v1.ServerReflectionRequest{Host: "h", MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{ListServices: "*"}})
	if all := services.GetListServicesResponse().GetService(); len(all) != 1 || all[0].GetName() != "aaep.v1.AaepService" {
		t.Errorf("the services are %v", all)
	}
	want := protodesc.ToFileDescriptorProto(aaepv1.File_aaep_proto)
	for _, q := range []*grpc_reflection_v1.ServerReflectionRequest{
		{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "aaep.v1.AaepService"}},
		{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileByFilename{FileByFilename: "aaep.proto"}},
	} {
		files := ask(q).GetFileDescriptorResponse().GetFileDescriptorProto()
		if len(files) != 1 {
			t.Fatalf("found %d files", len(files))
		}
		var got descriptorpb.FileDescriptorProto
		if err := proto.Unmarshal(files[0], &got); err != nil || !proto.Equal(&got, want) {
			t.Errorf("found %v, expected %v, %v", &got, want, err)
		}
	}
	missing := ask(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "x.Y"}})
	if got := missing.GetErrorResponse().GetErrorCode(); got != int32(codes.NotFound) {
		t.Errorf("what is missing gets %v", missing)
	}
	older, err := grpc_reflection_v1alpha.NewServerReflectionClient(c).ServerReflectionInfo(t.Context()) // older tools ask so
	if err != nil {
		t.Fatal(err)
	}
	if err := older.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := older.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("a client that asks nothing gets %v", err)
	}
}

// TestCallNoToken: who shows no token, a wrong one or one that may not hear gets no call, and a cookie counts for nothing (TR-10, TR-GRPC-06,
// SEC-01).
func TestCallNoToken(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	for name, row := range map[string]struct {
		header []string
		want   codes.Code
	}{
		"nobody":         {nil, codes.Unauthenticated},
		"a cookie":       {[]string{"cookie", "earshot_page=cookie-of-ada"}, codes.Unauthenticated},
		"a wrong token":  {[]string{"authorization", "Bearer secret-nobody"}, codes.Unauthenticated},
		"another scheme": {[]string{"authorization", "Basic YTpi"}, codes.Unauthenticated},
		"an agent":       {[]string{"authorization", "Bearer secret-bot"}, codes.PermissionDenied},
	} {
		call, err := aaepv1.NewAaepServiceClient(l.client(t)).Subscribe(metadata.AppendToOutgoingContext(t.Context(), row.header...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = call.Recv(); status.Code(err) != row.want {
			t.Errorf("%s: %v, expected %v", name, err, row.want)
		}
	}
	if len(l.room.subs) != 0 {
		t.Errorf("%d subscriptions were made", len(l.room.subs))
	}
}

// TestCallForeign: a call that a page of another site makes, or under another name, and one that is none, get nothing.
func TestCallForeign(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	for name, headers := range map[string][]string{
		"another site": {"authorization", "Bearer secret-ada", "origin", "https://evil.example"},
		"said to be":   {"authorization", "Bearer secret-ada", "sec-fetch-site", "cross-site"},
	} {
		s := l.call(t, headers...)
		for s.ends == nil {
			s.more()
		}
		if s.ends[":status"] != "403" {
			t.Errorf("%s: %v", name, s.ends)
		}
	}
	answer, err := http.Post("http://"+l.host+"/aaep.v1.AaepService/Subscribe", "application/grpc", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("over HTTP/1.1 it gets %s", answer.Status)
	}
}

// TestCallListens: who may not answer does not, and hears why the call ends.
func TestCallListens(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	call, id := subscribedBy(t, l.client(t), "lis")
	if err := call.Send(&aaepv1.AaepMessage{Json: replyOf(id, "")}); err != nil {
		t.Fatal(err)
	}
	ends(t, call, codes.PermissionDenied, transport.NotAllowed)
	if len(l.room.replies) > 0 {
		t.Errorf("the hub got %q", l.room.replies)
	}
}

// ends checks how a call ends: the last message, and the status behind it.
func ends(t *testing.T, call subscribing, want codes.Code, code transport.Code) {
	t.Helper()
	var last []byte
	for {
		m, err := call.Recv()
		if err == nil {
			last = m.GetJson()
			continue
		}
		if status.Code(err) != want {
			t.Errorf("the call ends with %v, expected %v", err, want)
		}
		if end, is := transport.Closed(last); !is || end.Code != code {
			t.Errorf("the last message is %s, expected the code %d", last, code)
		}
		return
	}
}

// TestCallCrowd: calls count as streams do, for each principal.
func TestCallCrowd(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	c := l.client(t)
	for range 32 {
		subscribedBy(t, c, "ada")
	}
	call, err := aaepv1.NewAaepServiceClient(c).Subscribe(as(t, "ada"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one too many gets %v", err)
	}
}

// TestCallRevoked: who loses the token, or a role, loses the call at once and learns why, and answers nothing more.
func TestCallRevoked(t *testing.T) {
	t.Parallel()
	for code, change := range map[transport.Code]func(d *doors){
		transport.NotAuthenticated: func(d *doors) { delete(d.who, "ada") },
		transport.NotAllowed:       func(d *doors) { p := d.who["ada"]; p.Roles = p.Roles[:1]; d.who["ada"] = p },
	} {
		for name, notice := range map[string]func(l *loopback, call subscribing, id string){
			"told": func(l *loopback, _ subscribing, _ string) { l.doors.ring() },
			"replies": func(_ *loopback, call subscribing, id string) {
				_ = call.Send(&aaepv1.AaepMessage{Json: replyOf(id, "")})
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := serveLoopback(t)
				call, id := subscribedBy(t, l.client(t), "ada")
				l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
				l.doors.mu.Lock()
				change(l.doors)
				l.doors.mu.Unlock()
				notice(l, call, id)
				ends(t, call, map[transport.Code]codes.Code{transport.NotAuthenticated: codes.Unauthenticated, transport.NotAllowed: codes.PermissionDenied}[code], code)
				if got := slices.Clone(l.room.replies); len(got) > 0 {
					t.Errorf("%d replies were taken", len(got))
				}
			})
		}
	}
}

// TestCallShutdown: a server that closes says so, and waits for the call.
func TestCallShutdown(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	call, _ := subscribedBy(t, l.client(t), "ada")
	l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
	done := make(chan struct{})
	go func() { defer close(done); l.server.Close() }()
	ends(t, call, codes.Unavailable, transport.GoingAway)
	<-done
}

// TestCallCompressed: a message that is compressed is refused: gRPC's own library compresses only when it is told to.
func TestCallCompressed(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	s := l.subscribeByCall(t, `{}`)
	raw := packed(s.Reply("packed"))
	raw[0] = 1
	s.Write(data(raw, frameSize, func(*http2.Framer) {}))
	if got := s.Refused(); got != int(codes.InvalidArgument) {
		t.Errorf("refused with %d", got)
	}
}
