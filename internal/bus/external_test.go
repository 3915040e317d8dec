package bus_test

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/utp"
)

// foreigner is a third-party peer.
var foreigner = bus.Principal{Kind: bus.External, Name: "peer"}

// A command that a foreign peer sends comes to the kernel, whole and under the peer's name,
// and to nobody else; what comes back is the kernel's answer.
func TestForeignCommand(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Principals: []bus.Principal{foreigner, files}})
	type arrival struct {
		from bus.Principal
		op   string
		m    utp.Message
	}
	arrived := make(chan arrival, 8)
	must(t, kernel.Serve(t.Context(), func(_ context.Context, from bus.Principal, op string, request []byte) []byte {
		m, err := utp.DecodeMessage(request)
		if err != nil {
			t.Errorf("%q: %v", request, err)
		}
		arrived <- arrival{from, op, m}
		return []byte("answer " + string(m.Payload))
	}))
	heard := make(chan string, 8)
	_, err := client(t, server, files).Commands(t.Context(), func(_ context.Context, m bus.Message) { heard <- m.Subject })
	must(t, err)
	c := client(t, server, foreigner)
	for _, subject := range []string{
		filesCommand, "cg.v1r4.home.side.cmd.tool.victim.run", "cg.v1r4.home.side.cmd.sys.pmo.internal.fork_join", "cg.v1r4.home.side.cmd.sys.ui.action",
		"earshot.v1.home.kernel.report", "earshot.v1.home.kernel.ui_action",
	} {
		header := map[string][]string{"CG-Agent-Id": {"peer"}, "cg-turn-id": {"t", "u"}}
		answer, err := c.Send(t.Context(), bus.Message{Subject: subject, Header: header, Payload: []byte("\xff{")})
		if err != nil || string(answer) != "answer \xff{" {
			t.Fatalf("%s: %q, %v", subject, answer, err)
		}
		got := <-arrived
		want := arrival{foreigner, bus.OpCommand, utp.Message{Subject: subject, Header: header, Payload: []byte("\xff{")}}
		if op, asked := strings.CutPrefix(subject, "earshot.v1.home.kernel."); asked {
			want.op, want.m.Subject = op, ""
		}
		if strings.HasSuffix(subject, ".ui.action") {
			want.op = "ui_action"
		}
		if got.from != want.from || got.op != want.op || got.m.Subject != want.m.Subject || !bytes.Equal(got.m.Payload, want.m.Payload) {
			t.Errorf("arrived %+v, want %+v", got, want)
		}
		if len(got.m.Header) != 2 || !slices.Equal(got.m.Header["cg-turn-id"], []string{"t", "u"}) {
			t.Errorf("headers %v", got.m.Header)
		}
	}
	must(t, kernel.Publish(t.Context(), filesCommand, nil, nil))
	if <-heard; len(heard) > 0 {
		t.Error("the tool heard what the foreign peer had sent")
	}
}

// What a foreign peer may not send is refused here already.
func TestForeignSendsNothingElse(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Principals: []bus.Principal{foreigner, worker}})
	must(t, kernel.Serve(t.Context(), func(context.Context, bus.Principal, string, []byte) []byte { return nil }))
	c := client(t, server, foreigner)
	for _, subject := range []string{
		"", "cg.v1r4.other.public.cmd.tool.files.run", "cg.v1r4.home.public.cmd.tool.files.run.more", "cg.v1r4.home.public.cmd.tool.*.run",
		"cg.v1r4.home.public.cmd.sys.pmo.external.fork_join", "cg.v1r4.home.public.cmd.sys.judge.retry", "cg.v1r4.home.public.cmd.sys.ui.other",
		workerDoorbell, broadcast, "earshot.v1.home.kernel.command", "earshot.v1.home.kernel.start",
	} {
		_, err := c.Send(t.Context(), bus.Message{Subject: subject})
		wants(t, err, bus.ErrInvalid, false)
	}
	_, err := c.Send(t.Context(), bus.Message{Subject: filesCommand, Header: map[string][]string{"a b": {"c"}}})
	wants(t, err, bus.ErrInvalid, false)
	_, err = client(t, server, worker).Send(t.Context(), bus.Message{Subject: filesCommand})
	wants(t, err, bus.ErrNotAllowed, false)
	_, err = c.Request(t.Context(), "start", nil)
	wants(t, err, bus.ErrNotAllowed, false)
	_, err = c.Broadcasts(t.Context(), func(context.Context, bus.Message) {})
	wants(t, err, bus.ErrNotAllowed, false)
}

// An external peer hears its commands and its wakeups, and nobody has its name.
func TestForeignHears(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Principals: []bus.Principal{foreigner, {Kind: bus.Hub, Name: "peer"}}})
	c := client(t, server, foreigner)
	heard := make(chan string, 8)
	hear := func(_ context.Context, m bus.Message) { heard <- m.Subject }
	_, err := c.Commands(t.Context(), hear)
	must(t, err)
	_, err = c.SubscribeWakeups(t.Context(), hear)
	must(t, err)
	for _, subject := range []string{victimCommand, workerDoorbell, peerCommand} {
		must(t, kernel.Publish(t.Context(), subject, nil, nil))
	}
	if got := <-heard; got != peerCommand {
		t.Errorf("heard %s", got)
	}
	must(t, kernel.Publish(t.Context(), peerDoorbell, nil, nil))
	if got := <-heard; got != peerDoorbell {
		t.Errorf("heard %s", got)
	}
	for _, kind := range []bus.Kind{bus.Agent, bus.Tool} {
		_, err := bus.Start(t.Context(), bus.Options{Project: project, Principals: []bus.Principal{foreigner, {Kind: kind, Name: "peer"}}})
		wants(t, err, bus.ErrInvalid, false)
	}
}

// A flood of commands waits in its own lane: requests of others go past it.
func TestForeignFloodHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	const flood = 2000
	server, kernel := start(t, bus.Options{Principals: []bus.Principal{foreigner, worker}, Concurrency: 2, Backlog: 4})
	open, done := make(chan struct{}), make(chan struct{}, flood)
	must(t, kernel.Serve(t.Context(), func(_ context.Context, from bus.Principal, _ string, request []byte) []byte {
		if from == foreigner {
			<-open
			done <- struct{}{}
		}
		return request
	}))
	w := &world{server: server}
	nc := w.raw(t, w.credentials(t, foreigner).Request)
	for i := range flood {
		send(nc, filesCommand, "", strconv.Itoa(i))
	}
	must(t, nc.FlushTimeout(patience))
	c := client(t, server, worker)
	for range 20 {
		if answer, err := c.Request(t.Context(), "claim", []byte("now")); err != nil || string(answer) != "now" {
			t.Fatalf("%q, %v", answer, err)
		}
	}
	close(open)
	for range flood {
		<-done
	}
}
